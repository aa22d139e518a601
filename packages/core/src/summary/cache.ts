import type { Summarizer, SummaryRequest } from '../ports.ts';
import { canonicalJson } from '../message/json.ts';
import { contentHash } from '../message/message.ts';
import { sha256 } from '../message/sha256.ts';
import type { Node } from '../thread/thread.ts';
import { SUMMARY_SCHEMA_VERSION, type Summary } from '../plan/summary.ts';

/** Keeps summaries by key. One that fails is passed over: a cache can only save work. */
export interface SummaryCache {
  get(key: string): Promise<Summary | undefined>;
  set(key: string, summary: Summary): Promise<void>;
}

/** Keeps the newest summaries in this process. */
export function memorySummaryCache(most: number = 256): SummaryCache {
  const kept = new Map<string, Summary>();
  return {
    get: (key) => Promise.resolve(kept.get(key)),
    set(key, summary) {
      kept.delete(key);
      kept.set(key, summary);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
      return Promise.resolve();
    },
  };
}

/**
 * What a summary depends on: what the span says, the schema, the policy, and through the summarizer's id the
 * model and the prompt; with them all else that the request gives the summarizer.
 */
export function summaryKey(request: SummaryRequest, summarizer: string, policy: string): string {
  const { previous, task, round, instructions, splitTurn, maxTokens } = request;
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
      splitTurn,
      maxTokens,
    }),
  );
}

function content(nodes: readonly Node[]): readonly unknown[] {
  return nodes.map(({ message, turn }) => [contentHash(message), turn]);
}

/** A call under way, and how many wait for it. */
interface Flight {
  readonly summary: Promise<Summary>;
  /** Aborts it, and lets nobody board any more: a summarizer may not listen to the abort. */
  readonly abandon: (reason: unknown) => void;
  waiting: number;
}

/** Asks once for equal requests, also when they come at the same time. A failure is not kept. */
export function cachedSummarizer(
  inner: Summarizer,
  cache: SummaryCache,
  policy: string,
): Summarizer {
  const flights = new Map<string, Flight>();
  const start = (key: string, request: SummaryRequest): Flight => {
    const controller = new AbortController();
    const end = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    const summary = inner
      .summarize({ ...request, signal: controller.signal })
      .then(async (made) => {
        await cache.set(key, made).catch(() => undefined);
        return made;
      })
      .finally(end);
    const abandon = (reason: unknown): void => {
      end();
      controller.abort(reason);
    };
    const flight: Flight = { summary, abandon, waiting: 0 };
    flights.set(key, flight);
    return flight;
  };
  return {
    id: inner.id,
    async summarize(request: SummaryRequest) {
      request.signal?.throwIfAborted();
      const key = summaryKey(request, inner.id, policy);
      const known = flights.has(key) ? undefined : await cache.get(key).catch(() => undefined);
      request.signal?.throwIfAborted();
      const flight = flights.get(key);
      if (known !== undefined || flight !== undefined) request.report?.({ kind: 'cached', key });
      return known ?? board(flight ?? start(key, request), request.signal);
    },
  };
}

/** Waits for a call. Who gives up leaves the others waiting; when all have, the call is abandoned. */
async function board(flight: Flight, signal: AbortSignal | undefined): Promise<Summary> {
  flight.waiting += 1;
  if (signal === undefined) return flight.summary;
  const gaveUp = Promise.withResolvers<never>();
  const leave = (): void => {
    flight.waiting -= 1;
    if (flight.waiting === 0) flight.abandon(signal.reason);
    gaveUp.reject(signal.reason as Error);
  };
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([flight.summary, gaveUp.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
