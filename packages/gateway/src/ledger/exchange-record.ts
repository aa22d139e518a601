import { errorText } from '@bobbin/core/internal';
import type { Usage } from '@bobbin/core';
import type { ModelTable } from '@bobbin/core/internal';
import type { Ledger, LedgerAnswer } from '@bobbin/stores';
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

/** The status under which a request that its client gave up is recorded. */
const CLIENT_CLOSED = 499;
const BAD_GATEWAY = 502;

/** Actions after which a request went out as core has shown it, so that its usage says something about the prompt. */
const SHOWN: ReadonlySet<Action> = new Set(['unchanged', 'compacted', 'continued', 'retried']);

/** Records exchanges in the ledger, and reports them. A ledger that fails costs the record, never the answer. */
export class ExchangeLog {
  readonly #options: ExchangeLogOptions;
  readonly #writes = new Set<Promise<void>>();

  constructor(options: ExchangeLogOptions) {
    this.#options = options;
  }

  open(request: ClientRequest, id: string): ExchangeRecord {
    this.#options.observer.metrics.opened();
    return new ExchangeRecord(request, id, this);
  }

  /** Notes a request before its answer: another process must know it if this one ends now. */
  begin(
    { tenant, model, endpoint }: ClientRequest,
    id: string,
    at: number,
    { action }: Fit,
    { thread, head, tokensBefore, tokensAfter }: TakenRequest,
  ): void {
    const protocol = endpoint.protocol.name;
    const request = { id, tenant, thread, head, at, model, protocol, action };
    this.track(this.#options.ledger.begin({ ...request, tokensBefore, tokensAfter }));
  }

  /** Notes what a request came to, and reports it. */
  finish(request: ClientRequest, exchange: Exchange, answer: string | undefined): void {
    this.#options.observer.metrics.closed();
    this.track(this.#finish(request, exchange, answer));
  }

  /** Lets a thread be compacted before its next request. */
  answered(
    { tenant, model }: ClientRequest,
    { thread, head, host }: TakenRequest,
    at: number,
  ): void {
    const { pressure } = host.session;
    this.#options.background?.answered({ tenant, thread, head, model, at, pressure });
  }

  /** Resolves when everything is written. */
  async settle(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes);
  }

  async #finish(
    { tenant, headers, endpoint }: ClientRequest,
    exchange: Exchange,
    answer: string | undefined,
  ): Promise<void> {
    const cost = await this.#cost(exchange).catch(() => undefined);
    this.#options.observer.finished({ ...exchange, ...cost }, headers);
    const { thread, usage, action, tokensAfter, end } = exchange;
    if (thread === undefined || endpoint.kind === 'count') return;
    const status = exchange.status ?? (end === 'aborted' ? CLIENT_CLOSED : BAD_GATEWAY);
    const entry: LedgerAnswer = {
      status,
      action,
      ...cost,
      ...(usage === undefined ? {} : { usage }),
      ...(answer === undefined ? {} : { answer }),
      ...(tokensAfter === undefined ? {} : { tokensAfter }),
    };
    await this.#options.ledger.finish(tenant, exchange.id, entry);
  }

  async #cost(exchange: Exchange): Promise<Cost | undefined> {
    const { tenant, thread, usage, at, model, action } = exchange;
    const { tokensBefore = 0, tokensAfter = 0 } = exchange;
    if (usage === undefined || thread === undefined) return undefined;
    const isChanged = action !== 'unchanged';
    const { ledger, models } = this.#options;
    const previous = isChanged ? await ledger.previous(tenant, thread, at) : undefined;
    return costOf({ model, models, usage, tokensBefore, tokensAfter, isChanged, at, previous });
  }

  /** Waits for some work before the gateway ends, and reports it if it fails. */
  track(work: Promise<void>): void {
    const safe = work
      .catch((error: unknown) => {
        const reason = errorText(error);
        this.#options.observer.log.error({ reason }, 'ledger');
      })
      .finally(() => this.#writes.delete(safe));
    this.#writes.add(safe);
  }
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
  #answer: AnswerRecorder | undefined;
  #isDone = false;

  constructor(request: ClientRequest, id: string, log: ExchangeLog) {
    this.#request = request;
    this.#id = id;
    this.#log = log;
  }

  /** The request goes out. */
  sent(fit: Fit): void {
    if (this.#fit === undefined) this.#ownMs = performance.now() - this.#begun;
    const isFirst = this.#fit?.taken === undefined;
    this.#fit = fit;
    if (isFirst) this.#begin(fit);
    // Whatever a late request is recognised as, the next one must be found after it.
    if (fit.pending !== undefined)
      this.#log.track(fit.pending.then((late) => this.#begin({ ...late, action: 'late' })));
  }

  #begin(fit: Fit): void {
    if (fit.taken !== undefined && this.#request.endpoint.kind === 'answer')
      this.#log.begin(this.#request, this.#id, this.#at, fit, fit.taken);
  }

  /** Notes who reads the answer. */
  answeredBy(recorder: AnswerRecorder): void {
    this.#answer = recorder;
  }

  done(relayed: Relayed): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const { answer, usage: reported } = this.#answer?.recorded() ?? {};
    const isWhole = relayed.kind === 'relayed' && relayed.status < 400;
    const usage = isWhole ? reported?.usage : undefined;
    const { taken, action = 'failed-open' } = this.#fit ?? {};
    if (taken !== undefined && SHOWN.has(action) && this.#request.endpoint.kind === 'answer')
      this.#reported(taken, usage);
    const text = answer === undefined ? undefined : JSON.stringify(answer);
    this.#log.finish(this.#request, this.#exchange(relayed, usage), text);
  }

  #reported(taken: TakenRequest, usage: Usage | undefined): void {
    taken.host.report(usage);
    this.#log.answered(this.#request, taken, this.#at);
  }

  /** Ends the record of a request that failed in a way that nobody expected. */
  close(): void {
    if (this.#isDone) return;
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
      ...(taken === undefined
        ? {}
        : {
            thread: taken.thread,
            tokensBefore: taken.tokensBefore,
            tokensAfter: taken.tokensAfter,
          }),
      ...(relayed.kind === 'relayed' ? { status: relayed.status } : {}),
      end: END[relayed.kind],
      isStream: this.#answer?.isStream ?? false,
      ...(usage === undefined ? {} : { usage }),
      ownMs: this.#ownMs,
      totalMs: performance.now() - this.#begun,
    };
  }
}

const END: Readonly<Record<Relayed['kind'], Exchange['end']>> = {
  relayed: 'relayed',
  held: 'relayed',
  aborted: 'aborted',
  failed: 'upstream-failed',
};
