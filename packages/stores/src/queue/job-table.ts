import type { ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { StoreError, causeText } from '../store-error.ts';
import type { Connection } from '../postgres/connection.ts';

/** A job that this process may do until its lease ends. */
export interface Job {
  readonly key: ThreadKey;
  /** Names the lease: another process that takes the job over has another one. */
  readonly token: string;
}

const LOCK = 0x626f6a;

/**
 * One row for each thread with work to do, so that a thread is never worked on twice at once and a job that is asked
 * for again is the same one. `wanted` says that there is work that no process has begun; a token and a lease say who
 * does it, and until when. A lease that ended, because its process did, is free to be taken.
 */
const TABLE = `
  CREATE SCHEMA IF NOT EXISTS bobbin_jobs;
  CREATE TABLE IF NOT EXISTS bobbin_jobs.jobs (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL,
    wanted bool NOT NULL, run_at timestamptz NOT NULL, attempts int NOT NULL DEFAULT 0,
    token text, lease_until timestamptz,
    PRIMARY KEY (tenant, thread)
  ) WITH (fillfactor = 50);
  CREATE INDEX IF NOT EXISTS jobs_run_at ON bobbin_jobs.jobs (run_at);
`;

/** The jobs of all processes. */
export class JobTable {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async create(): Promise<void> {
    try {
      await this.#connection.transact(async (transaction) => {
        await transaction`SELECT pg_advisory_xact_lock(${LOCK})`;
        // If all of it exists, a role that may only use it needs no permission to make it.
        const [there] =
          await transaction`SELECT to_regclass('bobbin_jobs.jobs_run_at') IS NOT NULL AS made`;
        if (there?.['made'] !== true) await transaction.unsafe(TABLE);
      });
    } catch (error) {
      throw new StoreError(
        'unavailable',
        `postgres: the queue cannot be opened: ${causeText(error)}. Its role must own the schema bobbin_jobs, or have CREATE on the database to make it`,
        error,
      );
    }
  }

  async add({ tenant, thread }: ThreadKey): Promise<void> {
    await this.#connection.ask(
      `INSERT INTO bobbin_jobs.jobs (tenant, thread, wanted, run_at) VALUES ($1, $2, true, now())
       ON CONFLICT (tenant, thread) DO UPDATE SET wanted = true,
         run_at = CASE WHEN jobs.wanted THEN least(jobs.run_at, now()) ELSE now() END`,
      tenant,
      thread,
    );
  }

  /** Takes what is due, or what a process that ended has left. */
  async claim(most: number, leaseMs: number): Promise<readonly Job[]> {
    const rows = (await this.#connection.ask(
      `UPDATE bobbin_jobs.jobs j SET wanted = false, attempts = j.attempts + 1, token = gen_random_uuid()::text,
         lease_until = now() + $2 * interval '1 millisecond'
       FROM (
         SELECT tenant, thread FROM bobbin_jobs.jobs
         WHERE run_at <= now() AND (wanted OR token IS NOT NULL) AND (lease_until IS NULL OR lease_until < now())
         ORDER BY run_at LIMIT $1 FOR UPDATE SKIP LOCKED
       ) due
       WHERE j.tenant = due.tenant AND j.thread = due.thread
       RETURNING j.tenant, j.thread, j.token`,
      most,
      leaseMs,
    )) as readonly { tenant: string; thread: ThreadId; token: string }[];
    return rows.map(({ tenant, thread, token }) => ({ key: { tenant, thread }, token }));
  }

  /** Makes leases longer, and names those that are still held. */
  async renew(tokens: readonly string[], leaseMs: number): Promise<ReadonlySet<string>> {
    const rows = (await this.#connection.ask(
      `UPDATE bobbin_jobs.jobs SET lease_until = now() + $2 * interval '1 millisecond'
       WHERE token = ANY ($1) RETURNING token`,
      tokens,
      leaseMs,
    )) as readonly { token: string }[];
    return new Set(rows.map(({ token }) => token));
  }

  /** Ends a lease. What was asked for meanwhile is done next. */
  async finish({ key: { tenant, thread }, token }: Job): Promise<void> {
    await this.#connection.ask(
      `UPDATE bobbin_jobs.jobs SET token = NULL, lease_until = NULL, attempts = 0 WHERE token = $1`,
      token,
    );
    await this.#connection.ask(
      `DELETE FROM bobbin_jobs.jobs WHERE tenant = $1 AND thread = $2 AND NOT wanted AND token IS NULL`,
      tenant,
      thread,
    );
  }

  /** Ends a lease; the job is tried again, after a second at first and after an hour at most. */
  async putBack({ token }: Job): Promise<void> {
    await this.#connection.ask(
      `UPDATE bobbin_jobs.jobs SET token = NULL, lease_until = NULL, wanted = true,
         run_at = now() + least(3600, 2 ^ least(attempts - 1, 12)) * interval '1 second' WHERE token = $1`,
      token,
    );
  }
}
