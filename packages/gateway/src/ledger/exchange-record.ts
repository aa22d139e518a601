import { errorText, jsonText } from '@bobbin/core/internal';
import type { Usage } from '@bobbin/core';
import type { ModelTable } from '@bobbin/core/internal';
import type { Ledger, LedgerAnswer, LedgerRequest } from '@bobbin/stores';
import type { AnswerRecorder } from '../answer/answer-reader.ts';
import type { Action, ClientRequest, Fit, TakenRequest } from '../fitting/fit.ts';
import type { BackgroundCompaction } from '../fitting/background-compaction.ts';
import type { Relayed } from '../http/response-relay.ts';
import type { Exchange } from '../observe/exchange.ts';
import type { Observer } from '../observe/observer.ts';
import { costOf, type Cost } from './cost.ts';

export interface ExchangeLogOptions {
  readonly ledger: Ledger;
  readonly observer: Observer;
  readonly models: ModelTable;
  readonly background: BackgroundCompaction | undefined;
}

/** For how long requests that came to their end are gathered: many at once cost less than one by one. */
const GATHER_MS = 20;
/** The status under which a request that its client gave up is recorded. */
const CLIENT_CLOSED = 499;
const BAD_GATEWAY = 502;

/** Actions after which the bytes that went out are those that came. */
const AS_IT_CAME: ReadonlySet<Action> = new Set(['unchanged', 'left-alone', 'late', 'failed-open']);

/** Actions after which a request went out as core has shown it, so that its usage says something about the prompt. */
const SHOWN: ReadonlySet<Action> = new Set(['unchanged', 'compacted', 'continued', 'retried']);

/** Records exchanges in the ledger, and reports them. A ledger that fails costs the record, never the answer. */
export class ExchangeLog {
  readonly #options: ExchangeLogOptions;
  readonly #writes = new Set<Promise<unknown>>();
  #ended: ExchangeRecord[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ExchangeLogOptions) {
    this.#options = options;
  }

  open(request: ClientRequest, id: string): ExchangeRecord {
    this.#options.observer.metrics.opened();
    return new ExchangeRecord(request, id, this);
  }

  /** Notes a request before its answer: another process must know it if this one ends now. */
  begin(
    request: ClientRequest,
    id: string,
    at: number,
    action: Action,
    { host, thread, head, tokensBefore, tokensAfter }: TakenRequest,
  ): Promise<void> {
    const { name } = host.conversation;
    return this.#options.ledger.begin({
      ...noted(request, id, at, action),
      thread,
      head,
      ...(name === undefined ? {} : { name }),
      tokensBefore,
      tokensAfter,
    });
  }

  /** Takes a request that came to its end: what it came to is worked out soon, together with others. */
  ended(record: ExchangeRecord): void {
    this.#ended.push(record);
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** Works out what the requests that came to their end have come to. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const ended = this.#ended;
    this.#ended = [];
    for (const record of ended) this.#settle(record);
  }

  /** An answer that cannot be understood costs its own record, and no other. */
  #settle(record: ExchangeRecord): void {
    try {
      record.settle();
    } catch (error) {
      const { metrics, log } = this.#options.observer;
      metrics.closed();
      log.error({ reason: errorText(error) }, 'record');
    }
  }

  /** Notes what a request came to, and reports it. */
  finish(request: ClientRequest, exchange: Exchange, answer: string | undefined): void {
    this.#options.observer.metrics.closed();
    this.track(this.#finish(request, exchange, answer));
  }

  /** Does the same for a request whose thread was not known when it was answered, once it is. */
  finishLate(
    request: ClientRequest,
    exchange: Exchange,
    answer: string | undefined,
    late: Promise<TakenRequest | undefined>,
  ): void {
    this.#options.observer.metrics.closed();
    // A request that could not be recognised or written is counted all the same.
    const known = late.catch(() => undefined);
    this.track(
      known.then((taken) => this.#finish(request, { ...exchange, ...sizesOf(taken) }, answer)),
    );
  }

  /** Lets a thread be compacted before its next request. */
  answered(
    { tenant, model }: ClientRequest,
    { thread, head, host }: TakenRequest,
    at: number,
  ): void {
    const { pressure, budget } = host.session;
    this.#options.background?.answered({ tenant, thread, head, model, at, pressure, budget });
  }

  /** Resolves when the requests that came to their end so far are in the ledger. */
  async recorded(): Promise<void> {
    this.flush();
    await Promise.all(this.#writes);
  }

  /** Resolves when everything is written. */
  async settle(): Promise<void> {
    await this.recorded();
    while (this.#writes.size > 0) await Promise.all(this.#writes);
  }

  async #finish(
    request: ClientRequest,
    exchange: Exchange,
    answer: string | undefined,
  ): Promise<void> {
    const cost = await this.#costOf(request, exchange);
    this.#options.observer.finished({ ...exchange, ...cost }, request.headers);
    await this.#note(request, exchange, answer, cost);
  }

  async #note(
    request: ClientRequest,
    { id, at, thread, usage, action, tokensAfter, end, status: seen }: Exchange,
    answer: string | undefined,
    cost: Cost | undefined,
  ): Promise<void> {
    if (request.endpoint.kind === 'count') return;
    const { ledger } = this.#options;
    if (thread === undefined) await ledger.begin(noted(request, id, at, action));
    const status = seen ?? (end === 'aborted' ? CLIENT_CLOSED : BAD_GATEWAY);
    const entry: LedgerAnswer = {
      status,
      action,
      ...cost,
      ...(usage === undefined ? {} : { usage }),
      // An answer that belongs to no thread would not be erased with any.
      ...(answer === undefined || thread === undefined ? {} : { answer }),
      ...(tokensAfter === undefined ? {} : { tokensAfter }),
    };
    await ledger.finish(request.tenant, id, entry);
  }

  /** Undefined if nothing was reported, or if the ledger cannot be read. */
  async #costOf(
    { isToolRound, offersTools }: ClientRequest,
    exchange: Exchange,
  ): Promise<Cost | undefined> {
    const { tenant, thread, usage, at, model, action } = exchange;
    const { tokensBefore = 0, tokensAfter = 0 } = exchange;
    if (usage === undefined) return undefined;
    const isAsItCame = AS_IT_CAME.has(action) && !(action === 'unchanged' && offersTools === true);
    const isChanged = thread !== undefined && !isAsItCame;
    const { ledger, models } = this.#options;
    try {
      const previous = isChanged ? await ledger.previous(tenant, thread, at) : undefined;
      const sizes = { tokensBefore, tokensAfter };
      const cost = costOf({ model, models, usage, ...sizes, isChanged, at, previous });
      // Without the gateway it would not have been sent.
      return isToolRound === true ? { ...cost, fullTokens: 0 } : cost;
    } catch {
      return undefined;
    }
  }

  /** Waits for some work before the gateway ends, and reports it if it fails. */
  track(work: Promise<unknown>): void {
    const safe: Promise<unknown> = work
      .catch((error: unknown) => {
        const reason = errorText(error);
        this.#options.observer.log.error({ reason }, 'ledger');
      })
      .finally(() => this.#writes.delete(safe));
    this.#writes.add(safe);
  }
}

/** A request that no conversation is known for. */
function noted(
  { tenant, model, endpoint, isToolRound }: ClientRequest,
  id: string,
  at: number,
  action: Action,
): LedgerRequest {
  const { name: protocol } = endpoint.protocol;
  const request = { id, tenant, at, model, protocol, action, tokensBefore: 0, tokensAfter: 0 };
  return isToolRound === true ? { ...request, isToolRound } : request;
}

/** One request while it is under way. */
export class ExchangeRecord {
  readonly #request: ClientRequest;
  readonly #id: string;
  readonly #log: ExchangeLog;
  readonly #at = Date.now();
  readonly #begun = performance.now();
  #ownMs = 0;
  #fit: Fit | undefined;
  /** What a request that went out late turned out to be. */
  #late: Promise<TakenRequest | undefined> | undefined;
  #recorder: AnswerRecorder | undefined;
  #usage: AnswerUsage | undefined;
  #relayed: Relayed | undefined;
  #totalMs = 0;

  constructor(request: ClientRequest, id: string, log: ExchangeLog) {
    this.#request = request;
    this.#id = id;
    this.#log = log;
  }

  /** How the request went out, or what that turned out to be. */
  get fit(): Fit | undefined {
    return this.#fit;
  }

  get elapsedMs(): number {
    return performance.now() - this.#begun;
  }

  /** The request goes out. */
  sent(fit: Fit): void {
    if (this.#fit === undefined) this.#ownMs = this.elapsedMs;
    const { taken: known } = this.#fit ?? {};
    const { taken, pending } = fit;
    this.#fit = fit;
    // Another process must know the request as soon as the client can go on: the answer comes after this.
    if (known === undefined && taken !== undefined) this.#log.track(this.#begin(fit.action, taken));
    // Whatever a late request is recognised as, the next one must be found after it.
    if (pending === undefined) return;
    this.#late = pending.then((found) => this.#found(fit, found.taken));
    this.#log.track(this.#late);
  }

  /** A request that went out late was recognised: the whole of it went out. */
  async #found(late: Fit, taken: TakenRequest | undefined): Promise<TakenRequest | undefined> {
    if (taken === undefined) return undefined;
    const whole = { ...taken, tokensAfter: taken.tokensBefore };
    // An answer that begins from now on says in its headers what the request was recognised as.
    if (this.#fit === late) this.#fit = { ...late, taken: whole };
    await this.#begin('late', whole);
    return whole;
  }

  /** The gateway itself has worked on the request once more. */
  worked(ms: number): void {
    this.#ownMs += ms;
  }

  async #begin(action: Action, taken: TakenRequest): Promise<void> {
    if (this.#request.endpoint.kind === 'answer')
      await this.#log.begin(this.#request, this.#id, this.#at, action, taken);
  }

  /** Notes who reads the answer. */
  answeredBy(recorder: AnswerRecorder): void {
    this.#recorder = recorder;
  }

  /** The request came to its end. */
  done(relayed: Relayed): void {
    if (this.#relayed !== undefined) return;
    this.#relayed = relayed;
    this.#totalMs = this.elapsedMs;
    // What a provider reported before its answer was cut off has been paid for.
    const isPaid = relayed.kind !== 'relayed' || relayed.status < 400;
    const usage = new AnswerUsage(isPaid ? this.#recorder : undefined);
    this.#usage = usage;
    const { taken, action = 'failed-open' } = this.#fit ?? {};
    const isShown = SHOWN.has(action) && this.#request.endpoint.kind === 'answer';
    if (taken !== undefined && isShown && relayed.kind === 'relayed')
      taken.host.report(() => usage.value);
    this.#log.ended(this);
  }

  /** Works out what the request came to, once. */
  settle(): void {
    const relayed = this.#relayed;
    if (relayed === undefined) return;
    const usage = this.#usage?.value;
    const { answer, usage: reported } = this.#recorder?.recorded() ?? {};
    const text = answer && jsonText(answer);
    const exchange = this.#exchange(relayed, usage);
    const isReported =
      reported?.cacheMiss !== undefined || (reported?.appliedEdits ?? []).length > 0;
    const { codec } = this.#request.endpoint.protocol;
    if (isReported) this.#fit?.taken?.host.session.report(...(codec.reports?.(answer) ?? []));
    const { taken, action = 'failed-open' } = this.#fit ?? {};
    if (taken !== undefined && SHOWN.has(action) && this.#request.endpoint.kind === 'answer')
      this.#log.answered(this.#request, taken, this.#at);
    if (taken === undefined && this.#late !== undefined)
      this.#log.finishLate(this.#request, exchange, text, this.#late);
    else this.#log.finish(this.#request, exchange, text);
  }

  /** Ends the record of a request that failed in a way that nobody expected. */
  close(): void {
    if (this.#relayed !== undefined) return;
    this.done({ kind: 'failed', error: new Error('the exchange ended early'), begun: false });
  }

  #exchange(relayed: Relayed, usage: Usage | undefined): Exchange {
    const { tenant, model, endpoint } = this.#request;
    const { action = 'failed-open', reason, taken } = this.#fit ?? {};
    const { name: protocol, provider } = endpoint.protocol;
    return {
      id: this.#id,
      at: this.#at,
      protocol,
      provider,
      model,
      tenant,
      action,
      ...(reason === undefined ? {} : { reason }),
      ...sizesOf(taken),
      ...(relayed.kind === 'relayed' ? { status: relayed.status } : {}),
      end: END[relayed.kind],
      ...(relayed.kind === 'failed' ? { cause: relayed.error.message } : {}),
      ...(this.#request.isToolRound === true ? { isToolRound: true } : {}),
      isStream: this.#recorder?.isStream ?? false,
      ...(usage === undefined ? {} : { usage }),
      ownMs: this.#ownMs,
      totalMs: this.#totalMs,
    };
  }
}

/** What the provider reported for an answer. A conversation may keep it for long: it keeps nothing else of the answer. */
class AnswerUsage {
  #recorder: AnswerRecorder | undefined;
  #value: Usage | undefined;

  /** Without a recorder nothing was reported. */
  constructor(recorder: AnswerRecorder | undefined) {
    this.#recorder = recorder;
  }

  get value(): Usage | undefined {
    this.#value ??= this.#recorder?.recorded().usage?.usage;
    this.#recorder = undefined;
    return this.#value;
  }
}

/** What is known of a request that was recognised. */
function sizesOf(
  taken: TakenRequest | undefined,
): Pick<Exchange, 'thread' | 'tokensBefore' | 'tokensAfter'> {
  if (taken === undefined) return {};
  const { thread, tokensBefore, tokensAfter } = taken;
  return { thread, tokensBefore, tokensAfter };
}

const END: Readonly<Record<Relayed['kind'], Exchange['end']>> = {
  relayed: 'relayed',
  held: 'relayed',
  aborted: 'aborted',
  failed: 'upstream-failed',
};
