import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { currentSummary, EMPTY_SUMMARY, pi, renderSummary } from '@bobbin/core/internal';
import { modelSummarizer } from '@bobbin/models';
import {
  assistant,
  call,
  providerServer,
  result,
  thread,
  user,
  WatchedThread,
  type ProviderStep,
} from '@bobbin/testing';
import {
  ANSWER,
  SPLIT,
  compacted,
  counter,
  good,
  longHistory,
  modelAt,
  requestOf,
  session,
  splitHistory,
  windowed,
} from './sample-summaries.ts';

test('a history longer than the window of the summarizer is folded: each call updates the summary so far', async () => {
  const parts = ['first', 'second', 'third', 'fourth', 'fifth'].map((word) =>
    good({
      ...ANSWER,
      account: `The ${word} part.`,
      decisions: [{ text: `Decide the ${word}`, rationale: null, turn: 1 }],
    }),
  );
  const done = await compacted('openai-chat', parts, { windowTokens: 2_000, maxOutputTokens: 400 });
  const { requests } = done.server;
  assert.ok(requests.length > 1, `${requests.length} calls`);
  assert.match(requests[1]?.text ?? '', /<summary-so-far>[^]*The first part\./);
  const decided = new Set(done.summary.decisions.map(({ text }) => text));
  assert.ok(decided.has('Decide the first') && decided.has('Decide the second'));
  const called = done.reports.find((report) => report.kind === 'called');
  assert.equal(called?.usage.outputTokens, 150 * requests.length, 'one bill for all calls');
});

const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/(?:Question|Answer) (\d+):/g)].map(([, number]) => Number(number));

test('a summary before that would fill the window is fitted to a share of it: few calls, each message read once', async () => {
  const facts = Array.from({ length: 400 }, (_, i) => ({
    kind: 'constraint' as const,
    text: `Rule ${i} must hold for the module number ${i} of the parser.`,
    by: 'user' as const,
    turn: i,
  }));
  const previous = { ...EMPTY_SUMMARY, task: 'Rewrite the lexer.', facts };
  assert.ok(counter.text(renderSummary(previous)) > 7_500);
  let count = 0;
  const growing = (): string =>
    JSON.stringify({
      ...ANSWER,
      decisions: Array.from({ length: 60 }, () => ({
        text: `Decision ${++count} about the lexer and its many tables`,
        rationale: 'it was measured to be faster than the other one',
        turn: 1,
      })),
    });
  const request = requestOf(thread(...longHistory(60)).path(), { previous });
  const { made, texts } = await windowed(
    [{ forever: { kind: 'answer', text: growing } }],
    { windowTokens: 8_000 },
    request,
  );
  assert.equal(made.status, 'fulfilled');
  assert.ok(texts.length > 1 && texts.length <= 5, `${texts.length} calls`);
  assert.deepEqual(
    texts.flatMap(numbersIn),
    Array.from({ length: 60 }, (_, i) => i),
  );
  for (const text of texts)
    assert.match(text, /<summary-so-far>[^]*Rule 399 [^]*more rules (?:and items )?left out/);
});

test('a window without space for messages is not asked at all', async () => {
  const request = requestOf(thread(...longHistory(20)).path());
  const { made, texts } = await windowed([], { windowTokens: 900 }, request);
  assert.deepEqual(texts, []);
  assert.ok(made.status === 'rejected');
  assert.match(String(made.reason), /a window of 855 tokens has no space for messages/);
});

test('a message larger than the window is cut, and what is asked for is what the answer can hold', async () => {
  const run = Array.from({ length: 40 }, (_, i) => call('read', { path: `f${i}.ts` }));
  const results: Message = {
    role: 'tool',
    parts: run.flatMap((one) => result(one, 'line of a file\n'.repeat(40)).parts),
  };
  const nodes = thread(user('Read all.'), assistant(...run), results).path();
  const text = 'All files were read.';
  const { made, texts } = await windowed(
    [{ forever: { kind: 'answer', text } }],
    { windowTokens: 2_000, answer: 'prose', maxOutputTokens: 200 },
    requestOf(nodes),
  );
  assert.equal(made.status === 'fulfilled' && made.value.prose, text);
  assert.match(texts.at(-1) ?? '', /… \[\d+ more characters\]/);
  for (const one of texts) assert.match(one, /Take at most 160 tokens/);
});

test('E8 the beginning of a split turn that is longer than the window is folded as well', async () => {
  let count = 0;
  const turn: ProviderStep = { kind: 'answer', text: () => `The build ran ${++count} times.` };
  const { made, texts } = await windowed(
    [good(), { forever: turn }],
    { windowTokens: 4_000 },
    requestOf(splitHistory(), SPLIT),
  );
  assert.ok(made.status === 'fulfilled');
  const calls = texts.slice(1);
  assert.ok(calls.length > 1 && calls.length < 12, `${calls.length} calls`);
  assert.deepEqual(made.value.splitTurn, {
    turn: 2,
    text: `The build ran ${calls.length} times.`,
  });
  assert.equal(made.value.prose, ANSWER.account);
  assert.match(calls[1] ?? '', /<turn-so-far>\nThe build ran 1 times\./);
  assert.deepEqual(
    calls.flatMap(numbersIn),
    Array.from({ length: 40 }, (_, i) => i),
  );
});

test('E8 B20 when the call for a split turn overflows, its oldest messages are left out and it goes on', async () => {
  const turn: ProviderStep = { kind: 'answer', text: 'The build runs.' };
  const request = requestOf(splitHistory(), SPLIT);
  const { made, texts } = await windowed(
    [good(), { kind: 'overflow' }, turn],
    { windowTokens: 200_000 },
    request,
  );
  assert.equal(made.status === 'fulfilled' && made.value.splitTurn?.text, 'The build runs.');
  assert.deepEqual(numbersIn(texts[2] ?? '').slice(0, 1), [10]);
  assert.deepEqual(
    request.reports.filter(({ kind }) => kind === 'left-out'),
    [{ kind: 'left-out', messages: 11 }],
  );
});

test('E8 E10 the beginning of a split turn is summarised apart, in at most 400 tokens', async () => {
  const run = call('bash', { command: 'make' });
  const server = await providerServer('anthropic', good(), {
    kind: 'answer',
    text: 'In this turn the build was started with make.',
  });
  try {
    const summarizer = modelSummarizer({ model: modelAt('anthropic', server) });
    const watched = await WatchedThread.open({
      window: 6_000,
      preset: pi({ keepRecentTokens: 60, splitTurns: true }),
      summarizer,
    });
    await watched.append(
      ...session(),
      assistant('Yes.'),
      user('Build it.'),
      assistant('Building.', run),
      result(run, 'ok '.repeat(200)),
      assistant('Built. '.repeat(60)),
    );
    const fitted = await watched.compact();
    server.expectDone();
    const summary = currentSummary(fitted.plan)?.summary;
    assert.equal(summary?.splitTurn?.text, 'In this turn the build was started with make.');
    assert.equal(server.requests[1]?.body['max_tokens'], 400);
    assert.match(
      fitted.messages.map((m) => JSON.stringify(m)).join('\n'),
      /Turn Context \(split turn\)/,
    );
  } finally {
    await server.close();
  }
});

test('E8 a turn that is split again goes on from what the summary before says of it, and of no other turn', async () => {
  const nodes = thread(user('Build it.'), assistant('I run make again.')).path();
  const asked = async (turn: number): Promise<string> => {
    const server = await providerServer('anthropic', { kind: 'answer', text: 'Built twice.' });
    try {
      const previous = { ...EMPTY_SUMMARY, splitTurn: { turn, text: 'make ran once already.' } };
      const splitTurn = { turn: 1, maxTokens: 400 };
      await modelSummarizer({ model: modelAt('anthropic', server) }).summarize(
        requestOf(nodes, { previous, splitTurn }),
      );
      return server.requests.map(({ text }) => text).join('\n');
    } finally {
      await server.close();
    }
  };
  assert.match(await asked(1), /<turn-so-far>[^<]*make ran once already\.[^<]*<\/turn-so-far>/);
  assert.doesNotMatch(await asked(0), /turn-so-far/);
});
