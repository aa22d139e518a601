import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { contextLimitOf, redactSecrets } from '@bobbin/core';
import { errorText, type ContextLimit, type JsonObject } from '@bobbin/core/internal';
import { AnswerRecorder } from './answer/answer-reader.ts';
import { StreamOpening } from './answer/stream-opening.ts';
import type { GatewayLimits, ProviderName } from './config/gateway-config.ts';
import type { ClientRequest, Fit, TakenRequest } from './fitting/fit.ts';
import type { Fitter } from './fitting/fitter.ts';
import { fitInTime, inTime, storedInTime } from './fitting/timely-fit.ts';
import { fitHeaders } from './http/fit-headers.ts';
import { requestHeaders, withoutCompression, withoutEncoding } from './http/headers.ts';
import { ResponseRelay, type HeldResponse, type Relayed } from './http/response-relay.ts';
import type { Upstream } from './http/upstream.ts';
import type { ExchangeLog, ExchangeRecord } from './ledger/exchange-record.ts';
import type { Observer } from './observe/observer.ts';

export interface DeliveryOptions {
  readonly upstreams: Readonly<Record<ProviderName, Upstream>>;
  readonly limits: GatewayLimits;
  readonly fitter: Fitter;
  readonly exchanges: ExchangeLog;
  readonly observer: Observer;
}

/** The connection of a client. */
export interface Client {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** What a client sees of an answer, if that is not the answer's own bytes. */
export interface AnswerView {
  holds(status: number, headers: IncomingHttpHeaders): boolean;
  filter(chunk: Buffer): string;
}

/** A request that was sent, with what came back. */
export interface Delivered {
  readonly fit: Fit;
  readonly relayed: Relayed;
  /** The answer in the provider's own form; undefined if there was none. */
  readonly answer: () => JsonObject | undefined;
}

/** Statuses with which providers refuse a request as too long. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);
const MOST_ANSWER_BYTES = 33_554_432;
const CANNOT_SHRINK =
  'the provider refused the prompt as too long, and no smaller one could be made';

/** One sending of a request. */
interface Sending {
  /** As it turned out when the answer came. */
  readonly fit: Fit;
  readonly relayed: Relayed;
  readonly refusal: ContextLimit | undefined;
  readonly recorder: AnswerRecorder;
}

/** Makes requests fit, sends them, and hands the answers to their clients. */
export class Delivery {
  readonly #options: DeliveryOptions;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Sends a request. If the provider refuses it as too long, it is compacted hard and sent once more. */
  async deliver(request: ClientRequest, client: Client, view?: AnswerView): Promise<Delivered> {
    const { fitter, limits, exchanges } = this.#options;
    const record = exchanges.open(request, newId());
    try {
      const fit = await fitInTime(fitter, request, limits.ownWorkMs);
      const delivered = await this.#sent(...asOffered(request, fit), client, record, view);
      const { relayed } = delivered;
      // The client gets an error of the gateway's own.
      if (relayed.kind === 'failed' && !relayed.begun && !client.outgoing.headersSent)
        client.outgoing.setHeaders(new Map(Object.entries(fitHeaders(delivered.fit))));
      record.done(relayed.kind === 'held' ? { kind: 'relayed', status: relayed.status } : relayed);
      return delivered;
    } finally {
      record.close();
    }
  }

  async #sent(
    request: ClientRequest,
    fit: Fit,
    client: Client,
    record: ExchangeRecord,
    view: AnswerView | undefined,
  ): Promise<Delivered> {
    record.sent(fit);
    const sending = await this.#send(request, fit, client, record, view);
    const { relayed, refusal, recorder } = sending;
    const { refitMs } = this.#options.limits;
    const refusedAt = performance.now();
    const smaller =
      refusal &&
      (await inTime<Fit | undefined>(
        this.#smaller(request, sending.fit, refusal),
        refitMs,
        () => undefined,
      ));
    if (refusal !== undefined) record.worked(performance.now() - refusedAt);
    if (smaller !== undefined) return this.#sent(request, smaller, client, record, view);
    if (relayed.kind === 'held') recordHeld(recorder, relayed);
    return { fit: sending.fit, relayed, answer: () => recorder.recorded().answer };
  }

  async #send(
    request: ClientRequest,
    fit: Fit,
    { incoming, outgoing }: Client,
    record: ExchangeRecord,
    view: AnswerView | undefined,
  ): Promise<Sending> {
    const { protocol, kind } = request.endpoint;
    const recorder = new AnswerRecorder(protocol.newReader());
    record.answeredBy(recorder);
    const canRetry = kind === 'answer' && fit.action !== 'retried' && isFitted(fit);
    const opening = canRetry ? new StreamOpening() : undefined;
    const relay = new ResponseRelay(outgoing, {
      ready: () => this.#stored(fit, record),
      headers: () => fitHeaders(record.fit ?? fit),
      mostHeldBytes: view === undefined ? undefined : MOST_ANSWER_BYTES,
      stallMs: this.#options.limits.clientStallMs,
      holds: (status, headers) =>
        (canRetry && REFUSALS.has(status)) || view?.holds(status, headers) === true,
      opening,
      filter: view === undefined ? undefined : (chunk) => view.filter(chunk),
      onStart: (_, headers) => recorder.start(headers['content-type'] ?? ''),
      onData: (chunk) => recorder.data(chunk),
    });
    const { method = 'POST', url = '/', rawHeaders } = incoming;
    // A body that is not changed goes out in the compression in which it came.
    const { bytes, sent } = request;
    const asSent = fit.bytes === bytes ? sent : undefined;
    const headers = withoutCompression(requestHeaders(rawHeaders));
    this.#options.upstreams[protocol.provider].send(
      {
        method,
        path: url,
        headers: asSent === undefined ? withoutEncoding(headers) : headers,
        body: asSent ?? fit.bytes,
      },
      relay,
    );
    const relayed = await relay.done;
    const refusal = canRetry ? refusalIn(relayed, opening) : undefined;
    return { fit: record.fit ?? fit, relayed, recorder, refusal };
  }

  /** Waits until the messages of a request are durable, as long as the gateway may; undefined if they are. */
  #stored(fit: Fit, record: ExchangeRecord): Promise<void> | undefined {
    const { ownWorkMs } = this.#options.limits;
    const storing = storedInTime(fit, Math.max(0, ownWorkMs - record.elapsedMs), ownWorkMs);
    return storing && notStored(storing, record);
  }

  async #smaller(
    request: ClientRequest,
    fit: Fit,
    refusal: ContextLimit,
  ): Promise<Fit | undefined> {
    const { taken, reason } = (await fit.pending) ?? fit;
    if (taken === undefined) {
      this.#options.observer.log.warn({ tenant: request.tenant, reason }, CANNOT_SHRINK);
      return undefined;
    }
    try {
      const smaller = await this.#options.fitter.refit(request, fit, taken, refusal);
      if (smaller.bytes.length < fit.bytes.length) return smaller;
      throw new Error('the last one was as small as it can be');
    } catch (error) {
      this.#reportTooLong(request.tenant, taken, refusal, error);
      return undefined;
    }
  }

  /** The client gets the refusal: those who listen learn why nothing smaller was sent. */
  #reportTooLong(
    tenant: string,
    { thread, tokensAfter }: TakenRequest,
    { limitTokens = tokensAfter }: ContextLimit,
    error: unknown,
  ): void {
    const message = `${CANNOT_SHRINK}: ${redactSecrets(errorText(error))}`;
    const sizes = { tokensBefore: tokensAfter, tokensAfter, limitTokens };
    this.#options.observer.event(tenant, {
      kind: 'warning',
      thread,
      time: Date.now(),
      ...sizes,
      message,
    });
  }
}

/** An id that sorts by time: rows that are written together are near each other. */
function newId(): string {
  return `${Date.now().toString(36)}-${randomUUID()}`;
}

function refusalIn(relayed: Relayed, opening: StreamOpening | undefined): ContextLimit | undefined {
  if (relayed.kind !== 'held') return undefined;
  const { status, body } = relayed;
  if (opening?.refusal !== undefined) return opening.refusal;
  return REFUSALS.has(status) ? contextLimitOf({ status, body: body.toString('utf8') }) : undefined;
}

function recordHeld(recorder: AnswerRecorder, { headers, body }: HeldResponse): void {
  recorder.start(headers['content-type'] ?? '');
  recorder.data(body);
}

/** Notes what a request turned out to be, if its messages could not be stored in time. */
async function notStored(storing: Promise<Fit | undefined>, record: ExchangeRecord): Promise<void> {
  const other = await storing;
  if (other !== undefined) record.sent(other);
}

/** A request and how it goes out, without the gateway's tools if it belongs to no conversation. */
function asOffered(request: ClientRequest, fit: Fit): readonly [ClientRequest, Fit] {
  const { withoutTools } = request;
  if (withoutTools === undefined || isFitted(fit)) return [request, fit];
  return [withoutTools, { ...fit, bytes: withoutTools.bytes }];
}

function isFitted({ taken, pending }: Fit): boolean {
  return taken !== undefined || pending !== undefined;
}
