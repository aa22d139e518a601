import assert from 'node:assert/strict';
import { test } from 'node:test';
import { externalize, turnCount, type MessageId, type Prompt } from '@bobbin/core';
import { currentSummary, messagesOnly, slidingWindow } from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread } from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';
import { many, messagesOf, options, turn } from './sample-session.ts';

test('C1 any past prompt can be rendered again', async () => {
  const watched = await WatchedThread.open(options);
  const past: { version: number; length: number; prompt: Prompt }[] = [];
  for (let i = 1; i <= 12; i++) {
    await watched.append(...turn(`t${i}`));
    const { version, prompt } = await watched.prompt();
    past.push({ version, length: watched.thread.length, prompt });
  }
  assert.ok((past.at(-1)?.version ?? 0) >= 2, 'compacted more than once');
  await watched.reopen();
  for (const { version, length, prompt } of past)
    assert.deepEqual(await watched.handle.promptAt(version, length), prompt);
  await assert.rejects(watched.handle.promptAt(99), /no plan of version 99/);
});

test('decision 7 undo takes the last compaction back, and the next waits until it must', async () => {
  const watched = await WatchedThread.open({
    ...options,
    budget: messagesOnly(5_000),
    preset: slidingWindow(4, turnCount(3)),
  });
  await watched.append(...many(1, 4));
  assert.equal((await watched.prompt()).compacted, true);
  assert.equal(await watched.handle.undo(), true);
  const undone = await watched.prompt();
  assert.deepEqual(messagesOf(undone.prompt), watched.thread.messages);
  assert.deepEqual([undone.compacted, undone.version], [false, 2], 'the log of plans only grows');
  assert.equal(await watched.handle.undo(), false, 'there is nothing more to take back');
  await watched.append(...many(5, 30));
  assert.equal((await watched.prompt()).compacted, true, 'now it no longer fits');
});

test('decision 7 undo after undo goes further back', async () => {
  const watched = await WatchedThread.open({
    ...options,
    budget: messagesOnly(9_000),
    preset: slidingWindow(4, turnCount(2)),
  });
  await watched.append(...many(1, 3));
  await watched.prompt();
  await watched.append(...many(4, 6));
  await watched.prompt();
  const shown = async (): Promise<number> => (await watched.prompt()).prompt.messages.length;
  assert.equal(await shown(), 4);
  await watched.handle.undo();
  assert.equal(await shown(), 16, 'as after the first compaction');
  await watched.handle.undo();
  assert.equal(await shown(), 24, 'everything');
});

test('decision 7 a pin brings a compacted message back whole, with what belongs to it', async () => {
  const watched = await WatchedThread.open({ ...options, preset: slidingWindow(4, turnCount(2)) });
  await watched.append(...many(1, 5));
  await watched.prompt();
  const resultId = watched.thread.at(2)?.id ?? assert.fail();
  await watched.handle.pin(resultId);
  const { prompt, plan } = await watched.prompt();
  assert.deepEqual(
    messagesOf(prompt).slice(1, 3),
    watched.thread.messages.slice(1, 3),
    'call and result',
  );
  assert.deepEqual(new Set(plan.pins), new Set([watched.thread.at(1)?.id, resultId]));
  await watched.append(...many(6, 9));
  const later = messagesOf((await watched.prompt()).prompt);
  assert.ok(later.includes(watched.thread.at(2)?.message ?? assert.fail()), 'and it stays');
  await assert.rejects(watched.handle.pin('nothing' as MessageId), /has no message nothing/);
});

test('decision 7 undo takes a compaction back, also if messages were pinned or unpinned since', async () => {
  const preset = slidingWindow(4, turnCount(2));
  for (const unpins of [false, true]) {
    const watched = await WatchedThread.open({ ...options, budget: messagesOnly(9_000), preset });
    await watched.append(...many(1, 5));
    await watched.prompt();
    const old = watched.thread.at(2)?.id ?? assert.fail();
    await watched.handle.pin(old);
    if (unpins) await watched.handle.unpin(old);
    await watched.reopen();
    assert.ok(await watched.handle.undo());
    assert.deepEqual(messagesOf((await watched.prompt()).prompt), watched.thread.messages);
    assert.equal(watched.handle.plan.pins.length, unpins ? 0 : 2);
    assert.equal(await watched.handle.undo(), false, 'there was one compaction');
  }
});

test('decision 7 undo after a later compaction does not bring back what was undone before', async () => {
  const watched = await WatchedThread.open({
    ...options,
    budget: messagesOnly(9_000),
    preset: slidingWindow(4, turnCount(2)),
  });
  await watched.append(...many(1, 5));
  await watched.prompt();
  assert.ok(await watched.handle.undo());
  await watched.compact();
  assert.ok(await watched.handle.undo());
  assert.equal(await watched.handle.undo(), false);
  assert.deepEqual(messagesOf((await watched.prompt()).prompt), watched.thread.messages);
});

test('decision 7 undo is refused if pins already show all that a compaction took', async () => {
  const watched = await WatchedThread.open({
    ...options,
    budget: messagesOnly(9_000),
    preset: {
      ...slidingWindow(4, turnCount(2)),
      ladder: [externalize({ overTokens: 200 })],
      targetShare: 0.1,
    },
  });
  await watched.append(
    user('go'),
    ...round('read', {}, 'line of text\n'.repeat(100)),
    ...many(1, 3),
  );
  const { plan } = await watched.prompt();
  assert.deepEqual(
    plan.records.map(({ kind }) => kind),
    ['externalize'],
  );
  await watched.handle.pin(watched.thread.at(2)?.id ?? assert.fail());
  assert.deepEqual(messagesOf((await watched.prompt()).prompt), watched.thread.messages);
  assert.equal(await watched.handle.undo(), false);
});

test('decision 7 what was unpinned can be compacted by hand, though the cut would keep all that is left', async () => {
  const watched = await WatchedThread.open({
    ...options,
    preset: softLadder,
    budget: messagesOnly(5_000),
  });
  for (let i = 0; i < 20; i++) {
    const lines = Array.from(
      { length: 30 },
      (_, j) => `export const handler${i}_${j} = KEY_${i * j};`,
    );
    await watched.append(
      user(`Look at src/module_${i}.ts`),
      ...round('read', { path: `src/module_${i}.ts` }, lines.join('\n')),
      assistant(`module_${i} is sound.`),
    );
  }
  const before = currentSummary((await watched.prompt()).plan)?.summary ?? assert.fail();
  const pinned = watched.thread.at(3) ?? assert.fail();
  await watched.handle.pin(pinned.id);
  assert.ok(messagesOf((await watched.prompt()).prompt).includes(pinned.message));
  await watched.handle.unpin(pinned.id);
  const { compacted, prompt, plan } = await watched.compact();
  assert.ok(compacted);
  assert.ok(!messagesOf(prompt).includes(pinned.message));
  const { lastTurn } = currentSummary(plan)?.summary ?? assert.fail();
  assert.ok(lastTurn >= before.lastTurn, 'what is said of the newest is not taken from the oldest');
  await assert.rejects(watched.handle.unpin('nothing' as MessageId), /has no message nothing/);
});

test('decision 7 an unpinned message stays until the next compaction, which may take it; undo brings no pin back', async () => {
  const watched = await WatchedThread.open({ ...options, preset: slidingWindow(4, turnCount(2)) });
  await watched.append(...many(1, 5));
  const callId = watched.thread.at(1)?.id ?? assert.fail();
  const pinned = watched.thread.at(2) ?? assert.fail();
  await watched.handle.pin(callId);
  await watched.prompt();
  const before = messagesOf((await watched.prompt()).prompt);
  await watched.handle.unpin(pinned.id);
  assert.deepEqual(watched.handle.plan.pins, [], 'with the call that belongs to it');
  assert.deepEqual(messagesOf((await watched.prompt()).prompt), before);
  const { version } = watched.handle;
  await watched.handle.unpin(pinned.id);
  assert.equal(watched.handle.version, version, 'what is no pin is left alone');
  await watched.append(...many(6, 9));
  assert.ok(!messagesOf((await watched.prompt()).prompt).includes(pinned.message));
  assert.ok(await watched.handle.undo());
  assert.deepEqual(watched.handle.plan.pins, []);
});
