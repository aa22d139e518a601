import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { pino } from 'pino';
import { apiRoutes } from './api/routes.ts';
import { ThreadAccess } from './api/thread-access.ts';
import {
  DEFAULT_LIMITS,
  DEFAULT_UPSTREAMS,
  type GatewayLimits,
  type GatewayOptions,
  type ProviderName,
} from './config/gateway-config.ts';
import { Delivery } from './delivery.ts';
import { policyProblem } from './config/model-policy.ts';
import { BackgroundCompaction } from './fitting/background-compaction.ts';
import { ConversationPool } from './fitting/conversation-pool.ts';
import { Fitter } from './fitting/fitter.ts';
import { Access, isLoopback } from './http/access.ts';
import { Upstream } from './http/upstream.ts';
import { tenantNames } from './identity/tenant.ts';
import { ExchangeLog } from './ledger/exchange-record.ts';
import { Observer } from './observe/observer.ts';
import { ownRoutes, isOwnPath } from './own-routes.ts';
import { Proxy } from './proxy.ts';

/** Longer than load balancers keep a connection idle (most: 60 s), so that none sends on one that is being closed. */
const KEEP_ALIVE_MS = 75_000;

/** A gateway that listens. */
export interface Gateway {
  /** Where clients find it, without a path. */
  readonly url: string;
  /** Resolves when every answer that has ended is recorded in the ledger. */
  recorded(): Promise<void>;
  /** Takes no more requests, finishes those under way, and resolves when all of it is recorded. */
  close(): Promise<void>;
}

/**
 * Starts a gateway. The stores that it is given stay open when it is closed.
 *
 * @throws TypeError, one line, if an option is not what it should be.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { host = '127.0.0.1', port = 0, token, policies = [], models = {} } = options;
  if (!isLoopback(host) && (token ?? '') === '')
    throw new TypeError(
      `host ${host} can be reached from other machines: give a token that clients must send, or listen on 127.0.0.1`,
    );
  for (const [i, policy] of policies.entries()) {
    const problem = policyProblem(policy);
    if (problem !== undefined) throw new TypeError(`policies[${i}].${problem}`);
  }
  for (const [name, address] of Object.entries(options.upstreams ?? {}))
    if (port !== 0 && isSelf(address, host, port))
      throw new TypeError(`upstream ${name}: ${address} is this gateway itself`);
  const limits: GatewayLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const upstreams = upstreamsOf(options, limits);
  const observer = new Observer(options.logger ?? pino({ level: 'silent' }));
  const { store, artifacts, ledger } = options;
  const stores = { store, artifacts, ledger };
  const pool = new ConversationPool({
    stores,
    policies,
    models,
    openConversations: limits.openConversations,
    memoryBytes: limits.memoryBytes,
    softPressure: options.summarizer === undefined ? 'before' : 'between',
    onEvent: (tenant, event) => observer.event(tenant, event),
  });
  const { summarizer } = options;
  const background =
    summarizer === undefined
      ? undefined
      : new BackgroundCompaction({ stores, policies, models, summarizer, observer });
  const exchanges = new ExchangeLog({ ledger, observer, models, background });
  const tenantKey = options.tenantKey ?? Buffer.from(await ledger.secret()).toString('base64');
  const delivery = new Delivery({
    upstreams,
    limits,
    fitter: new Fitter(pool),
    exchanges,
    observer,
  });
  const proxy = new Proxy({
    upstreams,
    limits,
    tenants: tenantNames(tenantKey),
    delivery,
    ledger,
    observer,
    memory: { store, artifacts },
    tools: options.tools ?? 'off',
    mostRounds: limits.toolRounds,
    ownWorkMs: limits.ownWorkMs,
    stallMs: limits.clientStallMs,
  });
  const access = new Access({ host, token, apiToken: options.apiToken });
  const ending = new AbortController();
  const closing = ending.signal;
  const threads = new ThreadAccess({ ...stores, policies, models, observer, closing });
  const routes = apiRoutes(threads);
  const own = getRequestListener(
    ownRoutes({ observer, access, routes, bodyBytes: limits.bodyBytes }).fetch,
  );
  const server = createServer(
    {
      requestTimeout: limits.clientRequestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: limits.clientHeadersMs,
      connectionsCheckingInterval: Math.min(5_000, limits.clientHeadersMs / 2),
    },
    (incoming, outgoing) => {
      outgoing.on('error', () => undefined);
      void answer(incoming, outgoing).catch((error: unknown) => {
        observer.log.error({ reason: String(error) }, 'a request failed');
        outgoing.destroy();
      });
    },
  );

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    incoming.url = originForm(incoming.url ?? '/');
    // A load balancer must not send more on a connection of a gateway that ends.
    if (closing.aborted) outgoing.shouldKeepAlive = false;
    if (isOwnPath(incoming.url)) {
      // What a client has seen is in the figures that it asks for next, unless the ledger is slow.
      await within(exchanges.recorded(), limits.ownWorkMs);
      return own(incoming, outgoing);
    }
    if (!access.allows(incoming, outgoing)) return undefined;
    return proxy.handle(incoming, outgoing);
  }

  await listening(server, host, port);
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    recorded: () => exchanges.recorded(),
    async close() {
      ending.abort();
      await drained(server, limits.drainMs);
      // A store that no longer answers must not keep the process.
      await within(exchanges.settle(), limits.drainMs);
      await within(background?.close() ?? Promise.resolve(), limits.drainMs);
      await Promise.all(Object.values(upstreams).map((upstream) => upstream.destroy()));
    },
  };
}

/** The path of a request that names the whole address, as one to a proxy does. */
function originForm(target: string): string {
  const url = /^https?:/i.test(target) ? URL.parse(target) : null;
  return url === null ? target : url.pathname + url.search;
}

/** True for an address that means all addresses of this machine. */
const isAnyAddress = (name: string): boolean => name === '0.0.0.0' || name === '::';

/** True if an address leads back to a gateway that listens at a port. */
function isSelf(address: string, host: string, port: number): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  const other = url.port || (url.protocol === 'https:' ? '443' : '80');
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return other === `${port}` && (name === host || isLoopback(name) || isAnyAddress(name));
}

function upstreamsOf(
  { upstreams = {} }: GatewayOptions,
  limits: GatewayLimits,
): Readonly<Record<ProviderName, Upstream>> {
  const of = (name: ProviderName): Upstream =>
    new Upstream(upstreams[name] ?? DEFAULT_UPSTREAMS[name], limits);
  return { openai: of('openai'), anthropic: of('anthropic') };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void =>
      reject(
        error.code === 'EADDRINUSE'
          ? new TypeError(`port ${port} of ${host} is in use: give another with --port`)
          : error,
      );
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

/** Waits for some work, for a time. */
async function within(work: Promise<void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

const IDLE_CHECK_MS = 50;

/** Lets requests under way come to their end, for a time. */
async function drained(server: Server, ms: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const late = setTimeout(() => server.closeAllConnections(), ms);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
