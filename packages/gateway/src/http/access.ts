import { timingSafeEqual, createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { providerOf } from '../protocol/endpoint.ts';
import { refuse } from './refusal.ts';

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

export interface AccessOptions {
  readonly host: string;
  /** What clients must send to have requests relayed. */
  readonly token: string | undefined;
  /** What the API demands: it shows the conversations of all clients, which the token of a client must not open. */
  readonly apiToken: string | undefined;
}

/** Decides who may use the gateway. */
export class Access {
  readonly #token: Buffer | undefined;
  readonly #apiToken: Buffer | undefined;
  readonly #isLocal: boolean;

  constructor({ host, token = '', apiToken = '' }: AccessOptions) {
    this.#token = token === '' ? undefined : digest(token);
    this.#apiToken = apiToken === '' ? undefined : digest(apiToken);
    this.#isLocal = isLoopback(host);
  }

  /** True if a client may have its requests relayed; if not, it is answered. */
  allows(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { headers, url = '/' } = incoming;
    const provider = providerOf(url, headers);
    if (!this.hasToken(headers['x-bobbin-token']))
      refuse(outgoing, provider, 401, 'send its token in the header x-bobbin-token');
    else if (this.#isStrangers(headers))
      refuse(
        outgoing,
        provider,
        403,
        `pages of ${headers.origin ?? 'other sites'} may not use the gateway`,
      );
    else return true;
    return false;
  }

  /** True for a page of another site, which a visitor's browser must not let in. Programs name no origin. */
  #isStrangers({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
    if (this.#token !== undefined || !this.#isLocal) return false;
    if (origin === undefined) return site === 'cross-site' || site === 'same-site';
    return /^https?:/.test(origin)
      ? !this.isOwnHost(URL.parse(origin)?.host ?? origin)
      : origin === 'null';
  }

  /** True if what was sent is the clients' token, or if they need none. */
  hasToken(sent: unknown): boolean {
    return this.#token === undefined || isToken(sent, this.#token);
  }

  /** Why the API is closed to who sent something as a token; undefined if it is open. */
  apiRefusal(sent: unknown): readonly [401 | 403, string] | undefined {
    if (this.#apiToken !== undefined)
      return isToken(sent, this.#apiToken)
        ? undefined
        : [401, "send the API's token in the header x-bobbin-token"];
    return this.#token === undefined
      ? undefined
      : [403, 'the API is closed: start the gateway with --api-token to open it'];
  }

  /**
   * True if a name that a browser was given leads to this gateway and not to another site. On loopback any other name
   * is one that a stranger's server chose to point here.
   */
  isOwnHost(host: string | undefined): boolean {
    if (!this.#isLocal) return true;
    const name = (host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    return isLoopback(name);
  }
}

function isToken(sent: unknown, token: Buffer): boolean {
  return typeof sent === 'string' && timingSafeEqual(digest(sent), token);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
