import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Verdict } from '../answer/stream-opening.ts';
import { deadline } from './deadline.ts';
import { responseHeaders, withoutRepeats } from './headers.ts';

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

/** What came of an answer before the client could get it. */
interface EarlyAnswer {
  readonly chunks: Buffer[];
  bytes: number;
  isEnded: boolean;
}

export interface RelayOptions {
  /** What the answer waits for once it has begun, unless that is there already. It must not reject. */
  readonly ready?: () => Promise<void> | undefined;
  /** Headers that the client gets beside those of the upstream. */
  readonly headers?: () => OutgoingHttpHeaders;
  /** True for an answer that the client must not see yet. */
  readonly holds?: (status: number, headers: IncomingHttpHeaders) => boolean;
  /** Decides on the beginning of a stream before the client sees any of it. */
  readonly opening?: { data(chunk: Buffer): Verdict } | undefined;
  /**
   * What the client gets for the bytes of a stream. If present, the stream stays open for more when they end. An answer
   * that was too long to hold passes as it is, and ends the client's.
   */
  readonly filter?: ((chunk: Buffer) => string) | undefined;
  /** The longest answer that is held. */
  readonly mostHeldBytes?: number | undefined;
  /** How long a client may read nothing of what waits for it. */
  readonly stallMs?: number;
  /** Gets the bytes of an answer that the client sees. */
  readonly onStart?: (status: number, headers: IncomingHttpHeaders) => void;
  readonly onData?: (chunk: Buffer) => void;
}

/** No refusal of a provider is longer. */
const MOST_HELD_BYTES = 1_048_576;
/** How much of an answer is taken in while it waits. */
const MOST_EARLY_BYTES = 65_536;
/** How long the beginning of a stream is kept from the client: a provider that thinks has read the prompt. */
const OPENING_MS = 1_000;

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
  #early: EarlyAnswer | undefined;
  #held: Buffer[] | undefined;
  #heldBytes = 0;
  /** The client gets the bytes of an answer that was too long to hold as they are. */
  #isReleased = false;
  #hasWritten = false;
  #isFinished = false;
  #opening: Buffer[] | undefined;
  #endOpening: (() => void) | undefined;
  readonly #onClose = (): void => {
    this.#finish({ kind: 'aborted' });
    this.#controller?.abort(new Error('the client went away'));
  };
  #endStall: (() => void) | undefined;
  readonly #onDrain = (): void => {
    this.#endStall?.();
    this.#endStall = undefined;
    this.#controller?.resume();
  };

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
    received: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    const headers = withoutRepeats(received);
    [this.#status, this.#headers] = [status, headers];
    const ready = this.#options.ready?.();
    if (ready === undefined) return this.#start(status, headers);
    const early: EarlyAnswer = { chunks: [], bytes: 0, isEnded: false };
    this.#early = early;
    ready
      .then(() => this.#goOn(early))
      // Here nobody else would learn of it.
      .catch((error: unknown) => this.#fail(error));
    return undefined;
  }

  #fail(error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error));
    this.onResponseError(this.#controller, cause);
    this.#controller?.abort(cause);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const early = this.#early;
    if (early === undefined) return this.#data(controller, chunk);
    early.chunks.push(chunk);
    early.bytes += chunk.length;
    if (early.bytes > MOST_EARLY_BYTES) controller.pause();
    return undefined;
  }

  onResponseEnd(): void {
    if (this.#early === undefined) this.#end();
    else this.#early.isEnded = true;
  }

  /** Hands over what came while the answer had to wait. */
  #goOn({ chunks, isEnded, bytes }: EarlyAnswer): void {
    this.#early = undefined;
    if (this.#isFinished) return;
    this.#start(this.#status, this.#headers);
    for (const chunk of chunks) this.#data(this.#controller, chunk);
    if (isEnded) this.#end();
    else if (bytes > MOST_EARLY_BYTES && !this.#outgoing.writableNeedDrain)
      this.#controller?.resume();
  }

  #start(status: number, headers: IncomingHttpHeaders): void {
    const { holds, opening } = this.#options;
    if (holds?.(status, headers) === true) this.#held = [];
    else if (opening !== undefined && isEventStream(headers)) {
      this.#opening = [];
      this.#endOpening = deadline(OPENING_MS, () => this.#open());
    } else this.#begin();
  }

  #data(controller: Dispatcher.DispatchController | undefined, chunk: Buffer): void {
    if (this.#opening !== undefined) this.#judge(this.#opening, chunk);
    else if (this.#held === undefined) this.#write(controller, chunk);
    else this.#hold(this.#held, chunk);
  }

  #end(): void {
    const [status, headers] = [this.#status, this.#headers];
    if (this.#opening !== undefined) this.#open();
    if (this.#held !== undefined)
      return this.#finish({ kind: 'held', status, headers, body: Buffer.concat(this.#held) });
    this.#finish({ kind: 'relayed', status });
    this.#hasWritten = true;
    if (this.#options.filter === undefined || this.#isReleased) this.#outgoing.end();
    return undefined;
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#isFinished) return;
    const begun = this.#outgoing.headersSent;
    this.#finish({ kind: 'failed', error, begun });
    if (begun) this.#outgoing.destroy();
  }

  #judge(opening: Buffer[], chunk: Buffer): void {
    opening.push(chunk);
    const verdict = this.#options.opening?.data(chunk) ?? 'relay';
    if (verdict === 'relay') this.#open();
    else if (verdict === 'hold') {
      this.#opening = undefined;
      this.#held = opening;
    }
  }

  /** Gives the client the beginning of a stream. */
  #open(): void {
    const opening = this.#opening;
    this.#opening = undefined;
    this.#endOpening?.();
    if (opening === undefined || this.#outgoing.destroyed) return;
    this.#begin();
    for (const chunk of opening) this.#write(this.#controller, chunk);
  }

  #begin(): void {
    this.#options.onStart?.(this.#status, this.#headers);
    if (this.#outgoing.headersSent) return;
    const { 'content-length': length, ...headers } = responseHeaders(this.#headers);
    const isFiltered = this.#options.filter !== undefined;
    // What is compressed cannot be filtered.
    if (isFiltered && headers['content-encoding'] !== undefined) this.#isReleased = true;
    const isAsItCame = !isFiltered || this.#isReleased;
    this.#outgoing.writeHead(this.#status, {
      ...headers,
      ...(length === undefined || !isAsItCame ? {} : { 'content-length': length }),
      ...this.#options.headers?.(),
    });
    // With the first bytes, if those come at once; a client that waits for the headers gets them.
    setImmediate(() => {
      if (!this.#hasWritten && !this.#outgoing.destroyed) this.#outgoing.flushHeaders();
    });
  }

  #write(controller: Dispatcher.DispatchController | undefined, chunk: Buffer): void {
    const { filter } = this.#options;
    const shown = filter === undefined || this.#isReleased ? chunk : filter(chunk);
    this.#options.onData?.(chunk);
    if (shown.length === 0) return;
    this.#hasWritten = true;
    if (this.#outgoing.write(shown)) return;
    controller?.pause();
    const { stallMs } = this.#options;
    if (stallMs !== undefined) this.#endStall ??= deadline(stallMs, () => this.#outgoing.destroy());
  }

  /** What is too long to hold is relayed after all. */
  #hold(held: Buffer[], chunk: Buffer): void {
    held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes <= (this.#options.mostHeldBytes ?? MOST_HELD_BYTES)) return;
    this.#held = undefined;
    this.#isReleased = true;
    this.#begin();
    for (const each of held) this.#write(this.#controller, each);
  }

  #finish(relayed: Relayed): void {
    this.#isFinished = true;
    this.#endOpening?.();
    this.#endStall?.();
    this.#outgoing.off('close', this.#onClose);
    this.#outgoing.off('drain', this.#onDrain);
    this.#resolve(relayed);
  }
}

export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

/** Gives a client an answer that was held. */
export function release(
  outgoing: ServerResponse,
  { status, headers, body }: HeldResponse,
  added: OutgoingHttpHeaders,
  stallMs: number,
): void {
  outgoing.writeHead(status, { ...responseHeaders(headers), ...added });
  endWith(outgoing, body, stallMs);
}

/** How much of an answer that is there already is written at once. */
const PIECE_BYTES = 65_536;

/** Ends a client's answer. A client that reads nothing for a time is cut off. */
export function endWith(outgoing: ServerResponse, last: Buffer | string, stallMs: number): void {
  void writtenOut(outgoing, Buffer.from(last), stallMs).then(() => outgoing.end());
}

async function writtenOut(outgoing: ServerResponse, bytes: Buffer, stallMs: number): Promise<void> {
  for (let at = 0; at < bytes.length && !outgoing.destroyed; at += PIECE_BYTES)
    if (!outgoing.write(bytes.subarray(at, at + PIECE_BYTES))) await drained(outgoing, stallMs);
}

/** Waits until a client has read what waits for it, or is cut off. */
async function drained(outgoing: ServerResponse, stallMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = deadline(stallMs, () => outgoing.destroy());
  outgoing.once('drain', resolve).once('close', resolve);
  await promise;
  cancel();
  outgoing.off('drain', resolve).off('close', resolve);
}
