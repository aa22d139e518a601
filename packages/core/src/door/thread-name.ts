import type { ThreadKey } from '../ports.ts';

/**
 * Tenants and threads may have any name that every store can tell from any other: half a surrogate pair becomes the
 * same character as any other half in UTF-8, and PostgreSQL keeps no NUL.
 */
export function assertName(name: string): void {
  if (!name.isWellFormed() || name.includes('\0'))
    throw new RangeError(
      `${JSON.stringify(name)} cannot name a tenant or a thread: half a surrogate pair and NUL are no text`,
    );
}

/** @throws RangeError where the tenant or the thread has no name that a store can keep. */
export function assertKey({ tenant, thread }: ThreadKey): void {
  assertName(tenant);
  assertName(thread);
}
