import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { contextLimitOf, redactSecrets } from '@bobbin/core';
import { isJsonObject, parseJson, type ContextLimit } from '@bobbin/core/internal';
import { AnswerRecorder } from './answer/answer-reader.ts';
import type { GatewayLimits, ProviderName } from './config/gateway-config.ts';
import type { ClientRequest, Fit } from './fitting/fit.ts';
import type { Fitter } from './fitting/fitter.ts';
import { fitInTime } from './fitting/timely-fit.ts';
import { requestHeaders, withoutCompression } from './http/headers.ts';
import { plainBody } from './http/plain-body.ts';
import { refuse } from './http/refusal.ts';
import { readBody } from './http/request-body.ts';
import { release, ResponseRelay, type HeldResponse, type Relayed } from './http/response-relay.ts';
import type { Upstream } from './http/upstream.ts';
import { tenantOf } from './identity/tenant.ts';
import { endpointOf, providerOf, type Endpoint } from './protocol/endpoint.ts';
import type { ExchangeLog, ExchangeRecord } from './ledger/exchange-record.ts';

export interface ProxyOptions {
  readonly upstreams: Readonly<Record<ProviderName, Upstream>>;
  readonly limits: GatewayLimits;
  readonly tenantKey: string;
  readonly fitter: Fitter;
  readonly exchanges: ExchangeLog;
}

/** Statuses with which providers refuse a request as too long. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/** Relays requests, those of conversations after it has made them fit. */
export class Proxy {
  readonly #options: ProxyOptions;

  constructor(options: ProxyOptions) {
    this.#options = options;
  }

  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming;
    const endpoint = endpointOf(method, url);
    // Clients that try a WebSocket first fall back to HTTP on this status.
    if (headers.upgrade !== undefined)
      refuse(outgoing, providerOf(url, headers), 426, 'WebSockets are not relayed: use HTTP');
    else if (endpoint === undefined) await this.#relay(incoming, outgoing);
    else await this.#answer(endpoint, incoming, outgoing);
  }

  /** Relays what the gateway does not read, body and answer as they come. */
  async #relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers, rawHeaders } = incoming;
    const provider = providerOf(url, headers);
    const { 'content-length': length, 'transfer-encoding': chunked } = headers;
    const hasBody = Number(length ?? 0) > 0 || chunked !== undefined;
    const relay = new ResponseRelay(outgoing);
    this.#options.upstreams[provider].send(
      {
        method,
        path: url,
        headers: requestHeaders(rawHeaders, length),
        body: hasBody ? incoming : null,
      },
      relay,
    );
    this.#reportFailure(outgoing, provider, await relay.done);
  }

  async #answer(
    endpoint: Endpoint,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    const { bodyBytes } = this.#options.limits;
    const { provider } = endpoint.protocol;
    const body = await readBody(incoming, bodyBytes);
    if (body.kind === 'aborted') return undefined;
    if (body.kind === 'too-large')
      return refuse(outgoing, provider, 413, `the body has more than ${bodyBytes} bytes`);
    const request = await this.#clientRequest(endpoint, incoming.headers, body.bytes);
    return request === undefined
      ? this.#relayBytes(endpoint, incoming, outgoing, body.bytes)
      : this.#exchange(request, incoming, outgoing, body.bytes);
  }

  /** A request that can be read; undefined if it is not one of the protocol's. */
  async #clientRequest(
    endpoint: Endpoint,
    headers: IncomingHttpHeaders,
    sent: Buffer,
  ): Promise<ClientRequest | undefined> {
    const { limits, tenantKey } = this.#options;
    const bytes = await plainBody(sent, headers['content-encoding'], limits.bodyBytes);
    const body = bytes === undefined ? undefined : parseJson(bytes.toString('utf8'));
    if (bytes === undefined || !isJsonObject(body) || typeof body['model'] !== 'string')
      return undefined;
    const tenant = tenantOf(tenantKey, headers);
    return { tenant, endpoint, model: body['model'], headers, bytes, body };
  }

  async #relayBytes(
    { protocol: { provider } }: Endpoint,
    { method = 'POST', url = '/', rawHeaders }: IncomingMessage,
    outgoing: ServerResponse,
    body: Buffer,
  ): Promise<void> {
    const relay = new ResponseRelay(outgoing);
    const headers = requestHeaders(rawHeaders);
    this.#options.upstreams[provider].send({ method, path: url, headers, body }, relay);
    this.#reportFailure(outgoing, provider, await relay.done);
  }

  async #exchange(
    request: ClientRequest,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    sent: Buffer,
  ): Promise<void> {
    const { fitter, limits, exchanges } = this.#options;
    const record = exchanges.open(request, randomUUID());
    try {
      const fit = await fitInTime(fitter, request, limits.ownWorkMs);
      record.sent(fit);
      const first = await this.#send(request, fit, incoming, outgoing, sent, record);
      const relayed =
        first.kind === 'held'
          ? await this.#afterRefusal(request, fit, first, incoming, outgoing, sent, record)
          : first;
      this.#reportFailure(outgoing, request.endpoint.protocol.provider, relayed);
      record.done(relayed);
    } finally {
      record.close();
    }
  }

  #send(
    { endpoint, bytes }: ClientRequest,
    fit: Fit,
    { method = 'POST', url = '/', rawHeaders }: IncomingMessage,
    outgoing: ServerResponse,
    sent: Buffer,
    record: ExchangeRecord,
  ): Promise<Relayed> {
    const { protocol, kind } = endpoint;
    const recorder = new AnswerRecorder(protocol.newReader());
    record.answeredBy(recorder);
    const canRetry = kind === 'answer' && fit.action !== 'retried' && isFitted(fit);
    const relay = new ResponseRelay(outgoing, {
      headers: fitHeaders(fit),
      holds: (status) => canRetry && REFUSALS.has(status),
      onStart: (_, headers) => recorder.start(headers['content-type'] ?? ''),
      onData: (chunk) => recorder.data(chunk),
    });
    // A body that is not changed goes out in the compression in which it came.
    const isAsSent = fit.bytes === bytes;
    const headers = withoutCompression(requestHeaders(rawHeaders));
    this.#options.upstreams[protocol.provider].send(
      {
        method,
        path: url,
        headers: isAsSent ? headers : withoutEncoding(headers),
        body: isAsSent ? sent : fit.bytes,
      },
      relay,
    );
    return relay.done;
  }

  /** Compacts hard and sends once more if the provider refused the request as too long. */
  async #afterRefusal(
    request: ClientRequest,
    fit: Fit,
    held: HeldResponse,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    sent: Buffer,
    record: ExchangeRecord,
  ): Promise<Relayed> {
    const refusal = contextLimitOf({ status: held.status, body: held.body.toString('utf8') });
    const smaller = refusal === undefined ? undefined : await this.#smaller(request, fit, refusal);
    if (smaller === undefined) {
      if (!outgoing.destroyed) release(outgoing, held, fitHeaders(fit));
      return { kind: 'relayed', status: held.status };
    }
    record.sent(smaller);
    return this.#send(request, smaller, incoming, outgoing, sent, record);
  }

  async #smaller(
    request: ClientRequest,
    fit: Fit,
    refusal: ContextLimit,
  ): Promise<Fit | undefined> {
    try {
      const { taken } = (await fit.pending) ?? fit;
      return taken === undefined
        ? undefined
        : await this.#options.fitter.refit(request, taken, refusal);
    } catch {
      return undefined;
    }
  }

  #reportFailure(outgoing: ServerResponse, provider: ProviderName, relayed: Relayed): void {
    if (relayed.kind === 'failed' && !relayed.begun)
      refuse(outgoing, provider, 502, `the upstream did not answer: ${relayed.error.message}`);
  }
}

function isFitted({ taken, pending }: Fit): boolean {
  return taken !== undefined || pending !== undefined;
}

function withoutEncoding(headers: readonly string[]): string[] {
  return headers.filter((_, i) => headers[i - (i % 2)]?.toLowerCase() !== 'content-encoding');
}

const LONGEST_REASON = 200;

/** What the client learns of what was done. */
function fitHeaders({ action, reason, taken }: Fit): Record<string, string> {
  return {
    'x-bobbin-action': action,
    ...(reason === undefined ? {} : { 'x-bobbin-reason': headerText(reason) }),
    ...(taken === undefined
      ? {}
      : {
          'x-bobbin-thread': encodeURIComponent(taken.thread),
          'x-bobbin-tokens-before': String(taken.tokensBefore),
          'x-bobbin-tokens-after': String(taken.tokensAfter),
        }),
  };
}

function headerText(text: string): string {
  return redactSecrets(text)
    .slice(0, LONGEST_REASON)
    .replace(/[^\x20-\x7e]/g, '?');
}
