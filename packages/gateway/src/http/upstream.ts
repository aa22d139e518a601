import type { Readable } from 'node:stream';
import { Pool, type Dispatcher } from 'undici';
import type { GatewayLimits } from '../config/gateway-config.ts';

export interface UpstreamRequest {
  readonly method: string;
  /** The path and the query as the client sent them. */
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer | Readable | null;
}

const VERSION = '/v1';

/** A provider's server, with the connections to it. */
export class Upstream {
  readonly #pool: Pool;
  readonly #base: string;

  /** @throws TypeError, one line, if the address is not one of HTTP. */
  constructor(address: string, limits: GatewayLimits) {
    const url = parsed(address);
    this.#base = url.pathname.replace(/\/+$/, '');
    this.#pool = new Pool(url.origin, {
      connect: { timeout: limits.connectMs },
      headersTimeout: limits.upstreamHeadersMs,
      bodyTimeout: limits.upstreamIdleMs,
    });
  }

  send({ path, ...request }: UpstreamRequest, handler: Dispatcher.DispatchHandler): void {
    this.#pool.dispatch({ ...request, method: request.method, path: this.#at(path) }, handler);
  }

  /** An address may end with the version that the client's path begins with. */
  #at(path: string): string {
    const isVersioned = this.#base.endsWith(VERSION) && path.startsWith(`${VERSION}/`);
    return this.#base + (isVersioned ? path.slice(VERSION.length) : path);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  destroy(): Promise<void> {
    return this.#pool.destroy();
  }
}

function parsed(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw new TypeError(
      `upstream ${JSON.stringify(address)}: must be an address such as https://api.openai.com, without a user`,
    );
  return url;
}
