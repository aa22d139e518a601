import type { ServerResponse } from 'node:http';
import type { JsonObject } from '@bobbin/core/internal';
import type { ProviderName } from '../config/gateway-config.ts';

/** Answers with an error of the gateway's own. */
export function refuse(
  outgoing: ServerResponse,
  provider: ProviderName,
  status: number,
  message: string,
): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  // What the client still sends is not read: the connection cannot be used again.
  outgoing
    .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify(errorBody(provider, status, message)));
}

/** An error of the gateway's own, in the form in which the client's provider reports errors. */
export function errorBody(provider: ProviderName, status: number, message: string): JsonObject {
  const type = ERROR_TYPES[status] ?? 'api_error';
  const error = { type, message: `bobbin gateway: ${message}` };
  return provider === 'anthropic'
    ? { type: 'error', error }
    : { error: { ...error, param: null, code: null } };
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  413: 'request_too_large',
  502: 'api_error',
  503: 'overloaded_error',
};
