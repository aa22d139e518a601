import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { budget, contextSize, currentSummary, firedBecause, pi } from '@bobbin/core/internal';
import { scriptedSummarizer, WatchedThread, withMeta } from '@bobbin/testing';
import { counter, expectRows, now, opened, shown, talk, wide, type Row } from './notation.ts';

/** What each answer reported (input, output, cache read, cache write), and how it ended. */
type Report = readonly [
  tokens: readonly [number, number, number, number],
  status?: 'aborted' | 'error',
];

const SIZES: readonly (readonly [
  name: string,
  thread: string,
  reports: readonly Report[],
  tokens: number,
])[] = [
  ['all four figures', 'u1 a1', [[[1_000, 500, 200, 100]]], 1_800],
  ['nothing reported', 'u1 a1', [], 200],
  ['zero is nothing', 'u1 a1', [[[0, 0, 0, 0]]], 200],
  ['the last report counts', 'u1 a1 u2 a2', [[[100, 50, 0, 0]], [[200, 100, 0, 0]]], 300],
  [
    'an aborted answer does not',
    'u1 a1 u2 a2',
    [[[100, 50, 0, 0]], [[900, 90, 0, 0], 'aborted']],
    350,
  ],
  ['a failed answer does not', 'u1 a1 u2 a2', [[[100, 50, 0, 0]], [[900, 90, 0, 0], 'error']], 350],
  ['what follows is estimated', 'u1 a1 u2', [[[1_000, 0, 0, 0]]], 1_100],
  ['results that follow too', 'u1 a1 c1 t1 t2', [[[1_000, 0, 0, 0]]], 1_200],
  ['only aborted answers', 'u1 a1', [[[900, 90, 0, 0], 'aborted']], 200],
  ['no answer yet', 'u1', [], 100],
  ['an empty session', '', [], 0],
];

function reporting(thread: string, reports: readonly Report[]): readonly Message[] {
  const left = [...reports];
  return talk(thread.replace(' t2', '')).map((message, i) => {
    const [tokens, status] = (thread.split(' ')[i]?.startsWith('a') && left.shift()) || [];
    if (tokens === undefined) return message;
    const [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens] = tokens;
    const usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
    return withMeta(message, { usage, ...(status === undefined ? {} : { status }) });
  });
}

test('B4 cases of the size of a context', () => {
  assert.deepEqual(
    SIZES.map(([name, thread, reports]) => [
      name,
      contextSize(reporting(thread, reports), counter).tokens,
    ]),
    SIZES.map(([name, , , tokens]) => [name, tokens]),
  );
});

const FIRES: readonly (readonly [
  contextTokens: number,
  windowTokens: number,
  reserve: number,
  fires: boolean,
])[] = [
  [95_000, 100_000, 10_000, true],
  [89_000, 100_000, 10_000, false],
  [90_000, 100_000, 10_000, false],
  [90_001, 100_000, 10_000, true],
  [183_616, 200_000, 16_384, false],
  [183_617, 200_000, 16_384, true],
  [100_001, 100_000, 0, true],
  [100_000, 100_000, 0, false],
  // A reserve made for a larger window is half of this one.
  [130_000, 200_000, 120_000, true],
  [100_000, 200_000, 120_000, false],
];

test('B5 cases of the threshold', () => {
  const found = FIRES.map(([contextTokens, windowTokens, reserveTokens]) => {
    const check = {
      tokens: 0,
      contextTokens,
      messages: 9,
      turns: 3,
      budget: budget({ windowTokens }),
    };
    return firedBecause(pi({ reserveTokens }).trigger, check) !== undefined;
  });
  assert.deepEqual(
    found,
    FIRES.map(([, , , fires]) => fires),
  );
});

const CUTS: readonly Row<number>[] = [
  ['the newest turn', 'u1 a1 u2 a2', 200, 'Su u2 a2'],
  ['less than a turn keeps the turn', 'u1 a1 u2 a2', 100, 'Su u2 a2'],
  ['a limit inside a turn cuts after it', 'u1 a1 u2 a2', 250, 'Su u2 a2'],
  ['all of it is kept', 'u1 a1 u2 a2', 400, 'u1 a1 u2 a2'],
  ['more than all of it', 'u1 a1 u2 a2', 500, 'u1 a1 u2 a2'],
  ['a question that waits', 'u1 a1 u2 a2 u3', 100, 'Su u3'],
  ['a turn with a call', 'u1 c1 t1 a1 u2 c2 t2 a2', 400, 'Su u2 c2 t2 a2'],
  ['results count', 'u1 a1 u2 c2 t2:1000 a2', 900, 'Su u2 c2 t2 a2'],
  ['parallel results stay together', 'u1 a1 u2 p2 t2 t3 a2', 150, 'Su u2 p2 t2 t3 a2'],
  [
    'the session of the seed',
    'u1 p1 t1 t2 a1 u2 a2 u3 c3 t3 c4 t4 a3 u4 c5 t5 a4',
    400,
    'Su u4 c5 t5 a4',
  ],
  ['one turn is not cut', 'u1 c1 t1 c2 t2 a1', 200, 'u1 c1 t1 c2 t2 a1'],
  ['the system message stays', 's0 u1 a1 u2 a2', 200, 's0 Su u2 a2'],
  ['two turns', 'u1 a1 u2 a2 u3 a3', 400, 'Su u2 a2 u3 a3'],
];

const SPLITS: readonly Row<number>[] = [
  ['at a turn', 'u1 a1 u2 a2', 200, 'Su u2 a2'],
  ['at an answer', 'u1 a1 u2 c2 t2 a2', 100, 'Su u2 a2'],
  ['at a call', 'u1 a1 u2 c2 t2 c3 t3 a2', 300, 'Su u2 c3 t3 a2'],
  ['never at a result', 'u1 a1 u2 c2 t2 c3 t3 a2', 200, 'Su u2 a2'],
  ['a single turn', 'u1 c1 t1 c2 t2 a1', 300, 'u1 Su c2 t2 a1'],
  ['not between parallel results', 'u1 p1 t1 t2 a1 u2 a2', 400, 'Su a1 u2 a2'],
  ['all of it is kept', 'u1 c1 t1 a1', 400, 'u1 c1 t1 a1'],
];

test('B6 B24 cases of the cut between turns', () =>
  expectRows(CUTS, (keepRecentTokens) => now(pi({ keepRecentTokens }))));

test('B6 E8 cases of the cut inside turns', () =>
  expectRows(SPLITS, (keepRecentTokens) => now(pi({ keepRecentTokens, splitTurns: true }))));

/** Compactions one after another: what came before each, and the prompt after it. */
const ROUNDS: readonly (readonly [name: string, steps: readonly (readonly [string, string])[]])[] =
  [
    [
      'later messages are appended',
      [
        ['u1 a1 u2 a2 u3 a3', 'Su u3 a3'],
        ['u4', 'Su u3 a3 u4'],
      ],
    ],
    [
      'the second does not reach back before the first',
      [
        ['u1 a1 u2 a2 u3 a3', 'Su u3 a3'],
        ['u4 a4 u5 a5', 'Su u5 a5'],
      ],
    ],
    [
      'of many there is one summary',
      [
        ['u1 a1 u2 a2 u3 a3', 'Su u3 a3'],
        ['u4 a4 u5 a5', 'Su u5 a5'],
        ['u6 c6 t6 a6 u7 a7', 'Su u7 a7'],
      ],
    ],
  ];

for (const [name, steps] of ROUNDS)
  test(`B8 B9 ${name}`, async () => {
    const preset = {
      ...pi({ keepRecentTokens: 200 }),
      trigger: { kind: 'tokens', atLeast: 600 },
    } as const;
    const watched = await opened(preset);
    let compactions = 0;
    for (const [said, prompt] of steps) {
      await watched.append(...talk(said));
      assert.equal(await shown(watched), prompt);
      compactions = currentSummary(watched.handle.plan)?.summary.round ?? 0;
    }
    assert.equal(compactions, steps.filter(([, prompt]) => /^Su u\d a\d$/.test(prompt)).length);
  });

const CAPS: readonly (readonly [options: Parameters<typeof pi>[0], maxTokens: number])[] = [
  [{}, 13_107],
  [{ reserveTokens: 10_000 }, 8_000],
];

for (const [options, maxTokens] of CAPS)
  test(`B10 ${JSON.stringify(options)} asks for a summary of ${maxTokens} tokens at most`, async () => {
    const summarizer = scriptedSummarizer({ kind: 'good' });
    const preset = now(pi({ keepRecentTokens: 200, ...options }));
    const watched = await WatchedThread.open({ ...wide, preset, summarizer });
    await watched.append(...talk('u1:30000 a1 u2 a2'));
    await watched.prompt();
    assert.equal(summarizer.requests[0]?.maxTokens, maxTokens);
  });
