import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import type { ThreadId } from '@bobbin/core';
import { providerServer, scriptedSummarizer } from '@bobbin/testing';
import { runningGateway, until } from './running-gateway.ts';

const LONG = 'The pilot boat left the mole at dawn and came back with the tide. '.repeat(30);

test('under soft pressure a model summarises between requests, and no request waits for it', async (t) => {
  const provider = await providerServer('openai-chat', {
    forever: {
      kind: 'answer',
      text: 'Yes.',
      usage: ({ body }) => ({ inputTokens: Math.ceil(JSON.stringify(body).length / 4) }),
    },
  });
  t.after(() => provider.close());
  const summarizer = scriptedSummarizer({ kind: 'good' }, { kind: 'good' }, { kind: 'good' });
  const gateway = await runningGateway(t, {
    upstreams: { openai: provider.origin },
    policies: [{ model: '', windowTokens: 12_000, softShare: 0.7, requestsToCome: 100 }],
    summarizer,
  });
  const client = new OpenAI({ apiKey: 'k', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  const actions: string[] = [];
  const thread = 'boat' as ThreadId;
  for (let turn = 0; turn < 40 && !actions.includes('continued'); turn++) {
    messages.push({ role: 'user', content: `${turn} ${LONG}` });
    const { data, response } = await client.chat.completions
      .create({ model: 'gpt-5', messages }, { headers: { 'x-bobbin-thread': thread } })
      .withResponse();
    messages.push(data.choices[0]?.message as OpenAI.ChatCompletionMessageParam);
    actions.push(response.headers.get('x-bobbin-action') ?? '');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual([...new Set(actions)], ['unchanged', 'continued']);
  assert.ok(summarizer.requests.length > 0);
  const [owner = ''] = await gateway.store.tenants();
  await until(
    async () => (await gateway.store.plan({ tenant: owner, thread }, 1)) !== undefined,
    'a plan is committed',
  );
});
