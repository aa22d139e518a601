import type { CompactionEvent } from '@bobbin/core';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Exchange } from './exchange.ts';

const FINE_SECONDS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.04, 0.1, 0.25, 1];
const COARSE_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600];

/** What `GET /metrics` shows. */
export class Metrics {
  readonly registry: Registry = new Registry();
  readonly #requests: Counter<'protocol' | 'action' | 'status' | 'end'>;
  readonly #tokens: Counter<'protocol' | 'kind'>;
  readonly #events: Counter<'kind'>;
  readonly #ownWork: Histogram<'protocol'>;
  readonly #duration: Histogram<'protocol'>;
  readonly #open: Gauge;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Counter({
      name: 'bobbin_requests_total',
      help: 'Requests that the gateway read, by what it did with them.',
      labelNames: ['protocol', 'action', 'status', 'end'],
      registers,
    });
    this.#tokens = new Counter({
      name: 'bobbin_tokens_total',
      help: 'Tokens: before and after compaction as counted; fresh, cache_write, cache_read and output as reported; paid and full in tokens of fresh input.',
      labelNames: ['protocol', 'kind'],
      registers,
    });
    this.#events = new Counter({
      name: 'bobbin_events_total',
      help: 'Compaction events by kind.',
      labelNames: ['kind'],
      registers,
    });
    this.#ownWork = new Histogram({
      name: 'bobbin_own_work_seconds',
      help: "The gateway's own work before a request goes out.",
      labelNames: ['protocol'],
      buckets: FINE_SECONDS,
      registers,
    });
    this.#duration = new Histogram({
      name: 'bobbin_request_seconds',
      help: 'Whole requests, streams included.',
      labelNames: ['protocol'],
      buckets: COARSE_SECONDS,
      registers,
    });
    this.#open = new Gauge({
      name: 'bobbin_open_requests',
      help: 'Requests that are not finished.',
      registers,
    });
  }

  opened(): void {
    this.#open.inc();
  }

  closed(): void {
    this.#open.dec();
  }

  event({ kind }: CompactionEvent): void {
    this.#events.inc({ kind });
  }

  finished(exchange: Exchange): void {
    const { protocol, action, end, status, ownMs, totalMs } = exchange;
    this.#requests.inc({ protocol, action, end, status: String(status ?? 0) });
    this.#ownWork.observe({ protocol }, ownMs / 1_000);
    this.#duration.observe({ protocol }, totalMs / 1_000);
    for (const [kind, tokens] of Object.entries(tokensOf(exchange)))
      if (tokens !== undefined && tokens > 0) this.#tokens.inc({ protocol, kind }, tokens);
  }
}

function tokensOf(exchange: Exchange): Readonly<Record<string, number | undefined>> {
  const { usage, tokensBefore, tokensAfter, paidTokens, fullTokens } = exchange;
  return {
    before: tokensBefore,
    after: tokensAfter,
    fresh: usage?.inputTokens,
    cache_write: usage?.cacheWriteTokens,
    cache_read: usage?.cacheReadTokens,
    output: usage?.outputTokens,
    paid: paidTokens,
    full: fullTokens,
  };
}
