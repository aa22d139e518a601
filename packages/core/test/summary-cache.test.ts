import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Summarizer, Summary, SummaryRequest, ThreadId } from '@bobbin/core';
import {
  canonicalJson,
  EMPTY_SUMMARY,
  extract,
  extractSummarizer,
  memorySummaryCache,
  summaryKey,
  trustedSummarizer,
  type SummaryReport,
} from '@bobbin/core/internal';
import { assistant, thread, user } from '@bobbin/testing';

const NODES = thread(user('Never use tabs.'), assistant('Agreed.'), user('Go on.')).path();
const REQUEST: SummaryRequest = {
  nodes: NODES,
  previous: null,
  task: 'Never use tabs.',
  round: 1,
  overlap: [],
  maxTokens: 400,
};

/** A summarizer that answers when it is released, and counts. */
function gated(): Summarizer & {
  calls: number;
  signals: AbortSignal[];
  open(): void;
  fail(): void;
} {
  const gate = Promise.withResolvers<void>();
  const made = {
    id: 'gated-v1',
    calls: 0,
    signals: [] as AbortSignal[],
    async summarize(request: SummaryRequest): Promise<Summary> {
      made.calls += 1;
      if (request.signal !== undefined) made.signals.push(request.signal);
      await gate.promise;
      return { ...extract(request), prose: 'An account.' };
    },
    open: () => gate.resolve(),
    fail: () => gate.reject(new Error('no answer')),
  };
  return made;
}

test('C16 C17 the same span twice gives one call and equal bytes', async () => {
  const inner = gated();
  inner.open();
  const summarizer = trustedSummarizer(inner, { policy: 'ladder-1' });
  const reports: SummaryReport[] = [];
  const first = await summarizer.summarize(REQUEST);
  const again: SummaryRequest = { ...REQUEST, report: (report) => reports.push(report) };
  const second = await summarizer.summarize(again);
  assert.equal(inner.calls, 1);
  assert.equal(canonicalJson(second), canonicalJson(first));
  assert.equal(reports[0]?.kind, 'cached');
});

test('what must not be stored is not cached, nor is a secret', async () => {
  const blank: Summarizer = { id: 'm', summarize: () => Promise.resolve(EMPTY_SUMMARY) };
  const cache = memorySummaryCache();
  await assert.rejects(trustedSummarizer(blank, { cache }).summarize(REQUEST), /blank/);
  const leaking: Summarizer = {
    id: 'm',
    summarize: () => Promise.resolve({ ...EMPTY_SUMMARY, prose: 'PASSWORD=tr0ub4dor&3 is set.' }),
  };
  await trustedSummarizer(leaking, { cache }).summarize(REQUEST);
  const kept = await cache.get(summaryKey(REQUEST, 'm', ''));
  assert.equal(kept?.prose, 'PASSWORD=[redacted] is set.');
});

test('C16 two equal requests at once share one call; a failure is not kept', async () => {
  const cache = memorySummaryCache();
  const inner = gated();
  const summarizer = trustedSummarizer(inner, { cache });
  const both = Promise.allSettled([summarizer.summarize(REQUEST), summarizer.summarize(REQUEST)]);
  inner.fail();
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(inner.calls, 1);
  const better = gated();
  better.open();
  await trustedSummarizer(better, { cache }).summarize(REQUEST);
  assert.equal(better.calls, 1);
});

test('one of two who wait may give up: the other gets the summary; when both do, the call is aborted', async () => {
  const inner = gated();
  const summarizer = trustedSummarizer(inner);
  const hasty = new AbortController();
  const patient = new AbortController();
  const gaveUp = assert.rejects(
    summarizer.summarize({ ...REQUEST, signal: hasty.signal }),
    /enough/,
  );
  const waits = summarizer.summarize({ ...REQUEST, signal: patient.signal });
  await setImmediate();
  hasty.abort(new Error('enough'));
  await gaveUp;
  assert.deepEqual(
    inner.signals.map(({ aborted }) => aborted),
    [false],
  );
  inner.open();
  assert.equal((await waits).prose, 'An account.');

  const lonely = gated();
  const alone = new AbortController();
  const left = trustedSummarizer(lonely).summarize({
    ...REQUEST,
    signal: alone.signal,
  });
  await setImmediate();
  alone.abort(new Error('enough'));
  await assert.rejects(left, /enough/);
  assert.deepEqual(
    lonely.signals.map(({ aborted }) => aborted),
    [true],
  );
});

test('C16 an abandoned call is not shared: the next request gets a new call, also right after the abort', async () => {
  const deaf = Promise.withResolvers<Summary>();
  const signals: (AbortSignal | undefined)[] = [];
  const inner: Summarizer = {
    id: 'deaf-v1',
    summarize(request) {
      signals.push(request.signal);
      const made = { ...extract(request), prose: `Account ${signals.length}.` };
      return signals.length === 1 ? deaf.promise : setImmediate(made);
    },
  };
  const summarizer = trustedSummarizer(inner);
  const first = new AbortController();
  const left = assert.rejects(
    summarizer.summarize({ ...REQUEST, signal: first.signal }),
    /aborted by the first/,
  );
  await setImmediate();
  first.abort(new Error('aborted by the first'));
  const reports: SummaryReport[] = [];
  const own = new AbortController();
  const next = summarizer.summarize({
    ...REQUEST,
    signal: own.signal,
    report: (report) => reports.push(report),
  });
  await left;
  await setImmediate();
  deaf.reject(new Error('too late'));
  const joined = summarizer.summarize(REQUEST);
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('it waits for the dead call')), 1_000).unref();
  });
  const summaries = await Promise.race([Promise.all([next, joined]), late]);
  assert.deepEqual(
    summaries.map(({ prose }) => prose),
    ['Account 2.', 'Account 2.'],
  );
  assert.deepEqual(reports, []);
  assert.deepEqual(
    signals.map((signal) => signal?.aborted),
    [true, false],
  );
});

test('a broken cache costs a call, not the summary', async () => {
  const broken = {
    get: () => Promise.reject(new Error('disk')),
    set: () => Promise.reject(new Error('disk')),
    delete: () => Promise.reject(new Error('disk')),
  };
  const inner = gated();
  inner.open();
  const summary = await trustedSummarizer(inner, { cache: broken }).summarize(REQUEST);
  assert.equal(summary.prose, 'An account.');
});

test('C16 the key holds all that a summary depends on, and nothing else', () => {
  const key = summaryKey(REQUEST, 'model+prompt', 'policy');
  const others = [
    summaryKey({ ...REQUEST, nodes: NODES.slice(1) }, 'model+prompt', 'policy'),
    summaryKey({ ...REQUEST, instructions: 'be brief' }, 'model+prompt', 'policy'),
    summaryKey({ ...REQUEST, previous: extract(REQUEST) }, 'model+prompt', 'policy'),
    summaryKey({ ...REQUEST, maxTokens: 800 }, 'model+prompt', 'policy'),
    summaryKey({ ...REQUEST, overlap: NODES.slice(2) }, 'model+prompt', 'policy'),
    summaryKey({ ...REQUEST, round: 2 }, 'model+prompt', 'policy'),
    summaryKey(REQUEST, 'model+prompt', 'policy-2'),
    summaryKey(REQUEST, 'other+prompt', 'policy'),
  ];
  assert.equal(new Set([key, ...others]).size, 9);
  const signal = new AbortController().signal;
  const same = thread(user('Never use tabs.'), assistant('Agreed.'), user('Go on.')).path();
  assert.equal(summaryKey({ ...REQUEST, nodes: same, signal }, 'model+prompt', 'policy'), key);
});

test('the memory cache forgets the oldest first', async () => {
  const cache = memorySummaryCache(2);
  const summary = await extractSummarizer.summarize(REQUEST);
  for (const key of ['a', 'b', 'c']) await cache.set(key, summary);
  const kept = await Promise.all(['a', 'b', 'c'].map((key) => cache.get(key)));
  assert.deepEqual(kept, [undefined, summary, summary]);
});

test('the memory cache erases the summaries of a thread, or of a tenant, and no other', async () => {
  const cache = memorySummaryCache();
  const summary = await extractSummarizer.summarize(REQUEST);
  const keys = ['acme/a', 'acme/b', 'acme/c', 'zen/a'];
  const there = async (): Promise<readonly string[]> => {
    const found = await Promise.all(keys.map((key) => cache.get(key)));
    return keys.filter((_, i) => found[i] !== undefined);
  };
  for (const key of keys) {
    const [tenant = '', name = ''] = key.split('/');
    await cache.set(key, summary, { tenant, thread: name as ThreadId });
  }
  await cache.delete({ tenant: 'acme', threads: ['b' as ThreadId] });
  assert.deepEqual(await there(), ['acme/a', 'acme/c', 'zen/a']);
  await cache.delete({ tenant: 'acme' });
  assert.deepEqual(await there(), ['zen/a']);
});
