import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standingFacts, type Fact } from '@bobbin/core';

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
  assert.deepEqual(
    standing([1, 'The limit is 500'], [2, 'The limit is 800'], [3, 'The limit is 500']),
    ['The limit is 500'],
  );
});

test('what was forbidden and is allowed later no longer stands, and the other way round', () => {
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

test('what only looks alike stands: lists, other things, one turn, lesser speakers', () => {
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

test('what takes the place of what is told', () => {
  const old: Fact = { kind: 'value', text: 'The port is 5432', by: 'user', turn: 1 };
  const now: Fact = { ...old, text: 'The port is 6543', turn: 2 };
  assert.deepEqual(standingFacts([old, now]), {
    facts: [now],
    superseded: [{ fact: old, by: now }],
  });
});
