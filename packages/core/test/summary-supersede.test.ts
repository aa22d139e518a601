import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standingFacts, type Fact } from '@bobbin/core/internal';
import { cpuMs } from '@bobbin/testing';
import { corrections } from '../src/extract/facts/supersede.ts';

type Said = readonly [turn: number, text: string, by?: Fact['by']];

function standing(...said: readonly Said[]): readonly string[] {
  const facts = said.map(([turn, text, by = 'user']): Fact => ({
    kind: 'constraint',
    text,
    by,
    turn,
  }));
  return standingFacts(facts).facts.map(({ text }) => text);
}

test('a later value for the same thing takes the place of the earlier one', () => {
  assert.deepEqual(standing([1, 'The budget is 500 USD.'], [4, 'The budget is 800 USD.']), [
    'The budget is 800 USD.',
  ]);
  assert.deepEqual(standing([1, 'Use Node version 20'], [4, 'Now use Node version 22.']), [
    'Now use Node version 22.',
  ]);
  assert.deepEqual(standing([1, 'Use Node 20.'], [4, 'Please use Node 22.']), [
    'Please use Node 22.',
  ]);
  assert.deepEqual(standing([1, 'Use at most 500 MB.'], [4, 'Use at most 800 MB.']), [
    'Use at most 800 MB.',
  ]);
  assert.deepEqual(
    standing([1, 'The limit is 500'], [2, 'The limit is 800'], [3, 'The limit is 500']),
    ['The limit is 500'],
  );
});

test('what was forbidden and is allowed later no longer holds, and vice versa', () => {
  assert.deepEqual(standing([1, 'Never push to main.'], [6, 'You may push to main now.']), [
    'You may push to main now.',
  ]);
  assert.deepEqual(standing([1, 'Use the cache'], [2, "Don't use the cache"]), [
    "Don't use the cache",
  ]);
});

test('a statement is taken back in words that name all of it', () => {
  assert.deepEqual(standing([1, 'Use npm'], [3, 'Use pnpm instead of npm']), [
    'Use pnpm instead of npm',
  ]);
  assert.deepEqual(
    standing([1, 'Always run the linter'], [3, 'You no longer have to run the linter']),
    ['You no longer have to run the linter'],
  );
});

test('a value that is corrected by name no longer holds', () => {
  assert.deepEqual(
    standing([1, 'The port must stay 7443.'], [4, 'Sorry, the port must be 7444, not 7443.']),
    ['Sorry, the port must be 7444, not 7443.'],
  );
});

test('a rule that is said again is kept once, with any words before it', () => {
  assert.deepEqual(
    standing(
      [1, 'Never push to main.'],
      [3, 'Yes, but please never push to main!'],
      [5, 'And again: never push to main, please'],
      [6, 'Never push to main.'],
    ),
    ['Never push to main.'],
  );
});

function fact(turn: number, text: string): Fact {
  return { kind: 'constraint', text, by: 'user', turn };
}

test('what corrects some rules: what takes them back, gives another value, or names what no longer holds', () => {
  const rule = fact(
    1,
    'Rules: always run the linter, use MySQL, and the listen port must stay 7443.',
  );
  const later = [
    fact(2, 'The port must be 7445.'),
    fact(3, 'The port must be 7444.'),
    fact(4, 'Use Postgres, not MySQL.'),
    fact(5, 'The limit must be 7443.'),
    fact(6, 'Never push to main.'),
  ];
  assert.deepEqual(corrections([rule], later), later.slice(1, 3));
  assert.deepEqual(
    corrections([fact(1, 'Never push to main.')], [fact(2, 'You may push to main.')]),
    [fact(2, 'You may push to main.')],
  );
  assert.deepEqual(corrections([fact(9, 'The port must stay 7443.')], later), []);
});

test('what only looks alike is kept: lists, other things, one turn, lesser speakers', () => {
  const apart: readonly (readonly Said[])[] = [
    [
      [1, 'Never delete file 1.txt'],
      [2, 'Never delete file 2.txt'],
    ],
    [
      [1, 'Step 1 must pass'],
      [2, 'Step 2 must pass'],
    ],
    [
      [1, 'The limit is 500'],
      [1, 'The limit is 800'],
    ],
    [
      [1, 'The budget is 500 USD.', 'user'],
      [2, 'The budget is 800 USD.', 'tool'],
    ],
    [
      [1, 'Never push to main.'],
      [2, 'Never push to production.'],
    ],
    [
      [1, 'Always run the linter'],
      [2, 'The linter must run'],
    ],
    [
      [1, 'You must use `pnpm`.'],
      [2, 'You must use `zod`.'],
    ],
    [
      [1, 'Only use "uv".'],
      [2, 'Only use "ruff".'],
    ],
    [
      [1, 'Use Node 20.'],
      [2, 'Use Python 3.9.'],
    ],
    [
      [1, 'Use at most 500 MB.'],
      [2, 'Use at most 10 s.'],
    ],
    [
      [1, 'The read timeout is 5 s'],
      [2, 'The write timeout is 9 s'],
    ],
  ];
  for (const said of apart)
    assert.deepEqual(
      standing(...said),
      said.map(([, text]) => text),
    );
});

test('a superseded fact is reported with its replacement', () => {
  const old: Fact = { kind: 'value', text: 'The port is 5432', by: 'user', turn: 1 };
  const now: Fact = { ...old, text: 'The port is 6543', turn: 2 };
  assert.deepEqual(standingFacts([old, now]), {
    facts: [now],
    superseded: [{ fact: old, by: now }],
  });
});

function many(count: number, by: Fact['by'] = 'user'): readonly Fact[] {
  return Array.from({ length: count }, (_, i): Fact => ({
    kind: 'constraint',
    text: [
      `Never touch the folder part_${i} of the repository.`,
      `The limit of queue_${i} is ${i} entries.`,
      `Use tool_${i} instead of script_${i}.`,
    ][i % 3] as string,
    by,
    turn: i,
  }));
}

function time(count: number): number {
  const facts = many(count);
  return cpuMs(() => assert.deepEqual(standingFacts(facts).superseded, []));
}

test('C23 the work grows with the facts, not with their square', () => {
  time(500);
  const [small, large] = [time(500), time(5_000)];
  assert.ok(large < 40 * Math.max(1, small), `500: ${small} ms, 5 000: ${large} ms`);
});

test('C23 what is carried has an end: hearsay, then preferences, then the oldest constraints go first', () => {
  const tool: Fact = { kind: 'value', text: 'The page says 7', by: 'tool', turn: 900 };
  const preference: Fact = { kind: 'preference', text: 'Prefer tabs', by: 'user', turn: 900 };
  const { facts } = standingFacts([tool, preference, ...many(600)]);
  assert.deepEqual(facts, many(600).slice(100));
});

test('rules are not lost to values that were replaced', () => {
  const rules = Array.from({ length: 300 }, (_, i) => ({
    kind: 'constraint' as const,
    text: `Never touch the folder vault_${i}.`,
    by: 'user' as const,
    turn: 1,
  }));
  const values = Array.from({ length: 260 }, (_, i) => ({
    kind: 'constraint' as const,
    text: `Retry the upload after ${i + 1} seconds at the latest.`,
    by: 'user' as const,
    turn: i + 2,
  }));
  const { facts, superseded } = standingFacts([...rules, ...values]);
  assert.deepEqual([facts.length, superseded.length], [301, 259]);
});
