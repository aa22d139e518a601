import type { TestContext } from 'node:test';
import OpenAI from 'openai';
import { providerServer, type ProviderServer } from '@bobbin/testing';
import type { RunningGateway } from './running-gateway.ts';

export type Messages = OpenAI.ChatCompletionMessageParam[];

export async function provider(t: TestContext): Promise<ProviderServer> {
  let answers = 0;
  const server = await providerServer('openai-chat', {
    forever: { kind: 'answer', text: () => `Answer ${++answers}.` },
  });
  t.after(() => server.close());
  return server;
}

export function clientOf({ url }: RunningGateway, apiKey: string = 'sk-1'): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
}

/** Sends a list and adds the answer to it. The thread and the action that the gateway names. */
export async function say(
  client: OpenAI,
  messages: Messages,
  content: string,
  headers: Record<string, string> = {},
): Promise<readonly [thread: string, action: string]> {
  messages.push({ role: 'user', content });
  const { data, response } = await client.chat.completions
    .create({ model: 'gpt-5', messages }, { headers })
    .withResponse();
  messages.push(data.choices[0]?.message as OpenAI.ChatCompletionMessageParam);
  const of = (name: string): string => response.headers.get(`x-bobbin-${name}`) ?? '';
  return [of('thread'), of('action')];
}

export async function threadsOf({
  store,
}: RunningGateway): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const tenant of await store.tenants())
    for (const { thread, length } of await store.threads(tenant, 100)) found[thread] = length;
  return found;
}
