import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ledgerOf } from '../src/session/ledger.ts';
import { ofType, workshop } from './workshop.ts';

const TALKER = `
  if (tools.length === 0) return { text: 'SUMMARY' };
  return { text: 'About ' + last.text.split('\\n')[0] };
`;

test('each answer is priced by the model that gave it; without a price it is counted as such', async (t) => {
  const shop = await workshop(t, {
    script: TALKER,
    settings: { models: { 'scripted/echo': { inputPrice: 1_000_000, outputPrice: 0 } } },
  });
  await shop.line('one');
  await shop.line('two');
  await shop.line('/model scripted/echo@16000');
  const before = await ledgerOf(shop.agent.session);
  assert.deepEqual([before.requests, before.unpriced, before.price], [2, 2, undefined]);
  await shop.line('three');
  const after = await ledgerOf(shop.agent.session);
  assert.deepEqual([after.requests, after.unpriced], [3, 2]);
  const { answers: all } = after;
  const { answers: first } = before;
  assert.equal(
    after.price,
    all.inputTokens + all.cacheReadTokens - first.inputTokens - first.cacheReadTokens,
  );
});

test('a turn that was undone was paid for all the same', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await shop.line('one');
  await shop.line('two');
  const before = await ledgerOf(shop.agent.session);
  await shop.line('/undo turn');
  assert.deepEqual(await ledgerOf(shop.agent.session), before);
  assert.equal(before.requests, 2);
});

test('the summaries for a hand-over and for a mention are in the ledger of the session that asked for them', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await shop.line('one');
  const { id } = shop.agent.session;
  await shop.line('/handoff two');
  assert.equal((await ledgerOf(shop.agent.session)).summaries.inputTokens, 0);
  await shop.line(`/resume ${id}`);
  const handed = await ledgerOf(shop.agent.session);
  assert.ok(handed.summaries.inputTokens > 0);
  await shop.line('/clear');
  await shop.line(`what says @thread:${id} ?`);
  const asked = await ledgerOf(shop.agent.session);
  assert.ok(asked.summaries.inputTokens > 0 && asked.requests === 1);
  await shop.line(`/resume ${id}`);
  assert.deepEqual(await ledgerOf(shop.agent.session), handed);
});

test('B1 /compact with nothing to compact asks no model and says so', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  for (const text of ['one', 'two', 'three', 'four']) await shop.line(text);
  const before = await ledgerOf(shop.agent.session);
  await shop.line('/compact');
  assert.equal(shop.requests().length, 4);
  assert.deepEqual(ofType(shop.events, 'compaction-stopped'), [
    { type: 'compaction-stopped', reason: 'there is nothing to compact' },
  ]);
  assert.deepEqual(await ledgerOf(shop.agent.session), before);
});

test('a summary that came to nothing was paid for all the same', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { text: "I'm sorry, I cannot help with that." };
      return { text: 'About it: ' + 'some words '.repeat(320) };
    `,
    settings: { compaction: { preset: 'recursive-summary' } },
  });
  for (let i = 0; i < 12; i++) await shop.line(`tell me about ${i}`);
  await shop.line('/compact');
  assert.equal(shop.requests().length, 13);
  assert.deepEqual(ofType(shop.events, 'compaction-end'), []);
  const { summaries } = await ledgerOf(shop.agent.session);
  assert.ok(summaries.inputTokens > 0 && summaries.outputTokens > 0, JSON.stringify(summaries));
});

test('a ledger that cannot be written to costs its record until the next one, never the work', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { text: "I'm sorry, I cannot help with that." };
      return { text: 'About it: ' + 'some words '.repeat(320) };
    `,
    settings: { compaction: { preset: 'recursive-summary' } },
  });
  for (let i = 0; i < 12; i++) await shop.line(`tell me about ${i}`);
  const { session } = shop.agent;
  const { store } = session;
  const record = store.record.bind(store);
  store.record = () => Promise.reject(new Error('disk full'));
  await shop.line('/compact');
  assert.deepEqual(
    shop.events.flatMap((event) => (JSON.stringify(event).includes('disk full') ? [event] : [])),
    [],
  );
  store.record = record;
  await shop.line('and now?');
  const { summaries } = await ledgerOf(session);
  assert.ok(summaries.inputTokens > 0 && summaries.outputTokens > 0, JSON.stringify(summaries));
});
