import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ThreadId } from '@bobbin/core';
import { providerServer, seededRandom, randomText, type ProviderRequest } from '@bobbin/testing';
import { runningGateway, type RunningGateway } from './running-gateway.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Some words of the user's, the same for each turn of each run. */
function said(turn: number): string {
  return `Turn ${turn}: ${randomText(seededRandom(turn + 1), 700)}`;
}

/** What the provider counts. */
function tokensIn({ text }: ProviderRequest): number {
  return Math.ceil(text.length / 4);
}

function usage(request: ProviderRequest): { inputTokens: number; cacheReadTokens: number } {
  return { inputTokens: tokensIn(request), cacheReadTokens: 0 };
}

async function gatewayTo(
  t: TestContext,
  origin: string,
  windowTokens: number,
): Promise<RunningGateway> {
  return runningGateway(t, {
    upstreams: { openai: origin, anthropic: origin },
    policies: [{ model: '', windowTokens }],
  });
}

/** The actions of a thread's requests in their order, equal ones in a row once. */
async function actionsOf(
  { ledger, store }: RunningGateway,
  turns: number,
): Promise<readonly string[]> {
  const [tenant = ''] = await store.tenants();
  const threads = await store.threads(tenant, 10);
  assert.equal(threads.length, 1, `one thread, not ${threads.map(({ thread }) => thread).join()}`);
  const entries = await ledger.entries(tenant, threads[0]?.thread as ThreadId);
  assert.equal(entries.length, turns);
  return entries.map(({ action }) => action).filter((action, i, all) => action !== all[i - 1]);
}

/** Long conversations of the official clients, through a gateway, with a provider that is strict. */
export function longConversations(turns: number, windowTokens: number): void {
  test('A10 B4 OpenAI Chat: a long conversation with tools and images', async (t) => {
    const provider = await providerServer('openai-chat', {
      forever: { kind: 'answer', text: ({ text }) => `I see ${text.length} characters.`, usage },
    });
    t.after(() => provider.close());
    const gateway = await gatewayTo(t, provider.origin, windowTokens);
    const client = new OpenAI({ apiKey: 'sk-1', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'You help.' },
    ];
    for (let turn = 0; turn < turns; turn++) {
      if (turn % 10 === 3) {
        const id = `call_${turn}`;
        const called = { name: 'read', arguments: `{"path":"src/file-${turn}.ts"}` };
        messages.push(
          { role: 'user', content: said(turn) },
          { role: 'assistant', tool_calls: [{ id, type: 'function', function: called }] },
          { role: 'tool', tool_call_id: id, content: randomText(seededRandom(turn), 4_000) },
        );
      } else if (turn % 50 === 7) {
        const url = `data:image/png;base64,${PIXEL}`;
        const content = [
          { type: 'text' as const, text: said(turn) },
          { type: 'image_url' as const, image_url: { url } },
        ];
        messages.push({ role: 'user', content });
      } else messages.push({ role: 'user', content: said(turn) });
      const isStream = turn % 2 === 1;
      if (isStream) {
        const stream = await client.chat.completions.create({
          model: 'gpt-5',
          messages,
          stream: true,
        });
        let content = '';
        for await (const { choices } of stream) content += choices[0]?.delta.content ?? '';
        messages.push({ role: 'assistant', content });
      } else {
        const answer = await client.chat.completions.create({ model: 'gpt-5', messages });
        messages.push(answer.choices[0]?.message as OpenAI.ChatCompletionMessageParam);
      }
    }
    provider.expectDone();
    const longest = Math.max(...provider.requests.map(tokensIn));
    assert.ok(longest <= windowTokens, `the longest request has ${longest} tokens`);
    const [unchanged, compacted, continued] = await actionsOf(gateway, turns);
    assert.deepEqual([unchanged, compacted, continued], ['unchanged', 'compacted', 'continued']);
  });

  test('OpenAI Responses: a long conversation with tools and reasoning', async (t) => {
    const provider = await providerServer('openai-responses', {
      forever: { kind: 'answer', text: 'Noted.', usage },
    });
    t.after(() => provider.close());
    const gateway = await gatewayTo(t, provider.origin, windowTokens);
    const client = new OpenAI({ apiKey: 'sk-1', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const input: OpenAI.Responses.ResponseInputItem[] = [];
    for (let turn = 0; turn < turns; turn++) {
      input.push({ role: 'user', content: said(turn) });
      if (turn % 10 === 3) {
        const call_id = `call_${turn}`;
        const args = JSON.stringify({ path: `src/file-${turn}.ts` });
        input.push(
          { type: 'reasoning', id: `rs_${turn}`, summary: [], encrypted_content: `opaque${turn}` },
          { type: 'function_call', call_id, name: 'read', arguments: args },
          {
            type: 'function_call_output',
            call_id,
            output: randomText(seededRandom(turn), 4_000),
          },
        );
      }
      const request = { model: 'gpt-5', instructions: 'Be brief.', input, store: false };
      if (turn % 2 === 1) {
        const stream = await client.responses.create({ ...request, stream: true });
        for await (const event of stream)
          if (event.type === 'response.completed')
            input.push(...(event.response.output as typeof input));
      } else input.push(...((await client.responses.create(request)).output as typeof input));
    }
    provider.expectDone();
    const longest = Math.max(...provider.requests.map(tokensIn));
    assert.ok(longest <= windowTokens, `the longest request has ${longest} tokens`);
    assert.deepEqual((await actionsOf(gateway, turns)).slice(0, 3), [
      'unchanged',
      'compacted',
      'continued',
    ]);
  });

  test('Anthropic Messages: a long conversation with tools, thinking and cache markers', async (t) => {
    const provider = await providerServer('anthropic', {
      forever: { kind: 'answer', text: 'Noted.', usage },
    });
    t.after(() => provider.close());
    const gateway = await gatewayTo(t, provider.origin, windowTokens);
    const client = new Anthropic({ apiKey: 'sk-1', baseURL: gateway.url, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [];
    const system = [
      { type: 'text' as const, text: 'Help.', cache_control: { type: 'ephemeral' as const } },
    ];
    const tools: Anthropic.Tool[] = [{ name: 'read', input_schema: { type: 'object' } }];
    for (let turn = 0; turn < turns; turn++) {
      messages.push({ role: 'user', content: said(turn) });
      if (turn % 10 === 3) {
        const id = `toolu_${turn}`;
        const input = { path: `src/file-${turn}.ts` };
        const content = randomText(seededRandom(turn), 4_000);
        messages.push(
          { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
        );
      }
      const request = { model: 'claude-haiku-4-5', max_tokens: 1_000, system, tools, messages };
      const answer =
        turn % 2 === 1
          ? await client.messages.stream(request).finalMessage()
          : await client.messages.create(request);
      messages.push({ role: 'assistant', content: answer.content });
    }
    provider.expectDone();
    const longest = Math.max(...provider.requests.map(tokensIn));
    assert.ok(longest <= windowTokens, `the longest request has ${longest} tokens`);
    assert.deepEqual((await actionsOf(gateway, turns)).slice(0, 3), [
      'unchanged',
      'compacted',
      'continued',
    ]);
  });
}
