import type { MaybeRow, PendingQuery, Sql, TransactionSql } from 'postgres';
import { causeText, StoreError } from '../store-error.ts';
import { driver } from './driver.ts';

/** How long the database is waited for. */
export interface Patience {
  /** How long a connection may be silent while something is asked. */
  readonly timeoutMs: number;
  /** How long an operation is retried after it failed for lack of a connection. */
  readonly retryMs: number;
}

const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 1_000;

/** Retries if a connection was lost or refused, for as long as the patience lasts. Only for what may be repeated. */
export function reliably<T>(patience: Patience, work: () => PromiseLike<T>): Promise<T> {
  return again(patience, work, (error) => isLostConnection(error) || isUnreached(error));
}

/** Tries again only if nothing can have reached the server. */
export function once<T extends readonly MaybeRow[]>(
  patience: Patience,
  send: () => PendingQuery<T>,
): Promise<T> {
  let query: PendingQuery<T> | undefined;
  const sendAgain = (): PendingQuery<T> => (query = send());
  return again<T>(
    patience,
    sendAgain,
    (error) => isUnreached(error) || (isLostConnection(error) && isUnsent(query)),
  );
}

/** Such an error (see `mayBeOld`) comes instead of sending the query. One that was sent has the state of its connection. */
function isUnsent(query: unknown): boolean {
  return (query as { state?: unknown }).state === null;
}

async function again<T>(
  { timeoutMs, retryMs }: Patience,
  work: () => PromiseLike<T>,
  mayRepeat: (error: unknown) => boolean,
): Promise<T> {
  const started = performance.now();
  const deadline = new Deadline(timeoutMs + retryMs);
  let wait = FIRST_WAIT_MS;
  let isRepeatedAtOnce = false;
  try {
    for (;;) {
      try {
        return await Promise.race([work(), deadline.passed]);
      } catch (error) {
        const isOver = deadline.isPast || performance.now() - started + wait > retryMs;
        if (isOver || !mayRepeat(error)) throw located(error);
        isRepeatedAtOnce = !isRepeatedAtOnce && mayBeOld(error);
        if (isRepeatedAtOnce) continue;
      }
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
  } finally {
    deadline.cancel();
  }
}

/**
 * The driver keeps the error with which the server ended a connection, and gives it to the first query of the next one,
 * which is open then: the next attempt follows at once. SQLSTATE 57P: the server ends or starts, 53300: too many
 * connections.
 */
function mayBeOld(error: unknown): boolean {
  return /^(57P|53300)/.test(codeOf(error));
}

/** A query may wait for a connection that never comes. A plain timer: signals cost a query a third of its time. */
class Deadline {
  readonly #timer: NodeJS.Timeout;
  /** Rejects when the time is over. */
  readonly passed: Promise<never>;
  isPast = false;

  constructor(ms: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.passed = promise;
    this.#timer = setTimeout(() => {
      this.isPast = true;
      reject(new Error('no answer from the server in time'));
    }, ms).unref();
    // It may pass between two attempts.
    promise.catch(() => undefined);
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Some work in one transaction. When a query fails, the driver sends a rollback, which ends the process if the
 * connection is gone. So the driver does not learn of the failure, and this rejects as soon as the connection is
 * closed.
 */
export function transact<T>(
  sql: Sql,
  work: (transaction: TransactionSql) => Promise<T>,
): PromiseLike<T> {
  const whileConnected = (transaction: TransactionSql): Promise<T> =>
    work(transaction).catch((error: unknown) => {
      if (isLostConnection(error)) return new Promise<never>(() => undefined);
      throw error;
    });
  return sql.begin(whileConnected) as Promise<T>;
}

/** SQLSTATE 08: connection exceptions, 57P: the server ends it; or a code of the client or of the system. */
function isLostConnection(error: unknown): boolean {
  return /^(08|57P|CONNECTION_|ECONNRESET|EPIPE|ETIMEDOUT)/.test(codeOf(error));
}

/**
 * Nothing was done. SQLSTATE 53300: too many connections, 57P03: the server starts or stops, 25006: it is a replica that
 * may be about to take over, 40001 and 40P01: rolled back because of other transactions; or a code of the system when it
 * connects.
 */
function isUnreached(error: unknown): boolean {
  return /^(53300|57P03|25006|40001|40P01|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|CONNECT_TIMEOUT)$/.test(
    codeOf(error),
  );
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** True if the server answered that it will not do it: it did nothing. */
export function isRefused(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  return cause instanceof driver().PostgresError && !isLostConnection(cause);
}

/** Turns the driver's errors into ours. */
export function located(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  // SQLSTATE XX001 and XX002: data and index corrupted.
  const damaged = /^XX00[12]$/.test(codeOf(error));
  return new StoreError(
    damaged ? 'damaged' : 'unavailable',
    `postgres: ${causeText(error)}`,
    error,
  );
}
