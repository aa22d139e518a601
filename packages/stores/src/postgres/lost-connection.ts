import type { Sql, TransactionSql } from 'postgres';
import { causeText, StoreError } from '../store-error.ts';

const RETRY_MS: readonly number[] = [20, 200];

/** Tries again where the connection was lost: a pool may hold one that the server has closed meanwhile. */
export async function reliably<T>(work: () => PromiseLike<T>): Promise<T> {
  for (const wait of RETRY_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isLostConnection(error)) throw located(error);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  try {
    return await work();
  } catch (error) {
    throw located(error);
  }
}

/**
 * Some work in one transaction. Told that a query failed, the driver sends a rollback, which ends the process where the
 * connection is gone: so it is told nothing of that, and itself rejects as soon as the connection is closed.
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
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^(08|57P|CONNECTION_|ECONNRESET|EPIPE)/.test(code);
}

/** Turns the driver's errors into ours. */
export function located(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  // SQLSTATE XX001 and XX002: data and index corrupted.
  const { code } = error as { code?: unknown };
  const damaged = code === 'XX001' || code === 'XX002';
  return new StoreError(
    damaged ? 'damaged' : 'unavailable',
    `postgres: ${causeText(error)}`,
    error,
  );
}
