import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ThreadId } from '@bobbin/core';
import type { Connection } from './connection.ts';
import { Rounds } from './rounds.ts';

export type ThreadNews =
  /** A thread's events up to a sequence number can be read now. */
  | { readonly kind: 'events'; readonly thread: ThreadId; readonly sequence: number }
  /** Something may have happened in any thread: read again what matters. */
  | { readonly kind: 'missed' };

/** A notification is at most 8 000 bytes long; for a thread with a longer name it says only that something happened. */
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

/** A notification need not survive a crash, because no listener would hear it. So it does not wait for the disk. */
const NOTIFY = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(n.channel, n.payload)
  FROM unnest($1::text[], $2::text[]) AS n (channel, payload)`;
/** What comes in this time goes together. */
const PAUSE_MS = 5;

interface Notice {
  readonly channel: string;
  readonly payload: string;
}

/**
 * Sends notifications after what they are about was committed, many at once. Within a commit a notification would hold
 * the one lock of the whole server that all others wait for, until the commit is on the disk.
 */
export class Outbox {
  readonly #rounds: Rounds<Notice, unknown>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection) {
    this.#rounds = new Rounds(async (notices) => {
      const sent = await connection.ask(
        NOTIFY,
        notices.map(({ channel }) => channel),
        notices.map(({ payload }) => payload),
      );
      await sleep(PAUSE_MS);
      return sent;
    }, 1);
  }

  post(tenant: string, thread: ThreadId, sequence: number): void {
    const isNamed = thread.length <= LONGEST_NAME;
    const payload = JSON.stringify(isNamed ? { thread, sequence } : { sequence });
    // A notification that is lost costs a listener time, not data: the next one of its thread has a higher number.
    this.#last = this.#rounds.ask({ channel: channelOf(tenant), payload }).catch(() => undefined);
  }

  /** Resolves when all that was posted is sent. */
  async flush(): Promise<void> {
    await this.#last;
  }
}
