import { createHash } from 'node:crypto';
import type { ThreadId } from '@bobbin/core';
import type { Connection } from './connection.ts';

export type ThreadNews =
  /** A thread's events up to a sequence number can be read now. */
  | { readonly kind: 'events'; readonly thread: ThreadId; readonly sequence: number }
  /** Something may have happened in any thread: read again what matters. */
  | { readonly kind: 'missed' };

/** A notification is at most 8 000 bytes long; of a thread with a longer name it says only that something happened. */
const LONGEST_NAME = 1_000;

/** The channel of a tenant. */
export function channelOf(tenant: string): string {
  return `bobbin_${createHash('sha256').update(tenant).digest('hex').slice(0, 32)}`;
}

export function newsOf(payload: string | undefined): ThreadNews {
  const { thread, sequence } = JSON.parse(payload ?? '{}') as {
    thread?: ThreadId;
    sequence?: number;
  };
  return thread !== undefined && sequence !== undefined
    ? { kind: 'events', thread, sequence }
    : { kind: 'missed' };
}

/**
 * Sends notifications after what they are about was committed, many at once. Within a commit a notification would hold
 * the one lock of the whole server that all others wait for, until the commit is on the disk.
 */
export class Outbox {
  readonly #connection: Connection;
  #waiting: { channel: string; payload: string }[] = [];
  #sending: Promise<void> | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  post(tenant: string, thread: ThreadId, sequence: number): void {
    const isNamed = thread.length <= LONGEST_NAME;
    const payload = JSON.stringify(isNamed ? { thread, sequence } : { sequence });
    this.#waiting.push({ channel: channelOf(tenant), payload });
    this.#sending ??= this.#send();
  }

  /** Resolves when all that was posted is sent. */
  async flush(): Promise<void> {
    await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const sent = this.#waiting.splice(0);
      // A notification that is lost costs a listener time, not data: the next one of its thread has a higher number.
      await this.#connection
        .ask(
          'SELECT pg_notify(n.channel, n.payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)',
          sent.map(({ channel }) => channel),
          sent.map(({ payload }) => payload),
        )
        .catch(() => undefined);
    }
    this.#sending = undefined;
  }
}
