import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject, parseJson } from '@bobbin/core/internal';
import type { GatewayLimits, ProviderName } from './config/gateway-config.ts';
import type { Client, Delivered } from './delivery.ts';
import type { ClientRequest } from './fitting/fit.ts';
import { inTime } from './fitting/timely-fit.ts';
import { fitHeaders } from './http/fit-headers.ts';
import { requestHeaders } from './http/headers.ts';
import { plainBody } from './http/plain-body.ts';
import { refuse } from './http/refusal.ts';
import { readBody } from './http/request-body.ts';
import { release, ResponseRelay, type Relayed } from './http/response-relay.ts';
import type { Upstream } from './http/upstream.ts';
import type { TenantNames } from './identity/tenant.ts';
import { endpointOf, providerOf, type Endpoint } from './protocol/endpoint.ts';
import { offerTools, wantsTools, type OfferedRequest } from './tools/offered-tools.ts';
import { ToolTurn, type ToolTurnOptions } from './tools/tool-turn.ts';

export interface ProxyOptions extends ToolTurnOptions {
  readonly upstreams: Readonly<Record<ProviderName, Upstream>>;
  readonly limits: GatewayLimits;
  readonly tenants: TenantNames;
  /** Whether the gateway's tools are offered to clients that do not say. */
  readonly tools: 'on' | 'off';
}

/** Relays requests, those of conversations after it has made them fit. */
export class Proxy {
  readonly #options: ProxyOptions;

  constructor(options: ProxyOptions) {
    this.#options = options;
  }

  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming;
    const endpoint = endpointOf(method, url);
    // Clients that try a WebSocket first fall back to HTTP on this status. Any other upgrade is an offer that need not be taken.
    if (headers.upgrade?.toLowerCase() === 'websocket')
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
    const relay = new ResponseRelay(outgoing, { stallMs: this.#options.limits.clientStallMs });
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
    const { bodyBytes, fitBytes } = this.#options.limits;
    const { provider } = endpoint.protocol;
    const body = await readBody(incoming, bodyBytes);
    if (body.kind === 'aborted') return undefined;
    if (body.kind === 'too-large')
      return refuse(outgoing, provider, 413, `the body has more than ${bodyBytes} bytes`);
    const { headers } = incoming;
    const plain = plainBody(body.bytes, headers['content-encoding'], fitBytes);
    const bytes = plain instanceof Promise ? await plain : plain;
    const isRead = bytes !== undefined && bytes.length <= fitBytes;
    const request = isRead ? this.#clientRequest(endpoint, incoming, bytes, body.bytes) : undefined;
    return request === undefined
      ? this.#relayBytes(endpoint, incoming, outgoing, body.bytes)
      : this.#exchange(request, { incoming, outgoing });
  }

  /** A request that can be read; undefined if it is not one of the protocol's. */
  #clientRequest(
    endpoint: Endpoint,
    { headers, socket }: IncomingMessage,
    bytes: Buffer,
    sent: Buffer,
  ): ClientRequest | undefined {
    const body = parseJson(bytes.toString('utf8'));
    if (!isJsonObject(body) || typeof body['model'] !== 'string') return undefined;
    const tenant = this.#options.tenants(headers, socket);
    return { tenant, endpoint, model: body['model'], headers, bytes, sent, body };
  }

  async #relayBytes(
    { protocol: { provider } }: Endpoint,
    { method = 'POST', url = '/', rawHeaders }: IncomingMessage,
    outgoing: ServerResponse,
    body: Buffer,
  ): Promise<void> {
    const relay = new ResponseRelay(outgoing, { stallMs: this.#options.limits.clientStallMs });
    const headers = requestHeaders(rawHeaders);
    this.#options.upstreams[provider].send({ method, path: url, headers, body }, relay);
    this.#reportFailure(outgoing, provider, await relay.done);
  }

  async #exchange(request: ClientRequest, client: Client): Promise<void> {
    const { delivery } = this.#options;
    const offered = this.#wantsTools(request) ? await this.#offered(request) : undefined;
    const relayed =
      offered === undefined
        ? this.#delivered(await delivery.deliver(request, client), client)
        : await new ToolTurn(this.#options, request, offered, client).run();
    this.#reportFailure(client.outgoing, request.endpoint.protocol.provider, relayed);
  }

  #wantsTools({ endpoint, headers }: ClientRequest): boolean {
    const { tools, mostRounds } = this.#options;
    return endpoint.kind === 'answer' && mostRounds > 0 && wantsTools(headers, tools);
  }

  /** The request with the gateway's tools; undefined if it cannot have them, or not in time. */
  #offered(request: ClientRequest): Promise<OfferedRequest | undefined> {
    const { ledger, observer, limits } = this.#options;
    const notOffered = (reason: string): undefined => {
      observer.log.warn({ reason }, 'tools are not offered');
      return undefined;
    };
    const offered = offerTools(request, ledger).catch((error: unknown) =>
      notOffered(String(error)),
    );
    return inTime<OfferedRequest | undefined>(offered, limits.ownWorkMs, () =>
      notOffered(`no result after ${limits.ownWorkMs} ms`),
    );
  }

  /** Gives the client a refusal that was held. */
  #delivered({ fit, relayed }: Delivered, { outgoing }: Client): Relayed {
    if (relayed.kind === 'held' && !outgoing.destroyed)
      release(outgoing, relayed, fitHeaders(fit), this.#options.limits.clientStallMs);
    return relayed;
  }

  #reportFailure(outgoing: ServerResponse, provider: ProviderName, relayed: Relayed): void {
    if (relayed.kind === 'failed' && !relayed.begun)
      refuse(outgoing, provider, 502, `the upstream did not answer: ${relayed.error.message}`);
  }
}
