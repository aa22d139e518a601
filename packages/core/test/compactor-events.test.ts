import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clear, drop, externalize, type CompactionEvent, type Policy } from '@bobbin/core';
import {
  chars4,
  currentSummary,
  messagesOnly,
  pi,
  timeline,
  type Rung,
} from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread, withMeta } from '@bobbin/testing';
import { kinds, long, options, rolling } from './sample-compactor.ts';

test('A9 the event of a summary holds its round, tokens, content and the ids that it replaces', async () => {
  const watched = await WatchedThread.open(options);
  await watched.append(...long('one'), ...long('two'));
  const { events, plan } = await watched.prompt();
  const event = events.find(({ kind }) => kind === 'summarized');
  assert.ok(event?.kind === 'summarized');
  const { round: number, tokensBefore, tokensAfter, summaryContent, span } = event;
  assert.deepEqual([number, tokensBefore, tokensAfter], [1, plan.tokensBefore, plan.tokensAfter]);
  assert.equal(summaryContent, currentSummary(plan)?.text);
  assert.deepEqual(span.ids, [watched.thread.at(0)?.id, watched.thread.at(1)?.id]);
});

test('C20 every step is reported, with tokens before, after and the limit', async () => {
  const reported: CompactionEvent[] = [];
  const watched = await WatchedThread.open({
    ...options,
    onEvent: (event) => reported.push(event),
  });
  await watched.append(...long('one'), ...long('two'));
  const { events, plan } = await watched.prompt();
  assert.deepEqual(reported, events);
  assert.deepEqual(kinds(events), [
    'check-started',
    'proposal-generated',
    'summarized',
    'completed',
  ]);
  const [started, proposal, summarized, completed] = events;
  for (const event of events)
    assert.deepEqual(
      [event.time, event.tokensBefore, event.limitTokens],
      [1_000, plan.tokensBefore, 2_000],
    );
  assert.deepEqual(started?.tokensAfter, plan.tokensBefore);
  assert.ok(proposal?.kind === 'proposal-generated' && summarized?.kind === 'summarized');
  assert.deepEqual(summarized.span, plan.records[0]?.span);
  assert.deepEqual(proposal.span, summarized.span);
  assert.equal(summarized.strategy, 'summarize');
  assert.equal(summarized.freed, plan.tokensBefore - plan.tokensAfter);
  assert.equal(summarized.tokensAfter, plan.tokensAfter);
  assert.ok(completed?.kind === 'completed');
  assert.deepEqual([completed.freed, completed.rungs], [summarized.freed, ['summarize']]);
});

/** What is reported of the records that a ladder makes of large results before the cut. */
async function recordsTold(...rungs: readonly Rung[]): Promise<readonly CompactionEvent[]> {
  const cut = { kind: 'keep-messages', messages: 2 } as const;
  const preset: Policy = { ...rolling, cut, ladder: rungs };
  const budget = messagesOnly(5_000);
  const watched = await WatchedThread.open({ ...options, preset, budget });
  await watched.append(user('go'));
  for (let i = 0; i < 4; i++)
    await watched.append(...round('read', { i }, `${i} of many lines\n`.repeat(300)));
  await watched.append(user('and?'));
  const { events, plan } = await watched.prompt();
  const reported = events.filter((event) => 'span' in event && event.kind !== 'proposal-generated');
  assert.deepEqual(
    reported.map((event) => ('span' in event ? event.span : undefined)),
    plan.records.map(({ span }) => span),
  );
  return reported;
}

test('C20 externalized, cleared and dropped are reported as separate kinds', async () => {
  for (const [rung, kind] of [
    [externalize(), 'externalized'],
    [clear(), 'cleared'],
    [drop({ reach: 'cut' }), 'dropped'],
  ] as const) {
    const events = await recordsTold(rung);
    assert.deepEqual([...new Set(kinds(events))], [kind]);
    for (const event of events)
      assert.equal('strategy' in event ? event.strategy : undefined, rung.name);
  }
});

test('B4 what a provider reported before a compaction does not fire a trigger after it', async () => {
  const watched = await WatchedThread.open({
    preset: pi({ keepRecentTokens: 50 }),
    counter: chars4(),
    window: 200_000,
  });
  const usage = {
    inputTokens: 1_000,
    outputTokens: 10,
    cacheReadTokens: 180_000,
    cacheWriteTokens: 9_000,
  };
  await watched.append(...long('one'), ...long('two'), withMeta(assistant('noted'), { usage }));
  assert.equal((await watched.prompt()).compacted, true);
  await watched.append(user('next'));
  assert.deepEqual((await watched.prompt()).events, []);
});

test('B4 C14 what was read from the cache and written to it was sent too', async () => {
  const watched = await WatchedThread.open({ counter: chars4(), window: 100_000 });
  await watched.append(user('x'.repeat(15_992)));
  const { limitTokens, prompt } = await watched.prompt();
  const usage = {
    inputTokens: 100,
    outputTokens: 10,
    cacheReadTokens: 5_000,
    cacheWriteTokens: 900,
  };
  await watched.append(withMeta(assistant('noted'), { usage }), user('next'));
  const beside = 6_000 - prompt.tokens;
  assert.equal((await watched.prompt()).limitTokens, limitTokens - beside);
});

test('E15 hooks get the size before and after', async () => {
  const reported: unknown[] = [];
  const watched = await WatchedThread.open({
    ...options,
    onBeforeCompaction: (size) => reported.push(size),
    onAfterCompaction: (size) => reported.push(size),
  });
  await watched.append(...long('one'), ...long('two'));
  const { plan, prompt } = await watched.prompt();
  assert.deepEqual(reported, [
    { beforeTokens: plan.tokensBefore },
    {
      beforeTokens: plan.tokensBefore,
      afterTokens: prompt.tokens,
      compactedTokens: plan.tokensBefore - prompt.tokens,
    },
  ]);
});

test('E4 expired blocks are hidden first, so that compaction sees the pruned thread', async () => {
  let now = 0;
  const watched = await WatchedThread.open({
    preset: timeline({ keepRecentTokens: 10 }),
    counter: chars4(),
    budget: messagesOnly(1_000),
    clock: { now: () => now },
  });
  const listing = { ...round('ls', { path: '/' }, 'entry\n'.repeat(300))[1] };
  const [call] = round('ls', { path: '/' }, '');
  const expiring = { ...listing, meta: { time: 0, ttlMs: 1_000, replacement: '[old listing]' } };
  await watched.append(user('list'), call, expiring, user('next'));
  assert.equal((await watched.prompt()).compacted, false, '472 tokens of 1 000');
  await watched.append(assistant('x'.repeat(2_400)));
  now = 2_000;
  const { events, plan } = await watched.prompt();
  assert.deepEqual(kinds(events), ['check-started', 'hidden', 'completed'], 'hiding was enough');
  assert.deepEqual(
    plan.hides.map(({ replacement }) => replacement),
    ['[old listing]'],
  );
  assert.deepEqual(plan.records, []);
});
