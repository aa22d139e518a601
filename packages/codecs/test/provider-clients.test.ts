import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type Message,
} from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI, type Content } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { createBobbin } from '@bobbin/core';
import { modelFacts } from '@bobbin/core/internal';
import {
  anthropic,
  bedrock,
  bedrockCacheMarkers,
  gemini,
  openaiResponses,
  responseUsage,
  type AnthropicMessage,
} from '@bobbin/codecs';
import { providerServer, type ProviderServer } from '@bobbin/testing';

const STEPS = 60;
const LOOK = { kind: 'call', tool: 'look', args: { path: 'src/a.ts' } } as const;

function seen(step: number): string {
  return `file ${step}: ${'words of it '.repeat(60)}`;
}

function googleAt({ origin }: ProviderServer): GoogleGenAI {
  return new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: origin } });
}

test('Gemini: a loop of Google’s own client is never refused while it compacts', async (t) => {
  const server = await providerServer('gemini', { forever: LOOK });
  t.after(() => server.close());
  const { models } = googleAt(server);
  const bobbin = createBobbin({ codec: gemini, window: 8_000 });
  const history: Content[] = [{ role: 'user', parts: [{ text: 'Look at everything.' }] }];
  let compactions = 0;
  for (let step = 0; step < STEPS; step++) {
    const { messages, compacted } = await bobbin.fit(history);
    compactions += compacted ? 1 : 0;
    const answer = await models.generateContent({ model: 'gemini-3-pro', contents: [...messages] });
    const content = answer.candidates?.[0]?.content;
    const [call] = answer.functionCalls ?? [];
    assert.ok(content && call);
    const { id = '', name = '' } = call;
    const response = { id, name, response: { output: seen(step) } };
    history.push(content, { role: 'user', parts: [{ functionResponse: response }] });
    if (step % 20 === 19) history.push({ role: 'user', parts: [{ text: 'Go on, please.' }] });
  }
  server.expectDone();
  assert.ok(compactions >= 3, `${compactions} compactions`);
});

test('Gemini: the scripted server refuses what Google refuses, in its words', async (t) => {
  const server = await providerServer(
    'gemini',
    { kind: 'answer', text: 'Hi' },
    { kind: 'overflow' },
  );
  t.after(() => server.close());
  const { models } = googleAt(server);
  const ask = (contents: Content[]): Promise<unknown> =>
    models.generateContent({ model: 'gemini-3-pro', contents });
  const user = { role: 'user', parts: [{ text: 'Hi' }] };
  const hi = await models.generateContent({ model: 'gemini-3-pro', contents: [user] });
  assert.equal(hi.text, 'Hi');
  assert.deepEqual(responseUsage(hi), {
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
    compacted: false,
    appliedEdits: [],
  });
  await assert.rejects(ask([user]), /exceeds the maximum number of tokens allowed/);
  const call = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] };
  await assert.rejects(ask([user, call, user]), /a call without its result/);
});

test('Gemini: a stream is an answer too', async (t) => {
  const server = await providerServer('gemini', { kind: 'answer', text: 'In pieces' });
  t.after(() => server.close());
  const stream = await googleAt(server).models.generateContentStream({
    model: 'gemini-3-pro',
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
  });
  let text = '';
  for await (const chunk of stream) text += chunk.text ?? '';
  assert.equal(text, 'In pieces');
});

function bedrockAt({ origin }: ProviderServer): BedrockRuntimeClient {
  const credentials = { accessKeyId: 'id', secretAccessKey: 'key' };
  return new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: origin,
    credentials,
    maxAttempts: 1,
    // The client speaks HTTP/2 by default, which the scripted server does not.
    requestHandler: new NodeHttpHandler(),
  });
}

const TOOLS = {
  tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }],
};

test('Bedrock: a loop of AWS’s own client is never refused while it compacts, and caches', async (t) => {
  const server = await providerServer('bedrock', { forever: LOOK });
  t.after(() => server.close());
  const client = bedrockAt(server);
  t.after(() => client.destroy());
  const bobbin = createBobbin({ codec: bedrock, window: 8_000, model: 'claude-opus-5' });
  const image = { image: { format: 'png' as const, source: { bytes: new Uint8Array(64) } } };
  const history: Message[] = [{ role: 'user', content: [{ text: 'Look at everything.' }, image] }];
  let compactions = 0;
  for (let step = 0; step < STEPS; step++) {
    const { messages, compacted, prompt } = await bobbin.fit(history);
    compactions += compacted ? 1 : 0;
    const request = bedrockCacheMarkers(
      { modelId: 'm', messages: [...messages], toolConfig: TOOLS },
      prompt,
    );
    const { output } = await client.send(new ConverseCommand(request as never));
    const message = output?.message;
    const toolUseId = message?.content?.[0]?.toolUse?.toolUseId;
    assert.ok(message && toolUseId !== undefined);
    const result = { toolResult: { toolUseId, content: [{ text: seen(step) }] } };
    const words = step % 20 === 19 ? [{ text: 'Go on, please.' }] : [];
    history.push(message, { role: 'user', content: [result, ...words] });
  }
  server.expectDone();
  assert.ok(compactions >= 3, `${compactions} compactions`);
  const cached = server.requests.filter(({ body }) => JSON.stringify(body).includes('cachePoint'));
  assert.ok(cached.length > 0 || modelFacts('claude-opus-5').cache === undefined);
  const [first] = server.requests;
  assert.match(JSON.stringify(first?.body), /"bytes":"A{80,}=*"/, 'bytes arrive as base64');
});

test('Bedrock: the scripted server refuses what Bedrock refuses, as AWS’s client reports it', async (t) => {
  const server = await providerServer('bedrock', { kind: 'overflow' });
  t.after(() => server.close());
  const client = bedrockAt(server);
  t.after(() => client.destroy());
  const user: Message = { role: 'user', content: [{ text: 'Hi' }] };
  const ask = (messages: Message[]): Promise<unknown> =>
    client.send(new ConverseCommand({ modelId: 'm', messages }));
  await assert.rejects(ask([user]), { name: 'ValidationException', message: /too long/ });
  await assert.rejects(ask([user, user]), { name: 'ValidationException', message: /alternate/ });
  const call: Message = {
    role: 'assistant',
    content: [{ toolUse: { toolUseId: 't', name: 'look', input: {} } }],
  };
  const result: Message = {
    role: 'user',
    content: [{ toolResult: { toolUseId: 't', content: [{ text: 'r' }] } }],
  };
  await assert.rejects(ask([user, call, result]), { message: /toolConfig/ });
});

async function post({ url }: ProviderServer, path: string, body: object): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    'x-api-key': 'key',
    authorization: 'Bearer key',
    'anthropic-version': '2023-06-01',
  };
  return fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

test('H1 the scripted Anthropic server refuses a running loop without its thinking', async (t) => {
  const server = await providerServer('anthropic', { kind: 'answer', text: 'Hi' });
  t.after(() => server.close());
  const use = { type: 'tool_use', id: 't', name: 'look', input: {} };
  const messages = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [use] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'r' }] },
  ];
  const request = { model: 'm', max_tokens: 2_000, messages };
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const refused = await post(server, '/messages', { ...request, thinking });
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /a final assistant message must start with a thinking block/);
});

test('Anthropic: the server drops what precedes its newest compaction, and a summary goes after it', async (t) => {
  const server = await providerServer(
    'anthropic',
    { kind: 'compact', summary: 'We use metric units.', text: 'On it.' },
    { forever: { kind: 'answer', text: 'Yes.' } },
  );
  t.after(() => server.close());
  const bobbin = createBobbin({ codec: anthropic, window: 6_000 });
  const history: AnthropicMessage[] = [{ role: 'user', content: 'OLD WORDS. Use metric units.' }];
  const ask = async (): Promise<Record<string, unknown>> => {
    const { messages } = await bobbin.fit(history);
    const response = await post(server, '/messages', { model: 'm', max_tokens: 100, messages });
    return (await response.json()) as Record<string, unknown>;
  };
  const first = await ask();
  assert.deepEqual(responseUsage(first), {
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
    compacted: true,
    appliedEdits: [],
  });
  history.push({ role: 'assistant', content: first['content'] as [] });
  for (let i = 0; i < 30; i++) {
    history.push({ role: 'user', content: `Never touch file-${i}.ts. ${'word '.repeat(80)}` });
    const { content } = await ask();
    history.push({ role: 'assistant', content: content as [] });
  }
  server.expectDone();
  const [, second] = server.requests;
  assert.doesNotMatch(second?.text ?? '', /OLD WORDS/);
  const last = server.requests.at(-1);
  assert.match(last?.text ?? '', /We use metric units/);
  assert.match(last?.text ?? '', /file-0\.ts/, 'what Bobbin summarised is read');
});

test('OpenAI Responses: a compaction item and what the user said before it are read', async (t) => {
  const server = await providerServer(
    'openai-responses',
    { kind: 'compact', summary: 'We use metric units.', text: 'On it.' },
    { kind: 'answer', text: 'Yes.' },
  );
  t.after(() => server.close());
  const bobbin = createBobbin({ codec: openaiResponses });
  const history: object[] = [
    { role: 'user', content: 'Use metric units.' },
    { role: 'assistant', content: 'OLD ANSWER' },
    { role: 'user', content: 'Go on.' },
  ];
  const ask = async (): Promise<{ output: object[] }> => {
    const { messages } = await bobbin.fit(history);
    const response = await post(server, '/responses', { model: 'm', input: messages });
    return (await response.json()) as { output: object[] };
  };
  const first = await ask();
  assert.equal(responseUsage(first)?.compacted, true);
  history.push(...first.output, { role: 'user', content: 'And now?' });
  await ask();
  server.expectDone();
  const last = server.requests.at(-1);
  assert.doesNotMatch(last?.text ?? '', /OLD ANSWER/);
  assert.match(last?.text ?? '', /Use metric units\.\n[^]*We use metric units\./);
});

test('the usage of a response that only compacted is not the size of a context', () => {
  const counted = { input_tokens: 9_000, output_tokens: 300 };
  const usage = {
    input_tokens: 0,
    output_tokens: 0,
    iterations: [{ type: 'compaction', ...counted }],
  };
  assert.deepEqual(
    responseUsage({
      content: [{ type: 'compaction', content: 'S' }],
      stop_reason: 'compaction',
      usage,
      context_management: {
        applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 3 }],
      },
      diagnostics: { cache_miss_reason: { type: 'tools_changed' } },
    }),
    {
      compacted: true,
      appliedEdits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 3 }],
      cacheMiss: 'tools_changed',
    },
  );
  assert.equal(responseUsage({ id: 'x' }), undefined);
  assert.equal(responseUsage('x'), undefined);
});
