import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryArtifacts, type ArtifactStore } from '@bobbin/core';
import { chars4, currentSummary, messagesOnly } from '@bobbin/core/internal';
import {
  assistant,
  round,
  scriptedSummarizer,
  system,
  user,
  WatchedThread,
  type SummarizerOutcome,
} from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';
import { long, options, rolling } from './sample-compactor.ts';

test('A10 with any failure of a summarizer, the prompt fits, nothing throws and a warning reports it', async () => {
  const outcomes: readonly (readonly [SummarizerOutcome, RegExp])[] = [
    [
      { kind: 'throws', message: 'overloaded' },
      /scripted: overloaded; the extract is used instead/,
    ],
    [{ kind: 'blank' }, /scripted: the summary is blank; the extract is used instead/],
    [
      { kind: 'huge', chars: 50_000 },
      /scripted: the summary is inflated: .*; the extract is used instead/,
    ],
    [
      { kind: 'malformed', value: null },
      /scripted: the summary is off its schema: it is no object/,
    ],
    [{ kind: 'malformed', value: 'Sorry.' }, /off its schema/],
  ];
  for (const [outcome, warning] of outcomes) {
    const summarizer = scriptedSummarizer(outcome);
    const watched = await WatchedThread.open({ ...options, summarizer });
    await watched.append(...long('one'), ...long('two'));
    const { events, fits, plan, compacted } = await watched.prompt();
    const warnings = events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    assert.equal(warnings.length, 1, warnings.join('\n'));
    assert.match(warnings[0] ?? '', warning);
    assert.deepEqual([fits, compacted], [true, true]);
    assert.match(currentSummary(plan)?.text ?? '', /one: please look into it/);
    const summarized = events.find((event) => event.kind === 'summarized');
    assert.equal(summarized?.summarizer, 'extract-v1', 'the event names who wrote it');
    summarizer.expectDone();
  }
});

test('A10 a summarizer that throws at once is no different', async () => {
  const summarizer = {
    id: 'rude',
    summarize: () => {
      throw new Error('at once');
    },
  };
  const watched = await WatchedThread.open({ ...options, summarizer });
  await watched.append(...long('one'), ...long('two'));
  const { events, plan } = await watched.prompt();
  assert.ok(
    events.some((event) => event.kind === 'warning' && /rude: at once/.test(event.message)),
  );
  assert.notEqual(currentSummary(plan), undefined);
});

test('A10 a policy that would rather keep all keeps all, while it fits', async () => {
  const watched = await WatchedThread.open({
    ...options,
    preset: { ...rolling, onSummaryFailure: 'keep' },
    summarizer: scriptedSummarizer({ kind: 'throws', message: 'overloaded' }),
  });
  await watched.append(...long('one'), ...long('two'));
  const { events, prompt, compacted, version } = await watched.prompt();
  assert.deepEqual([compacted, version, prompt.messages.length], [false, 0, 4]);
  assert.ok(events.some((event) => event.kind === 'warning' && /overloaded/.test(event.message)));
});

test('A10 a failing artifact store is reported, and the ladder goes on without it', async () => {
  const broken: ArtifactStore = {
    ...memoryArtifacts(),
    put: () => Promise.reject(new Error('disk full')),
  };
  const watched = await WatchedThread.open({
    preset: softLadder,
    counter: chars4(),
    budget: messagesOnly(3_000),
    artifacts: broken,
  });
  await watched.append(user('read them'));
  for (let i = 0; i < 6; i++)
    await watched.append(...round('read', { i }, `${i} line\n`.repeat(700)));
  await watched.append(user('and now?'));
  const { fits, prompt, events, limitTokens } = await watched.prompt();
  assert.ok(fits && prompt.tokens <= limitTokens, `${prompt.tokens}`);
  assert.ok(events.some((event) => event.kind === 'warning' && /disk full/.test(event.message)));
});

test('A12 round N + 1 integrates summary N, and each says its round', async () => {
  const summarizer = scriptedSummarizer(
    { kind: 'good', summary: { prose: 'First, the schema was made.' } },
    { kind: 'good', summary: { prose: 'First the schema, then the tests.' } },
  );
  const watched = await WatchedThread.open({ ...options, summarizer });
  await watched.append(system('be brief'), ...long('one'), ...long('two'));
  await watched.prompt();
  await watched.append(...long('three'), ...long('four'));
  const { plan, prompt } = await watched.prompt();
  summarizer.expectDone();
  const [first, second] = summarizer.requests;
  assert.deepEqual(
    [first, second].map((request) => [request?.round, request?.previous?.prose ?? null]),
    [
      [1, null],
      [2, 'First, the schema was made.'],
    ],
  );
  assert.deepEqual(
    second?.nodes.map(({ index }) => index),
    [3, 4, 5, 6],
    'only what came since',
  );
  assert.equal(currentSummary(plan)?.messages, 6);
  const text = prompt.messages.find(({ source }) => source.kind === 'record')?.message.parts[0];
  assert.ok(text?.kind === 'text');
  assert.match(text.text, /^## Session Summary \(Compaction Round 2\)\n/);
  assert.match(text.text, /First the schema, then the tests/);
});

test('A12 the task of every round is the first user message, also when it is made of parts', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const watched = await WatchedThread.open({ ...options, summarizer });
  await watched.append(
    system('be brief'),
    user('Build it.', 'In two parts.'),
    ...long('one'),
    ...long('two'),
  );
  await watched.prompt();
  assert.equal(summarizer.requests[0]?.task, 'Build it.\nIn two parts.');
});

async function compactedOnce(): Promise<unknown> {
  const watched = await WatchedThread.open(options);
  await watched.append(...long('one'), ...long('two'), ...long('three'));
  const { plan, prompt, events } = await watched.prompt();
  return { plan, prompt, events };
}

test('C17 the same span and policy give the same plan, prompt and events', async () => {
  assert.deepEqual(await compactedOnce(), await compactedOnce());
});

test('C17 compacting what is compacted changes nothing and writes nothing', async () => {
  const watched = await WatchedThread.open(options);
  await watched.append(...long('one'), ...long('two'), ...long('three'));
  const first = await watched.prompt();
  const second = await watched.prompt();
  assert.deepEqual([first.version, second.version], [1, 1]);
  assert.deepEqual(second.prompt, first.prompt);
  assert.equal(second.compacted, false);
  assert.ok(first.prompt.tokens >= 200, 'its trigger would fire again');
  assert.deepEqual(second.events, []);
});

test('an undone compaction waits until the prompt no longer fits', async () => {
  const watched = await WatchedThread.open(options);
  await watched.append(...long('one'), ...long('two'));
  assert.equal((await watched.prompt()).compacted, true);
  assert.equal(await watched.handle.undo(), true);
  for (const name of ['three', 'four', 'five', 'six', 'seven']) {
    await watched.append(...long(name));
    const { events, prompt } = await watched.prompt();
    assert.deepEqual(events, [], `${prompt.tokens} tokens`);
  }
  await watched.append(...long('eight'), ...long('nine'), ...long('ten'));
  const { compacted, events } = await watched.prompt();
  assert.equal(compacted, true);
  assert.match(events[0]?.kind === 'check-started' ? events[0].reason : '', /> limit 2000$/);
});

test('reserves that leave no space are named, with the window and what is left', async () => {
  const watched = await WatchedThread.open({ window: 2_000, budget: { outputTokens: 1_000 } });
  await watched.append(user('Find the bug.'));
  const { fits, limitTokens, prompt, events } = await watched.handle.prompt();
  assert.deepEqual([fits, limitTokens, prompt.messages.length], [false, 0, 1]);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'warning' ? [event.message] : [])),
    [
      `what is never compacted exceeds the budget by ${prompt.tokens} tokens: a window of 2000 less outputTokens 1000, safetyTokens 200, rehydrationTokens 800 leaves 0 for messages`,
    ],
  );
});

test('an aborted compaction rejects, leaves everything as it was, and the next one works', async () => {
  const summarizer = scriptedSummarizer({ kind: 'hangs' }, { kind: 'good' });
  const watched = await WatchedThread.open({ ...options, summarizer });
  await watched.append(...long('one'), ...long('two'));
  const controller = new AbortController();
  const asked = watched.handle.prompt({ signal: controller.signal });
  setTimeout(() => controller.abort(new Error('enough')), 10);
  await assert.rejects(asked, /enough/);
  assert.equal(watched.handle.plan.records.length, 0);
  const { compacted, version } = await watched.prompt();
  assert.deepEqual([compacted, version], [true, 1]);
  summarizer.expectDone();
});

test('a prompt asked for with a signal that is aborted already does nothing', async () => {
  const watched = await WatchedThread.open(options);
  await watched.append(...long('one'), ...long('two'));
  await assert.rejects(watched.handle.prompt({ signal: AbortSignal.abort(new Error('no')) }), /no/);
});

test('B1 instructions reach the summarizer', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const watched = await WatchedThread.open({ ...options, summarizer });
  await watched.append(...long('one'), ...long('two'));
  await watched.compact({ instructions: 'only the open items' });
  assert.equal(summarizer.requests[0]?.instructions, 'only the open items');
});

test('C21 a compaction by hand that would only lengthen the prompt leaves it as it is, and says so', async () => {
  const watched = await WatchedThread.open({ window: 64_000 });
  await watched.append(user('Hello.'), assistant('Hello. What can I do for you?'), user('Wait.'));
  const before = await watched.prompt();
  const { compacted, prompt, version, events } = await watched.handle.compact();
  assert.equal(compacted, false);
  assert.equal(version, before.version);
  assert.deepEqual(prompt.messages, before.prompt.messages);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'completed' ? [event.freed] : [])),
    [0],
  );
});
