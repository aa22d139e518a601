import type { Store } from '@bobbin/core';
import { InputError } from './failure.ts';

const POSTGRES = /^postgres(?:ql)?:\/\//;
const SQLITE = /\.(?:db|sqlite3?)$/;

/**
 * Opens a store by its address: PostgreSQL, a SQLite file or a folder. One that is only read must be there, and opening
 * changes nothing of it. Stores are loaded when they are asked for: no other command waits for them.
 */
export async function openStore(place: string, existing: boolean): Promise<Store> {
  if (POSTGRES.test(place)) {
    const { postgresStore } = await import('@bobbin/stores/postgres');
    return postgresStore(place, { existing });
  }
  const { jsonlStore, sqliteStore } = await import('@bobbin/stores');
  // Broken off, a copy is repeated: it need not survive the power failing.
  return SQLITE.test(place)
    ? sqliteStore(place, { sync: 'normal', existing })
    : jsonlStore(place, { existing });
}

/** Opens a store for some work, and closes it. */
export async function withStore<T>(
  place: string,
  existing: boolean,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(place, existing);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The tenants that were named, which must have threads; all where none was. */
export async function tenantsOf(
  store: Store,
  place: string,
  named: readonly string[] | undefined,
): Promise<readonly string[]> {
  for (const tenant of named ?? [])
    if ((await store.threads(tenant, 1)).length === 0)
      throw new InputError(
        place,
        undefined,
        `tenant ${JSON.stringify(tenant)} has no threads there`,
      );
  return named ?? store.tenants();
}
