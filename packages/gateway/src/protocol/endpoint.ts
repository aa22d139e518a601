import type { IncomingHttpHeaders } from 'node:http';
import type { ProviderName } from '../config/gateway-config.ts';
import { anthropic } from './anthropic.ts';
import { chat } from './chat.ts';
import type { Protocol } from './protocol.ts';
import { responses } from './responses.ts';

/** A request that the gateway reads. */
export interface Endpoint {
  readonly protocol: Protocol;
  /** `count`: the client asks how large a request would be; no model answers. */
  readonly kind: 'answer' | 'count';
}

const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map([
  ['/chat/completions', { protocol: chat, kind: 'answer' }],
  ['/responses', { protocol: responses, kind: 'answer' }],
  ['/messages', { protocol: anthropic, kind: 'answer' }],
  ['/messages/count_tokens', { protocol: anthropic, kind: 'count' }],
]);

/** The protocol of a name. What no gateway has sent yet is shown as Chat Completions would have it. */
export function protocolOf(name: string | undefined): Protocol {
  return [responses, anthropic].find((protocol) => protocol.name === name) ?? chat;
}

/** The endpoint of a request; undefined for anything that is relayed as it is. */
export function endpointOf(method: string, url: string): Endpoint | undefined {
  if (method !== 'POST') return undefined;
  const [path = ''] = url.split('?', 1);
  return ENDPOINTS.get(path.startsWith('/v1/') ? path.slice(3) : path);
}

/** Whose upstream a request that the gateway does not read goes to. */
export function providerOf(url: string, headers: IncomingHttpHeaders): ProviderName {
  const isAnthropic =
    headers['anthropic-version'] !== undefined ||
    headers['x-api-key'] !== undefined ||
    /^\/(?:v1\/)?messages(?:\/|\?|$)/.test(url);
  return isAnthropic ? 'anthropic' : 'openai';
}
