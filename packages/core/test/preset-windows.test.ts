import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenCount, turnCount, type Policy } from '@bobbin/core';
import {
  budget,
  currentSummary,
  firedBecause,
  PRESETS,
  recursiveSummary,
  slidingWindow,
  step,
  timeline,
  tokenWindow,
  turnWindow,
  type TriggerInput,
  type PresetName,
} from '@bobbin/core/internal';
import {
  assistant,
  scriptedSummarizer,
  system,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';
import { now, opened, padded, shown, talk, wide } from './presets/notation.ts';
import { check } from './sample-presets.ts';

/** What a preset still lets pass, and what it acts on. */
const EDGES: readonly (readonly [
  name: PresetName,
  rests: Partial<TriggerInput>,
  acts: Partial<TriggerInput>,
])[] = [
  ['step', { tokens: 93_599, messages: 12 }, { tokens: 93_600, messages: 12 }],
  ['step', { tokens: 93_600, messages: 11 }, { tokens: 93_600, messages: 12 }],
  ['sliding-window', { turns: 20 }, { turns: 21 }],
  ['turn-window', { turns: 20 }, { turns: 21 }],
  ['recursive-summary', { turns: 20 }, { turns: 21 }],
  ['token-window', { tokens: 7_999 }, { tokens: 8_000 }],
  ['timeline', { tokens: 180_000 }, { tokens: 180_001 }],
  ['ladder', { tokens: 127_999 }, { tokens: 128_000 }],
  [
    'ladder',
    { tokens: 95_000, budget: budget({ windowTokens: 100_000 }) },
    { tokens: 95_001, budget: budget({ windowTokens: 100_000 }) },
  ],
];

test('A3 C21 D6 D7 D8 D9 E2 each preset acts from its own threshold on', () => {
  for (const [name, rests, acts] of EDGES) {
    const { trigger } = PRESETS[name];
    assert.equal(firedBecause(trigger, { ...check, ...rests }), undefined, name);
    assert.notEqual(firedBecause(trigger, { ...check, ...acts }), undefined, name);
  }
});

test('D6 sliding window: the last events from a user message on; synthetic ones stay, first', async () => {
  const summary = withMeta(assistant('S0 of old'), { synthetic: true });
  const watched = await opened(
    slidingWindow(4, turnCount(1)),
    user('u0'),
    summary,
    ...talk('u1 a1 u2 c2 t2 a2 u3 a3'),
  );
  assert.equal(await shown(watched), '· S0 u3 a3');
});

test('D7 turn window: the last whole turns; the preamble stays', async () => {
  const watched = await opened(
    turnWindow(2, turnCount(2)),
    assistant('hello'),
    ...talk('u1 a1 u2 c2 t2 a2 u3 a3'),
  );
  assert.equal(await shown(watched), '· hello u2 c2 t2 a2 u3 a3');
});

test('D8 token window: a suffix within the budget, from a user message on', async () => {
  const watched = await opened(tokenWindow(450, tokenCount(450)), ...talk('u1 a1 u2 a2 u3 a3 u4'));
  assert.equal(await shown(watched), 'u3 a3 u4');
});

test('D9 recursive summary: a shadow question, the summary, then the newest messages', async () => {
  const preset = recursiveSummary({ keepMessages: 3, overlapMessages: 2, trigger: turnCount(2) });
  const summarizer = scriptedSummarizer({ kind: 'good' }, { kind: 'good' });
  const watched = await WatchedThread.open({ ...wide, preset, summarizer });
  await watched.append(...talk('u1 a1 u2 a2 u3 a3'));
  assert.equal(await shown(watched), 'Su Sa u3 a3');
  const [first] = summarizer.requests;
  assert.deepEqual(
    first?.overlap.map(({ index }) => index),
    [4, 5],
    'read beside, not summarised',
  );
  assert.deepEqual(
    first?.nodes.map(({ index }) => index),
    [0, 1, 2, 3],
  );
  await watched.append(...talk('u4 a4 u5 a5'));
  assert.equal(await shown(watched), 'Su Sa u5 a5');
  assert.equal(summarizer.requests[1]?.previous?.round, 1, 'the prior summary is fed back');
});

test('D9 an overlap that is negative or not less than what is kept is an error', () => {
  assert.throws(
    () => recursiveSummary({ keepMessages: 3, overlapMessages: 3 }),
    /less than keepMessages \(3\), not 3/,
  );
  assert.throws(() => recursiveSummary({ overlapMessages: -1 }), /at least 0/);
  assert.doesNotThrow(() => recursiveSummary({ keepMessages: 3, overlapMessages: 0 }));
});

test('D9 a blank summary: a warning, the history unchanged, the failure reported', async () => {
  const reported: string[] = [];
  const watched = await WatchedThread.open({
    ...wide,
    preset: recursiveSummary({ keepMessages: 3, trigger: turnCount(2) }),
    summarizer: scriptedSummarizer({ kind: 'blank' }),
    onEvent: (event) => {
      if (event.kind === 'warning') reported.push(event.message);
    },
  });
  await watched.append(...talk('u1 a1 u2 a2 u3 a3'));
  assert.equal(await shown(watched), 'u1 a1 u2 a2 u3 a3');
  assert.equal(watched.handle.plan.records.length, 0);
  assert.deepEqual(reported, ['summarize failed: scripted: the summary is blank']);
});

test('D10 every window starts at a user message, wherever its raw cut falls', async () => {
  const said = talk('u1 a1 u2 a2 c2 t2 u3 a3 c3 t3 u4 a4');
  for (let keep = 1; keep <= said.length; keep++) {
    const policies = [
      slidingWindow(keep, turnCount(1)),
      tokenWindow(keep * 100, turnCount(1)),
      recursiveSummary({ keepMessages: keep, overlapMessages: 0, trigger: turnCount(1) }),
    ];
    for (const policy of policies) {
      const names = (await shown(await opened(policy, ...said))).replace(/^Su Sa /, '');
      assert.match(names, /^u\d/, `${policy.name} ${keep}: ${names}`);
    }
  }
});

test('E8 timeline: a cut inside a turn keeps its tail and its question, and summarises its prefix apart', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const watched = await WatchedThread.open({
    ...wide,
    preset: now(timeline({ keepRecentTokens: 250 })),
    summarizer,
  });
  await watched.append(...talk('u1 a1 u2 c2 t2 c2 t2 a2'));
  assert.equal(await shown(watched), '· Sa u2 c2 t2 a2');
  assert.deepEqual(summarizer.requests[0]?.splitTurn, { turn: 2, maxTokens: 400 });
  assert.match(currentSummary(watched.handle.plan)?.text ?? '', /Turn Context \(split turn\)/);
});

test('E8 timeline: 800 tokens for a range of any size', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const preset = now(timeline({ keepRecentTokens: 150 }));
  const watched = await WatchedThread.open({ ...wide, preset, summarizer });
  await watched.append(user(padded('u1', 9_000)), ...talk('a1 u2 a2'));
  await watched.prompt();
  assert.deepEqual(
    [summarizer.requests[0]?.maxTokens, summarizer.requests[0]?.splitTurn],
    [800, undefined],
  );
});

test('E11 only what lies between the last summary and the cut is summarised', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' }, { kind: 'good' });
  const preset: Policy = {
    ...timeline({ keepRecentTokens: 150 }),
    trigger: { kind: 'tokens', atLeast: 500 },
  };
  const watched = await WatchedThread.open({ ...wide, preset, summarizer });
  await watched.append(...talk('u1 a1 u2 a2 u3 a3'));
  await watched.prompt();
  await watched.append(...talk('u4 a4 u5 a5'));
  await watched.prompt();
  const covered = summarizer.requests.map(({ nodes }) => nodes.map(({ index }) => index));
  assert.deepEqual(covered, [
    [0, 1, 2, 3],
    [4, 5, 6, 7],
  ]);
});

test('A13 the step layer keeps its ten newest messages after one session summary', async () => {
  const config = { modelContextLimit: 1_250, systemReserve: 0, outputReserve: 0, safetyBuffer: 0 };
  const watched = await opened(
    step(config),
    system('s'),
    ...talk('u1 a1 u2 a2 u3 a3 u4 a4 u5 a5 u6 a6'),
  );
  assert.equal(await shown(watched), 's · Sa u2 a2 u3 a3 u4 a4 u5 a5 u6 a6');
});
