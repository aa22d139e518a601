import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { cleanExtract, extractSummarizer, renderSummary, type Node } from '@bobbin/core/internal';
import { assistant, call, result, thread, user, WatchedThread } from '@bobbin/testing';

const RULE = 'Never change the exports of src/parser/index.ts.';

/** A rule, then turns that say little. */
function history(messages: number): Message[] {
  const said = Array.from({ length: messages }, (_, i) =>
    i % 2 === 0 ? user(`What does step ${i} print?`) : assistant(`Step ${i} prints ${i * 7919}.`),
  );
  said[0] = user(`Make the parser faster. ${RULE}`);
  return said;
}

function requestFor(nodes: readonly Node[]) {
  return { nodes, previous: null, task: null, round: 1, overlap: [], maxTokens: 2_000 };
}

test('17 a history that came at once is summarised in parts, as if it had been compacted while it grew', async () => {
  const messages = history(2_500);
  const asked = call('read_file', { path: '/repo/src/parser/tokens.ts' });
  // The first part would end between them.
  messages[999] = assistant(asked);
  messages[1_000] = result(asked, 'export function readTokens() {}');
  const nodes = thread(...messages).path();
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
  };
  const summary = await extractSummarizer.summarize({ ...requestFor(nodes), pause });
  let expected: Summary | null = null;
  for (const part of [nodes.slice(0, 1_001), nodes.slice(1_001, 2_001), nodes.slice(2_001)])
    expected = cleanExtract({ ...requestFor(part), previous: expected });
  assert.deepEqual(summary, expected);
  assert.equal(pauses, 2);
  assert.ok(renderSummary(summary).includes(RULE));
});

function refusePause(): Promise<void> {
  return assert.fail('a pause');
}

test('17 a compaction of the usual size is read as a whole, without a pause', async () => {
  const nodes = thread(...history(1_000)).path();
  const summary = await extractSummarizer.summarize({ ...requestFor(nodes), pause: refusePause });
  assert.deepEqual(summary, cleanExtract(requestFor(nodes)));
});

test('17 a summary that is no longer wanted ends with the part that is being read', async () => {
  const nodes = thread(...history(5_000)).path();
  const controller = new AbortController();
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
    controller.abort(new Error('the user left'));
  };
  const { signal } = controller;
  await assert.rejects(extractSummarizer.summarize({ ...requestFor(nodes), pause, signal }), {
    message: 'the user left',
  });
  assert.equal(pauses, 1);
});

test('17 the first prompt after a long import is made with pauses, and is the same without them', async () => {
  const messages = history(4_000);
  let pauses = 0;
  const clock = {
    now: () => 0,
    pause: async (): Promise<void> => {
      pauses += 1;
    },
  };
  const paused = await WatchedThread.open({ window: 32_000, clock });
  await paused.append(...messages);
  pauses = 0;
  const { prompt } = await paused.prompt();
  assert.ok(pauses > 6, `${pauses} pauses`);
  const atOnce = await WatchedThread.open({ window: 32_000, clock: { now: () => 0 } });
  await atOnce.append(...messages);
  assert.deepEqual(prompt, (await atOnce.prompt()).prompt);
});

test('17 a prompt of few messages takes no pause', async () => {
  const clock = { now: () => 0, pause: refusePause };
  const watched = await WatchedThread.open({ window: 5_000, clock });
  for (const message of history(450)) await watched.append(message);
  assert.equal((await watched.prompt()).compacted, true);
});
