import type { Erasure, Store, SummaryRequest, ThreadKey } from '../ports.ts';
import { canonicalJson } from '../message/json.ts';
import { contentHash } from '../message/message.ts';
import { sha256 } from '../message/sha256.ts';
import type { Node } from '../thread/thread.ts';
import { SUMMARY_SCHEMA_VERSION, type Summary } from '../plan/summary.ts';

/** Keeps summaries by key. One that fails is passed over: a cache can only save work. */
export interface SummaryCache {
  get(key: string): Promise<Summary | undefined>;
  /** Keeps a summary of a thread's messages, with which it is erased. */
  set(key: string, summary: Summary, thread?: ThreadKey): Promise<void>;
  /** Erases the summaries of some threads, or of all that a tenant has. */
  delete(what: Erasure): Promise<void>;
}

/** Keeps the newest summaries in this process. */
export function memorySummaryCache(most: number = 256): SummaryCache {
  const kept = new Map<string, { summary: Summary; thread: ThreadKey | undefined }>();
  return {
    get: (key) => Promise.resolve(kept.get(key)?.summary),
    set(key, summary, thread) {
      kept.delete(key);
      kept.set(key, { summary, thread });
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
      return Promise.resolve();
    },
    delete({ tenant, threads }) {
      for (const [key, { thread }] of kept)
        if (thread?.tenant === tenant && (threads?.includes(thread.thread) ?? true))
          kept.delete(key);
      return Promise.resolve();
    },
  };
}

const cachesOfStores = new WeakMap<Store, SummaryCache>();

/** The cache of all that use a store and have no cache of their own: it is erased with the store's threads. */
export function summariesBeside(store: Store): SummaryCache {
  let cache = cachesOfStores.get(store);
  if (cache === undefined) {
    cache = memorySummaryCache();
    cachesOfStores.set(store, cache);
  }
  return cache;
}

/** A cache in which one tenant finds nothing that another has kept. */
export function ofTenant(cache: SummaryCache, tenant: string): SummaryCache {
  const own = (key: string): string => `${tenant}\n${key}`;
  return {
    get: (key) => cache.get(own(key)),
    set: (key, summary, thread) => cache.set(own(key), summary, thread),
    delete: (what) => cache.delete(what),
  };
}

/**
 * What a summary depends on: what the span says, the schema, the policy, and through the summarizer's id the
 * model and the prompt; with them all else that the request gives the summarizer.
 */
export function summaryKey(request: SummaryRequest, summarizer: string, policy: string): string {
  const { previous, task, round, instructions, systemPrompt, splitTurn, maxTokens } = request;
  return sha256(
    canonicalJson({
      schema: SUMMARY_SCHEMA_VERSION,
      policy,
      summarizer,
      span: content(request.nodes),
      overlap: content(request.overlap),
      previous,
      task,
      round,
      instructions,
      systemPrompt,
      splitTurn,
      maxTokens,
    }),
  );
}

function content(nodes: readonly Node[]): readonly unknown[] {
  return nodes.map(({ message, turn }) => [contentHash(message), turn]);
}

/** A call under way, and how many wait for it. */
interface Call {
  readonly answer: Promise<Summary>;
  /** Aborts it, and lets no other caller join: a summarizer may not listen to the abort. */
  readonly abandon: (reason: unknown) => void;
  waiting: number;
}

/** Asks once for equal requests, also when they come at the same time. A failure is not kept. */
export class SharedCalls {
  readonly #cache: SummaryCache;
  readonly #ask: (request: SummaryRequest) => Promise<Summary>;
  readonly #calls = new Map<string, Call>();

  constructor(cache: SummaryCache, ask: (request: SummaryRequest) => Promise<Summary>) {
    this.#cache = cache;
    this.#ask = ask;
  }

  async answer(key: string, request: SummaryRequest): Promise<Summary> {
    request.signal?.throwIfAborted();
    const known = this.#calls.has(key) ? undefined : await this.#cached(key);
    request.signal?.throwIfAborted();
    const call = this.#calls.get(key);
    if (known !== undefined || call !== undefined) request.report?.({ kind: 'cached', key });
    return known ?? join(call ?? this.#start(key, request), request.signal);
  }

  #cached(key: string): Promise<Summary | undefined> {
    return this.#cache.get(key).catch(() => undefined);
  }

  #start(key: string, request: SummaryRequest): Call {
    const controller = new AbortController();
    const end = (): void => {
      if (this.#calls.get(key) === call) this.#calls.delete(key);
    };
    const answer = this.#ask({ ...request, signal: controller.signal })
      .then(async (made) => {
        await this.#cache.set(key, made, request.thread).catch(() => undefined);
        return made;
      })
      .finally(end);
    const abandon = (reason: unknown): void => {
      end();
      controller.abort(reason);
    };
    const call: Call = { answer, abandon, waiting: 0 };
    this.#calls.set(key, call);
    return call;
  }
}

/** Waits for a call. One that gives up leaves the others waiting; when all have, the call is abandoned. */
async function join(call: Call, signal: AbortSignal | undefined): Promise<Summary> {
  call.waiting += 1;
  if (signal === undefined) return call.answer;
  let leave: (() => void) | undefined;
  const gaveUp = new Promise<never>((_, reject) => {
    leave = () => {
      call.waiting -= 1;
      if (call.waiting === 0) call.abandon(signal.reason);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([call.answer, gaveUp]);
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave);
  }
}
