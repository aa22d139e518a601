import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pi, type JsonObject, type SummaryReport } from '@bobbin/core/internal';
import { displaySummary, modelSummarizer } from '@bobbin/models';
import { providerServer, WatchedThread } from '@bobbin/testing';
import { jsonSchema, tool } from 'ai';
import {
  ANSWER,
  DIALECTS,
  compacted,
  good,
  isIntact,
  modelAt,
  session,
  reported,
} from './sample-summaries.ts';

test('a call that extends the live prompt sends the same system, tools and prefix, and runs no tool', async () => {
  let ran = 0;
  const read = tool({
    description: 'Reads a file',
    inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
    execute: () => Promise.resolve((ran += 1)),
  });
  const live = () => ({
    system: 'You are a coding agent.',
    tools: { read },
    messages: [
      { role: 'user' as const, content: 'Fix /repo/src/parser.ts. Never push to main.' },
      { role: 'assistant' as const, content: 'I run the tests.' },
    ],
  });
  const done = await compacted('anthropic', [good()], { live });
  done.server.expectDone();
  const body: JsonObject = done.server.requests[0]?.body ?? {};
  assert.deepEqual(body['system'], [{ type: 'text', text: 'You are a coding agent.' }]);
  assert.deepEqual(
    (body['tools'] as { name: string }[]).map(({ name }) => name),
    ['read'],
  );
  assert.equal(body['output_config'], undefined, 'a schema would change the prefix');
  const messages = body['messages'] as { role: string; content: { text: string }[] }[];
  assert.deepEqual(
    messages.slice(0, 2).map(({ role, content }) => [role, content[0]?.text]),
    [
      ['user', 'Fix /repo/src/parser.ts. Never push to main.'],
      ['assistant', 'I run the tests.'],
    ],
  );
  assert.match(messages[2]?.content[0]?.text ?? '', /^The work pauses here: call no tools\./);
  assert.equal(done.summary.prose, ANSWER.account);
  assert.equal(ran, 0);
});

for (const name of DIALECTS) {
  test(`${name}: a model that calls a tool of the live prompt has not summarised, and the tool does not run`, async () => {
    let ran = 0;
    const read = tool({
      inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
      execute: () => Promise.resolve((ran += 1)),
    });
    const messages = [{ role: 'user' as const, content: 'Fix /repo/src/parser.ts.' }];
    const live = () => ({ tools: { read }, messages });
    const done = await compacted(name, [{ kind: 'call', tool: 'read', args: {} }], { live });
    done.server.expectDone();
    assert.equal(ran, 0);
    assert.match(
      done.warnings[0] ?? '',
      /called a tool instead of answering; the extract is used instead$/,
    );
  });
}

test('a live prompt that leaves no space is not extended: the messages are sent in a call of their own', async () => {
  const messages = [{ role: 'user' as const, content: 'Everything so far.' }];
  const live = () => ({ messages });
  const done = await compacted('openai-responses', [{ kind: 'overflow' }, good()], { live });
  done.server.expectDone();
  assert.equal(done.summary.prose, ANSWER.account);
  assert.doesNotMatch(done.server.requests[1]?.text ?? '', /Everything so far/);
});

test('a live prompt that is known to leave no space is not sent at all', async () => {
  const messages = [{ role: 'user' as const, content: 'Everything so far.' }];
  const live = () => Promise.resolve({ messages, tokens: 199_000 });
  const done = await compacted('anthropic', [good()], { live, windowTokens: 200_000 });
  done.server.expectDone();
  assert.equal(done.summary.prose, ANSWER.account);
  assert.doesNotMatch(done.server.requests[0]?.text ?? '', /Everything so far/);
});

test('B10 who aborts gets an abort, and nothing is compacted', async () => {
  const server = await providerServer('openai-chat', { kind: 'hang' });
  try {
    const watched = await WatchedThread.open({
      window: 6_000,
      preset: pi({ keepRecentTokens: 40, reserveTokens: 500 }),
      summarizer: modelSummarizer({ model: modelAt('openai-chat', server) }),
    });
    await watched.append(...session());
    const controller = new AbortController();
    const compacting = watched.compact({ signal: controller.signal });
    setTimeout(() => controller.abort(new Error('the user pressed escape')), 100);
    await assert.rejects(compacting, /escape/);
    await isIntact(watched);
    assert.equal((await watched.prompt()).messages.length, session().length);
  } finally {
    await server.close();
  }
});

test('C16 C17 the same span twice gives one call and equal bytes', async () => {
  const server = await providerServer('openai-chat', good());
  try {
    const summarizer = modelSummarizer({ model: modelAt('openai-chat', server) });
    const options = { window: 6_000, preset: pi({ keepRecentTokens: 40 }), summarizer };
    const watched = await WatchedThread.open(options);
    await watched.append(...session());
    const first = await watched.compact();
    await watched.handle.undo();
    const again = await watched.compact();
    server.expectDone();
    assert.equal(JSON.stringify(again.messages), JSON.stringify(first.messages));
    assert.equal(reported(again.events).reports[0]?.kind, 'cached');
  } finally {
    await server.close();
  }
});

test('B22 two sentences for display, by a model or of the summary itself', async () => {
  const server = await providerServer(
    'openai-chat',
    { kind: 'answer', text: 'I fixed the parser. I ran the tests. And I wrote far too much.' },
    { kind: 'error', status: 400, message: 'no' },
  );
  try {
    const model = modelAt('openai-chat', server);
    const summary = { ...(await compacted('openai-chat', [good()])).summary };
    const reports: SummaryReport[] = [];
    const report = (one: SummaryReport): void => void reports.push(one);
    assert.equal(
      await displaySummary(summary, model, { report }),
      'I fixed the parser. I ran the tests.',
    );
    assert.deepEqual(
      reports.map((one) => one.kind === 'called' && [one.model, one.usage.outputTokens]),
      [['openai.chat:gpt-4.1', 20]],
    );
    assert.equal(await displaySummary(summary, model), 'Rewriting the tokenizer');
  } finally {
    await server.close();
  }
});
