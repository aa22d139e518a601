import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic0';
import OpenAI from 'openai';
import OpenAI7 from 'openai7';
import { createBobbin, RefusedTwice, textMessage } from '@bobbin/core';
import { anthropic, openaiChat, openaiResponses } from '@bobbin/codecs';
import {
  providerServer,
  type DialectName,
  type ProviderRequest,
  type ProviderServer,
  type ProviderStep,
} from '@bobbin/testing';
import { volume } from '@bobbin/testing/volume';

const REQUESTS = volume(50, 100);
const RULE = 'Read all files. Never touch deploy/prod.';
const TOOL_NAMES = /read_artifact|recall\(/;

function seen(step: number): string {
  return `// src/${step}.ts\nexport const port = ${step === 0 ? 8042 : 0};\n${'compute(1);\n'.repeat(80)}`;
}

function isNamingTools({ body }: ProviderRequest): boolean {
  return TOOL_NAMES.test(JSON.stringify(body['messages'] ?? body['input']));
}

const READ = { kind: 'call', tool: 'read_file', args: { path: 'src/a.ts' } } as const;
const RECALL = { kind: 'call', tool: 'recall', args: { query: 'port 8042' } } as const;

/** Reads of files, one refusal among them, a call of `recall`, and a last word. */
const SCRIPT: readonly ProviderStep[] = [
  ...Array.from({ length: REQUESTS - 40 }, () => READ),
  { kind: 'overflow' },
  ...Array.from({ length: 37 }, () => READ),
  RECALL,
  { kind: 'answer', text: 'It is 8042.' },
];

/** Works until the model stops calling tools, and returns the texts that `recall` answered with. */
type Loop = (server: ProviderServer) => Promise<readonly string[]>;

async function openaiLoop(client: OpenAI): Promise<readonly string[]> {
  const bobbin = createBobbin({ codec: openaiChat, window: 16_000 });
  const read: OpenAI.ChatCompletionTool = { type: 'function', function: { name: 'read_file' } };
  const tools = [read, ...bobbin.tools];
  const history: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: RULE }];
  const recalled: string[] = [];
  for (let step = 0; ; step++) {
    const { choices } = await bobbin.send(history, (messages) =>
      client.chat.completions.create({ model: 'gpt-5', messages, tools }),
    );
    const message = choices[0]?.message;
    assert.ok(message);
    history.push(message);
    for (const call of message.tool_calls ?? []) {
      const result = await bobbin.answer(call, history);
      if (result !== undefined) recalled.push(result.content);
      history.push(result ?? { role: 'tool', tool_call_id: call.id, content: seen(step) });
    }
    if (message.tool_calls === undefined) return recalled;
  }
}

async function openai7Loop({ url }: ProviderServer): Promise<readonly string[]> {
  const client = new OpenAI7({ apiKey: 'key', baseURL: url, maxRetries: 0 });
  const bobbin = createBobbin({ codec: openaiChat, window: 16_000 });
  const read: OpenAI7.ChatCompletionTool = { type: 'function', function: { name: 'read_file' } };
  const tools = [read, ...bobbin.tools];
  const history: OpenAI7.ChatCompletionMessageParam[] = [{ role: 'user', content: RULE }];
  const recalled: string[] = [];
  for (let step = 0; ; step++) {
    const { choices } = await bobbin.send(history, (messages) =>
      client.chat.completions.create({ model: 'gpt-5', messages, tools }),
    );
    const message = choices[0]?.message;
    assert.ok(message);
    history.push(message);
    for (const call of message.tool_calls ?? []) {
      const result = await bobbin.answer(call, history);
      if (result !== undefined) recalled.push(result.content);
      history.push(result ?? { role: 'tool', tool_call_id: call.id, content: seen(step) });
    }
    if (message.tool_calls === undefined) return recalled;
  }
}

async function responsesLoop({ url }: ProviderServer): Promise<readonly string[]> {
  const client = new OpenAI7({ apiKey: 'key', baseURL: url, maxRetries: 0 });
  const bobbin = createBobbin({ codec: openaiResponses, window: 16_000 });
  const { tools } = bobbin;
  const history: OpenAI7.Responses.ResponseInputItem[] = [{ role: 'user', content: RULE }];
  const recalled: string[] = [];
  for (let step = 0; ; step++) {
    const { output } = await bobbin.send(history, (input) =>
      client.responses.create({ model: 'gpt-5', input, tools, store: false }),
    );
    history.push(...(output as OpenAI7.Responses.ResponseInputItem[]));
    const calls = output.filter((item) => item.type === 'function_call');
    for (const { call_id: callId, ...call } of calls) {
      const result = await bobbin.answer({ call_id: callId, ...call }, history);
      if (result !== undefined) recalled.push(result.output);
      history.push(result ?? { type: 'function_call_output', call_id: callId, output: seen(step) });
    }
    if (calls.length === 0) return recalled;
  }
}

async function anthropicLoop(client: Anthropic): Promise<readonly string[]> {
  const bobbin = createBobbin({ codec: anthropic, window: 16_000 });
  const read: Anthropic.Tool = { name: 'read_file', input_schema: { type: 'object' } };
  const tools = [read, ...bobbin.tools];
  const history: Anthropic.MessageParam[] = [{ role: 'user', content: RULE }];
  const recalled: string[] = [];
  for (let step = 0; ; step++) {
    const { role, content } = await bobbin.send(history, (messages) =>
      client.messages.create({ model: 'claude-opus-5', max_tokens: 1_000, messages, tools }),
    );
    history.push({ role, content });
    const results: Anthropic.ToolResultBlockParam[] = [];
    for (const block of content) {
      if (block.type !== 'tool_use') continue;
      const result = await bobbin.answer(block, history);
      if (result !== undefined) recalled.push(result.content);
      results.push(result ?? { type: 'tool_result', tool_use_id: block.id, content: seen(step) });
    }
    if (results.length === 0) return recalled;
    history.push({ role: 'user', content: results });
  }
}

const LOOPS: readonly (readonly [string, DialectName, Loop])[] = [
  [
    'openai 6, chat',
    'openai-chat',
    ({ url }) => openaiLoop(new OpenAI({ apiKey: 'key', baseURL: url, maxRetries: 0 })),
  ],
  ['openai 7, chat', 'openai-chat', openai7Loop],
  ['openai 7, responses', 'openai-responses', responsesLoop],
  [
    '@anthropic-ai/sdk 1',
    'anthropic',
    ({ origin }) => anthropicLoop(new Anthropic({ apiKey: 'key', baseURL: origin, maxRetries: 0 })),
  ],
];

for (const [name, dialect, loop] of LOOPS)
  test(`C23 E3 a loop of ${name}: ${REQUESTS} requests with tools, usage and a refusal`, async (t) => {
    const server = await providerServer(dialect, ...SCRIPT);
    t.after(() => server.close());
    const recalled = await loop(server);
    server.expectDone();
    assert.equal(server.requests.length, REQUESTS);
    assert.equal(recalled.length, 1);
    assert.match(recalled[0] ?? '', /port = 8042/);
    const sizes = server.requests.map(({ text }) => text.length);
    assert.ok(
      (sizes[61] ?? 0) <= (sizes[60] ?? 0) * 0.75,
      'after the refusal a smaller prompt is sent',
    );
    for (const { text } of server.requests) assert.match(text, /Never touch deploy\/prod/);
    const offering = server.requests.filter(isNamingTools);
    assert.ok(offering.length > 0, 'prompts name the tools that are offered');
  });

test('a prompt names no tool that is not offered', async (t) => {
  const server = await providerServer('anthropic', { forever: READ });
  t.after(() => server.close());
  const client = new Anthropic0({ apiKey: 'key', baseURL: server.origin, maxRetries: 0 });
  const bobbin = createBobbin({ codec: anthropic, window: 8_000 });
  const history: Anthropic0.MessageParam[] = [{ role: 'user', content: RULE }];
  for (let step = 0; step < REQUESTS; step++) {
    const { role, content } = await bobbin.send(history, (messages) =>
      client.messages.create({ model: 'claude-opus-5', max_tokens: 1_000, messages }),
    );
    const results = content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: seen(step) }]
        : [],
    );
    history.push({ role, content }, { role: 'user', content: results });
    if (step % 10 === 9)
      history.push({ role: 'user', content: 'Which port did src/0.ts export, 8042 or another?' });
  }
  const naming = server.requests.filter(isNamingTools);
  assert.equal(naming.length, 0);
});

test('the usage in a response corrects what is counted beside the messages', async () => {
  const bobbin = createBobbin({ codec: openaiChat, window: 16_000 });
  const history: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hi' }];
  const { limitTokens: before } = await bobbin.fit(history);
  const message = { role: 'assistant', content: 'Hello', refusal: null } as const;
  const usage = { prompt_tokens: 3_000, completion_tokens: 5, total_tokens: 3_005 };
  await bobbin.send(history, async () => ({ choices: [{ message }], usage }));
  history.push(message, { role: 'user', content: 'Go on' });
  const { limitTokens: after } = await bobbin.fit(history);
  assert.ok(before - after > 2_900 && before - after < 3_000, `${before} ${after}`);
});

function refuse(): Promise<never> {
  return Promise.reject(new Error('prompt is too long: 9000 tokens > 8000 maximum'));
}

test('E3 a second refusal is thrown with both sizes, and another error is left as it is', async () => {
  const bobbin = createBobbin({ codec: openaiChat });
  const history = [{ role: 'user', content: 'Hi' } as const];
  await assert.rejects(bobbin.send(history, refuse), (error) => {
    assert.ok(error instanceof RefusedTwice);
    assert.deepEqual(
      error.refusals.map(({ limitTokens }) => limitTokens),
      [8_000, 8_000],
    );
    return true;
  });
  const broken = new Error('the network is down');
  await assert.rejects(
    bobbin.send(history, () => Promise.reject(broken)),
    broken,
  );
});

function callNamed(name: string): object {
  return { id: 'c1', type: 'function', function: { name, arguments: '{"query":"x"}' } };
}

test('answer: another tool’s call is not Bobbin’s, and several conversations must be distinguished', async () => {
  const bobbin = createBobbin({ codec: openaiChat });
  const alice = [{ role: 'user', content: 'I am Alice' } as const];
  const bob = [{ role: 'user', content: 'I am Bob' } as const];
  await bobbin.fit(alice);
  assert.equal(await bobbin.answer(callNamed('read_file'), alice), undefined);
  assert.equal((await bobbin.answer(callNamed('recall')))?.tool_call_id, 'c1');
  await bobbin.fit(bob);
  await assert.rejects(bobbin.answer(callNamed('recall')), {
    name: 'RangeError',
    message:
      'there are 2 conversations: pass the messages of the one that is meant, or the name of its thread',
  });
  assert.equal((await bobbin.answer(callNamed('recall'), bob))?.role, 'tool');
});

test('tools and answers without a codec are Bobbin’s own', async () => {
  const bobbin = createBobbin();
  assert.deepEqual(
    bobbin.tools.map(({ name }) => name),
    ['read_artifact', 'recall'],
  );
  const call = { kind: 'call', callId: 'c1', tool: 'read_artifact', args: '{"id":"4be0"}' };
  assert.deepEqual(await bobbin.answer(call, [textMessage('user', 'Hi')]), {
    role: 'tool',
    parts: [
      {
        kind: 'result',
        callId: 'c1',
        tool: 'read_artifact',
        content: [{ kind: 'text', text: 'There is no artifact 4be0.' }],
      },
    ],
  });
});
