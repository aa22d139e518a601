import {
  anyOf,
  createBobbin,
  when,
  type Budget,
  type CompactionEvent,
  type MessageId,
  type Policy,
  type Summarizer,
  type ThreadId,
} from '@bobbin/core';
import { errorText, modelFacts, type ModelTable } from '@bobbin/core/internal';
import type { GatewayStores, ModelPolicy } from '../config/gateway-config.ts';
import { policyFor } from '../config/model-policy.ts';
import { paidFor } from '../ledger/cost.ts';
import type { Observer } from '../observe/observer.ts';

export interface BackgroundOptions {
  readonly stores: GatewayStores;
  readonly policies: readonly ModelPolicy[];
  readonly models: ModelTable;
  readonly summarizer: Summarizer;
  readonly observer: Observer;
}

/** A thread after one of its requests was answered. */
export interface AnsweredRequest {
  readonly tenant: string;
  readonly thread: ThreadId;
  readonly head: MessageId;
  readonly model: string;
  readonly at: number;
  /** What the request's messages cost, as a share of what they may cost. */
  readonly pressure: number;
  /** What the parts of the request may cost: its instructions, its tools, its answer. */
  readonly budget: Budget;
}

/** Below this pressure no trigger fires: nothing is loaded to find that out. */
const LEAST_PRESSURE = 0.5;
/** The share of a cache's time after which an idle thread is compacted: its cache would be lost anyway. */
const EXPIRY_SHARE = 0.9;

/** A policy under which a request is compacted only if it does not fit: the rest is done between requests. */
export function onlyHardPressure(policy: Policy): Policy {
  return { ...policy, trigger: when('between requests', () => false) };
}

/**
 * Compacts threads between their requests, so that no request waits for a model. Under soft pressure it does so at once
 * if a rewrite pays; if not, shortly before the provider's cache expires, unless another request comes.
 */
export class BackgroundCompaction {
  readonly #options: BackgroundOptions;
  readonly #working = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  #isClosed = false;

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  /** Looks at a thread after a request. */
  answered(request: AnsweredRequest): void {
    const key = `${request.tenant}\n${request.thread}`;
    clearTimeout(this.#waiting.get(key));
    this.#waiting.delete(key);
    if (request.pressure < LEAST_PRESSURE || this.#working.has(key)) return;
    this.#start(key, request, request.at);
    const { cache } = modelFacts(request.model, this.#options.models);
    if (cache === undefined) return;
    const timer = setTimeout(() => {
      this.#waiting.delete(key);
      void this.#expires(key, request);
    }, cache.ttlMs * EXPIRY_SHARE);
    this.#waiting.set(key, timer.unref());
  }

  /** The cache of a thread is about to expire, unless another process has had its next request. */
  async #expires(key: string, request: AnsweredRequest): Promise<void> {
    const { tenant, thread, at } = request;
    const { ledger } = this.#options.stores;
    const last = await ledger
      .previous(tenant, thread, Number.MAX_SAFE_INTEGER)
      .catch(() => undefined);
    if ((last?.at ?? at) <= at && !this.#working.has(key)) this.#start(key, request, undefined);
  }

  /** Begins nothing more, and resolves when what was begun is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    await Promise.all(this.#working.values());
  }

  #start(key: string, request: AnsweredRequest, sentAt: number | undefined): void {
    if (this.#isClosed) return;
    const work = this.#compact(request, sentAt)
      .catch((error: unknown) => {
        const reason = errorText(error);
        this.#options.observer.log.warn(
          { reason, thread: request.thread },
          'background compaction',
        );
      })
      .finally(() => this.#working.delete(key));
    this.#working.set(key, work);
  }

  /** A session of its own commits the plan; the conversation takes it over with its next request. */
  async #compact(request: AnsweredRequest, sentAt: number | undefined): Promise<void> {
    const { stores, policies, models, summarizer, observer } = this.#options;
    const { tenant, thread, head, model, budget } = request;
    const { store, artifacts } = stores;
    const { policy } = policyFor(model, policies, models);
    const bobbin = createBobbin({
      model,
      models,
      window: budget.windowTokens,
      budget,
      // Between requests the soft limit counts too, however late the policy itself would act.
      preset: { ...policy, trigger: anyOf(policy.trigger, { kind: 'soft-limit' }) },
      tenant,
      store,
      artifacts,
      summarizer,
      onEvent: (event) => {
        observer.event(tenant, event);
        void this.#charge(request, event);
      },
    });
    const session = await bobbin.thread(thread, head);
    if (sentAt !== undefined) session.sentElsewhere(sentAt);
    await session.prompt();
  }

  /** Notes what a model was paid for a summary. */
  async #charge({ tenant, thread }: AnsweredRequest, event: CompactionEvent): Promise<void> {
    if (event.kind !== 'summary-report' || event.report.kind !== 'called') return;
    const { model, usage } = event.report;
    const { stores, models, observer } = this.#options;
    await stores.ledger
      .addSummary(tenant, thread, event.time, paidFor(usage, model, models))
      .catch((error: unknown) => observer.log.error({ reason: String(error) }, 'ledger'));
  }
}
