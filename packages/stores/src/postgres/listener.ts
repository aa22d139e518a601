import type { Sql } from 'postgres';
import { pool } from './connection.ts';

const RETRY_MS: readonly number[] = [100, 300, 1_000, 3_000];
/** A silent connection may be lost: it is asked something in this time, and given up after twice of it. */
const HEARTBEAT_MS = 10_000;

/** Takes what came through a channel; undefined if something may have come that was not heard. */
type Hearer = (payload: string | undefined) => void;

/**
 * Hears notifications (LISTEN), through one connection for all channels. A lost connection is made again while there
 * are listeners; then all hear that something may have been missed.
 */
export class Listener {
  readonly #url: string;
  readonly #hearers = new Map<string, Set<Hearer>>();
  #sql: Sql | undefined;
  #again = false;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** Begins to hear a channel, until it is stopped. */
  async hear(channel: string, hearer: Hearer): Promise<() => Promise<void>> {
    const hearers = this.#hearers.get(channel) ?? new Set();
    const own: Hearer = (payload) => hearer(payload);
    this.#hearers.set(channel, hearers.add(own));
    try {
      await this.#opened().unsafe(`LISTEN ${quoted(channel)}`);
    } catch (error) {
      this.#forget(channel, own);
      throw error;
    }
    return async () => {
      // A connection that is lost listens to nothing any more.
      if (this.#forget(channel, own))
        await this.#sql?.unsafe(`UNLISTEN ${quoted(channel)}`).catch(() => undefined);
    };
  }

  /** True if it was the last one of its channel. */
  #forget(channel: string, hearer: Hearer): boolean {
    const hearers = this.#hearers.get(channel);
    hearers?.delete(hearer);
    return hearers?.size === 0 && this.#hearers.delete(channel);
  }

  async close(): Promise<void> {
    this.#hearers.clear();
    clearInterval(this.#heartbeat);
    await this.#sql?.end({ timeout: 0 });
  }

  #opened(): Sql {
    if (this.#sql !== undefined) return this.#sql;
    const heard = (channel: string, payload: string): void => this.#report(channel, payload);
    const sql = pool(this.#url, 2 * HEARTBEAT_MS, {
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      onclose: () => void this.#listenAgain(),
      // The driver's own `listen` is made of this, and gives up after one attempt to listen again.
      ...({ onnotify: heard } as object),
    });
    this.#sql = sql;
    const beat = (): void => {
      if (this.#hearers.size > 0) sql.unsafe('SELECT 1').catch(() => undefined);
    };
    this.#heartbeat = setInterval(beat, HEARTBEAT_MS).unref();
    return sql;
  }

  async #listenAgain(): Promise<void> {
    if (this.#again) return;
    this.#again = true;
    for (let attempt = 0; this.#hearers.size > 0; attempt++) {
      try {
        for (const channel of this.#hearers.keys())
          await this.#sql?.unsafe(`LISTEN ${quoted(channel)}`);
        break;
      } catch {
        const wait = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)];
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
    this.#again = false;
    for (const channel of this.#hearers.keys()) this.#report(channel, undefined);
  }

  #report(channel: string, payload: string | undefined): void {
    for (const hearer of this.#hearers.get(channel) ?? []) hearer(payload);
  }
}

function quoted(channel: string): string {
  return `"${channel.replaceAll('"', '""')}"`;
}
