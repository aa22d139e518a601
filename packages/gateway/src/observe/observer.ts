import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { CompactionEvent } from '@bobbin/core';
import type { GatewayLogger } from '../config/gateway-config.ts';
import type { Exchange } from './exchange.ts';
import { Metrics } from './metrics.ts';
import { traceExchange } from './trace.ts';

/** What the gateway reports while it works, to whoever listens in this process. */
export interface GatewayNews {
  readonly tenant: string;
  readonly event: CompactionEvent;
}

/** Reports what happens to logs, metrics, traces and listeners. */
export class Observer {
  readonly metrics: Metrics = new Metrics();
  readonly log: GatewayLogger;
  readonly #news = new EventEmitter<{ news: [GatewayNews] }>();

  constructor(log: GatewayLogger) {
    this.log = log;
    this.#news.setMaxListeners(0);
  }

  event(tenant: string, event: CompactionEvent): void {
    this.metrics.event(event);
    this.#news.emit('news', { tenant, event });
    if (event.kind === 'warning')
      this.log.warn({ tenant, thread: event.thread }, `compaction: ${event.message}`);
  }

  finished(exchange: Exchange, headers: IncomingHttpHeaders): void {
    this.metrics.finished(exchange);
    traceExchange(exchange, headers);
    const isTrouble =
      exchange.action === 'failed-open' || exchange.action === 'late' || exchange.end !== 'relayed';
    this.log[isTrouble ? 'warn' : 'info'](exchange, 'request');
  }

  /** Calls a listener for what happens from now on, until it is stopped. */
  listen(listener: (news: GatewayNews) => void): () => void {
    this.#news.on('news', listener);
    return () => void this.#news.off('news', listener);
  }
}
