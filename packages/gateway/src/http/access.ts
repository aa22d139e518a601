import { timingSafeEqual, createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { providerOf } from '../protocol/endpoint.ts';
import { refuse } from './refusal.ts';

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

export interface AccessOptions {
  readonly host: string;
  readonly token: string | undefined;
}

/** Decides who may use the gateway. */
export class Access {
  readonly #token: Buffer | undefined;
  readonly #isLocal: boolean;

  constructor({ host, token = '' }: AccessOptions) {
    this.#token = token === '' ? undefined : digest(token);
    this.#isLocal = isLoopback(host);
  }

  /** True if a client may have its requests relayed; if not, it is answered. */
  allows(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { headers, url = '/' } = incoming;
    const provider = providerOf(url, headers);
    if (!this.hasToken(headers['x-bobbin-token']))
      refuse(outgoing, provider, 401, 'send its token in the header x-bobbin-token');
    else if (this.#isStrangers(headers.origin))
      refuse(outgoing, provider, 403, `pages of ${headers.origin} may not use the gateway`);
    else return true;
    return false;
  }

  /** True for a page of another site, which a visitor's browser must not let in. Programs name no origin. */
  #isStrangers(origin: string | undefined): boolean {
    if (origin === undefined || this.#token !== undefined || !this.#isLocal) return false;
    return /^https?:/.test(origin)
      ? !this.isOwnHost(URL.parse(origin)?.host ?? origin)
      : origin === 'null';
  }

  /** True if what was sent is the token, or if none is needed. */
  hasToken(sent: unknown): boolean {
    if (this.#token === undefined) return true;
    return typeof sent === 'string' && timingSafeEqual(digest(sent), this.#token);
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

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
