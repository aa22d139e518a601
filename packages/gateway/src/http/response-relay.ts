import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { responseHeaders } from './headers.ts';

/** What became of an upstream's answer. */
export type Relayed =
  | { readonly kind: 'relayed'; readonly status: number }
  /** An answer that the client has not seen, because the relay was asked to hold it. */
  | HeldResponse
  /** The client went away. */
  | { readonly kind: 'aborted' }
  /** The upstream failed; if its answer had begun, the client's connection was cut. */
  | { readonly kind: 'failed'; readonly error: Error; readonly begun: boolean };

export interface HeldResponse {
  readonly kind: 'held';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface RelayOptions {
  /** Headers that the client gets beside those of the upstream. */
  readonly headers?: OutgoingHttpHeaders;
  /** True for an answer that the client must not see yet. */
  readonly holds?: (status: number, headers: IncomingHttpHeaders) => boolean;
  /** Gets the bytes of an answer that the client sees. */
  readonly onStart?: (status: number, headers: IncomingHttpHeaders) => void;
  readonly onData?: (chunk: Buffer) => void;
}

/** No refusal of a provider is longer. */
const MOST_HELD_BYTES = 1_048_576;

/**
 * Hands an upstream's answer to a client as it arrives. A client that reads slowly slows the upstream down, and one that
 * goes away ends the request.
 */
export class ResponseRelay implements Dispatcher.DispatchHandler {
  readonly done: Promise<Relayed>;
  readonly #outgoing: ServerResponse;
  readonly #options: RelayOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #resolve: (relayed: Relayed) => void = () => undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #held: Buffer[] | undefined;
  #heldBytes = 0;
  #hasWritten = false;
  readonly #onClose = (): void => {
    this.#finish({ kind: 'aborted' });
    this.#controller?.abort(new Error('the client went away'));
  };
  readonly #onDrain = (): void => this.#controller?.resume();

  constructor(outgoing: ServerResponse, options: RelayOptions = {}) {
    this.#outgoing = outgoing;
    this.#options = options;
    this.done = new Promise((resolve) => (this.#resolve = resolve));
    outgoing.on('close', this.#onClose);
    outgoing.on('drain', this.#onDrain);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#outgoing.destroyed) this.#onClose();
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    [this.#status, this.#headers] = [status, headers];
    if (this.#options.holds?.(status, headers) === true) this.#held = [];
    else this.#begin();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#held === undefined) this.#write(controller, chunk);
    else this.#hold(this.#held, chunk);
  }

  onResponseEnd(): void {
    const [status, headers] = [this.#status, this.#headers];
    if (this.#held !== undefined)
      return this.#finish({ kind: 'held', status, headers, body: Buffer.concat(this.#held) });
    this.#finish({ kind: 'relayed', status });
    this.#hasWritten = true;
    this.#outgoing.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const begun = this.#outgoing.headersSent;
    this.#finish({ kind: 'failed', error, begun });
    if (begun) this.#outgoing.destroy();
  }

  #begin(): void {
    this.#options.onStart?.(this.#status, this.#headers);
    this.#outgoing.writeHead(this.#status, {
      ...responseHeaders(this.#headers),
      ...this.#options.headers,
    });
    // With the first bytes, if those come at once; a client that waits for the headers gets them.
    setImmediate(() => {
      if (!this.#hasWritten && !this.#outgoing.destroyed) this.#outgoing.flushHeaders();
    });
  }

  #write(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#hasWritten = true;
    if (!this.#outgoing.write(chunk)) controller.pause();
    this.#options.onData?.(chunk);
  }

  /** What is too long for a refusal is relayed after all. */
  #hold(held: Buffer[], chunk: Buffer): void {
    held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes <= MOST_HELD_BYTES) return;
    this.#held = undefined;
    this.#begin();
    this.#outgoing.write(Buffer.concat(held));
  }

  #finish(relayed: Relayed): void {
    this.#outgoing.off('close', this.#onClose);
    this.#outgoing.off('drain', this.#onDrain);
    this.#resolve(relayed);
  }
}

/** Gives a client an answer that was held. */
export function release(
  outgoing: ServerResponse,
  { status, headers, body }: HeldResponse,
  added: OutgoingHttpHeaders = {},
): void {
  outgoing.writeHead(status, { ...responseHeaders(headers), ...added }).end(body);
}
