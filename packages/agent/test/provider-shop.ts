import type { TestContext } from 'node:test';
import {
  providerServer,
  type DialectName,
  type ProviderServer,
  type ProviderStep,
} from '@bobbin/testing';
import { workshop, type Workshop } from './workshop.ts';

type Steps = readonly (ProviderStep | { readonly forever: ProviderStep })[];

/** Every way in which the agent speaks to a model, with the model and the prefix of its variables. */
export const PROVIDERS = [
  ['anthropic', 'anthropic/claude-sonnet-5-5', 'ANTHROPIC'],
  ['openai-responses', 'openai/gpt-6.1', 'OPENAI'],
  ['openai-chat', 'own/large', 'OWN'],
] as const satisfies readonly (readonly [DialectName, string, string])[];

/** The real client of a provider, on a server that plays the provider. */
export async function asking(
  t: TestContext,
  [dialect, model, prefix]: (typeof PROVIDERS)[number],
  ...steps: Steps
): Promise<{ server: ProviderServer; shop: Workshop }> {
  const server = await providerServer(dialect, ...steps);
  t.after(() => server.close());
  const settings = {
    compaction: { reserveTokens: 1_000 },
    providers: { own: { baseURL: server.url, keyVariable: 'OWN_API_KEY' } },
  };
  const env = { [`${prefix}_API_KEY`]: 'KEY', [`${prefix}_BASE_URL`]: server.url };
  return {
    server,
    shop: await workshop(t, { script: '', model: `${model}@16000`, env, settings }),
  };
}
