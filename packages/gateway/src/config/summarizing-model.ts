import type { Summarizer } from '@bobbin/core';
import { modelFacts } from '@bobbin/core/internal';
import { modelSummarizer } from '@bobbin/models';
import { DEFAULT_UPSTREAMS, type GatewayOptions, type ProviderName } from './gateway-config.ts';
import { SettingError } from './settings.ts';

const KEYS = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
} as const satisfies Record<ProviderName, string>;

/**
 * The model that writes summaries, asked at the gateway's upstream with a key of the gateway's own environment: the
 * credentials of clients pay for nothing that they did not ask for.
 *
 * @throws SettingError, one line, if the environment has no key.
 */
export function summarizingModel(
  model: string,
  { upstreams = {} }: Pick<GatewayOptions, 'upstreams'>,
  env: NodeJS.ProcessEnv,
): Summarizer {
  const provider = modelFacts(model).provider === 'anthropic' ? 'anthropic' : 'openai';
  const apiKey = env['BOBBIN_SUMMARIZER_KEY'] ?? env[KEYS[provider]] ?? '';
  if (apiKey === '')
    throw new SettingError(
      `summarizer ${model}: set BOBBIN_SUMMARIZER_KEY or ${KEYS[provider]}, which pays for the summaries`,
    );
  const base = (upstreams[provider] ?? DEFAULT_UPSTREAMS[provider]).replace(/(?:\/v1)?\/*$/, '/v1');
  const post = (path: string, headers: Record<string, string>) => ({
    create: (body: object, { signal }: { readonly signal: AbortSignal }): Promise<unknown> =>
      answerOf(`${base}${path}`, headers, body, signal),
  });
  const client =
    provider === 'anthropic'
      ? { messages: post('/messages', { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }) }
      : { chat: { completions: post('/chat/completions', { authorization: `Bearer ${apiKey}` }) } };
  return modelSummarizer({ client, model });
}

/** What a provider answered; an error has its status and headers, by which the caller decides what to do. */
async function answerOf(
  url: string,
  headers: Record<string, string>,
  body: object,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as unknown;
  const { status } = response;
  throw Object.assign(new Error(`HTTP ${status}: ${text}`), { status, headers: response.headers });
}
