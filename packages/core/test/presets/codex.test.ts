import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '@bobbin/core';
import { budget, codex, firedBecause } from '@bobbin/core/internal';
import { scriptedSummarizer, user, WatchedThread } from '@bobbin/testing';
import { expectRows, now, opened, shown, talk, wide, type Row } from './notation.ts';

/** What Codex keeps of a session: the newest messages of the user, then the summary. */
const KEPT: readonly Row<number>[] = [
  ['all of the user, nothing of the agent', 'u1 a1 u2 a2', 1_000, 'u1 u2 Su'],
  ['calls and results go', 'u1 c1 t1 a1 u2 c2 t2 a2', 1_000, 'u1 u2 Su'],
  ['the newest within the limit', 'u1 a1 u2 a2 u3 a3', 250, 'u2 u3 Su'],
  ['exactly the limit', 'u1 a1 u2 a2 u3 a3', 300, 'u1 u2 u3 Su'],
  ['none: the newest question stays', 'u1 a1 u2 a2', 0, 'u2 Su'],
  ['the question that waits is last', 'u1 a1 u2 a2 u3', 1_000, 'u1 u2 Su u3'],
  ['a summary of the host is not the user’s', 'q0 m0 u1 a1 u2 a2', 1_000, 'u1 u2 Su'],
  ['the system message stays', 's0 u1 a1 u2 a2', 1_000, 's0 u1 u2 Su'],
];

test('B20 cases of what stays', () =>
  expectRows(KEPT, (keepUserTokens) => now(codex({ keepUserTokens }))));

const FIRES: readonly (readonly [
  options: Parameters<typeof codex>[0],
  window: number,
  tokens: number,
  fires: boolean,
])[] = [
  [{}, 272_000, 258_400, false],
  [{}, 272_000, 258_401, true],
  [{ autoCompactTokens: 100_000 }, 272_000, 99_999, false],
  [{ autoCompactTokens: 100_000 }, 272_000, 100_000, true],
  [{ model: 'gpt-5-codex' }, 272_000, 244_800, true],
  [{ model: 'o4-mini' }, 200_000, 179_999, false],
];

test('B20 cases of the limit', () => {
  const found = FIRES.map(([options, windowTokens, tokens]) => {
    const space = budget({ windowTokens });
    const check = { tokens, contextTokens: tokens, messages: 9, turns: 3, budget: space };
    return firedBecause(codex(options).trigger, check) !== undefined;
  });
  assert.deepEqual(
    found,
    FIRES.map(([, , , fires]) => fires),
  );
});

test('B20 a second compaction keeps messages of the user from before the first, and one summary', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' }, { kind: 'good' });
  const preset = now(codex({ keepUserTokens: 1_000 }));
  const watched = await WatchedThread.open({ ...wide, preset, summarizer });
  await watched.append(...talk('u1 a1:1000 u2 a2:1000'));
  assert.equal(await shown(watched), 'u1 u2 Su');
  await watched.append(...talk('u3 a3:1000 u4 a4:1000'));
  assert.equal(await shown(watched), 'u1 u2 u3 u4 Su');
  assert.equal(summarizer.requests[1]?.previous?.round, 1);
});

test('B20 of a message of the user that is too long a part stays', async () => {
  const long = user(Array.from({ length: 500 }, (_, i) => `line ${i}`).join('\n'));
  const watched = await opened(now(codex({ keepUserTokens: 300 })), long, ...talk('a1 u2:50 a2'));
  const { prompt } = await watched.prompt();
  const texts = prompt.messages.map(({ message }) => textOf(message));
  assert.match(texts[0] ?? '', /line 0\n/);
  assert.doesNotMatch(texts[0] ?? '', /line 250\n/);
  assert.match(texts[1] ?? '', /^u2/);
});

test('B20 the newest message of the user stays whole, whatever the limit is', async () => {
  const text = Array.from({ length: 500 }, (_, i) => `line ${i}`).join('\n');
  const watched = await opened(now(codex({ keepUserTokens: 300 })), ...talk('u1 a1'), user(text));
  await watched.append(...talk('a2'));
  const { prompt, events } = await watched.prompt();
  assert.equal(textOf(prompt.messages[0]?.message ?? user('')), text);
  // It was not cut and shown whole again either: where space is short, it would stay cut.
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'externalized' || kind === 'restored'),
    [],
  );
});

test('B20 where the summarizer fails, the newest messages of the user stay all the same', async () => {
  const summarizer = scriptedSummarizer({ kind: 'throws', message: 'no connection' });
  const preset = now(codex({ keepUserTokens: 250 }));
  const watched = await WatchedThread.open({ ...wide, preset, summarizer });
  await watched.append(...talk('u1 a1 u2 a2 u3 a3'));
  assert.equal(await shown(watched), 'u2 u3 Su');
});
