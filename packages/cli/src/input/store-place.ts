import { existsSync, statSync } from 'node:fs';
import type { Store } from '@bobbin/core';
import { InputError } from '../failure.ts';
import { storeIn } from '../gateway/gateway-place.ts';

const POSTGRES = /^postgres(?:ql)?:\/\//;
const SQLITE = /\.(?:db|sqlite3?)$/;

/**
 * Opens a store by its address: PostgreSQL, a SQLite file, a folder, or a gateway's folder, which has a SQLite file in
 * it. One that is only read must be there, and opening changes nothing of it. Stores are loaded when they are asked for:
 * no other command waits for them.
 */
async function openStore(place: string, existing: boolean): Promise<Store> {
  const address = storeIn(place);
  if (POSTGRES.test(address)) {
    const { postgresStore } = await import('@bobbin/stores/postgres');
    // A person who waits sees sooner that nothing answers.
    return postgresStore(address, { existing, retryMs: 2_000 });
  }
  const { sqliteStore } = await import('@bobbin/stores');
  // Broken off, a copy is repeated: it need not survive the power failing.
  return isSqlite(address)
    ? sqliteStore(address, { sync: 'normal', existing })
    : folderStore(address, existing);
}

async function folderStore(folder: string, existing: boolean): Promise<Store> {
  const { jsonlStore, StoreError } = await import('@bobbin/stores');
  try {
    return jsonlStore(folder, { existing });
  } catch (error) {
    if (!isAbsence(error) || !isFolder(folder)) throw error;
    throw new StoreError(
      'unavailable',
      `${folder}: there is no store in this folder: neither threads.db of a gateway nor session files`,
    );
  }
}

/** A folder may have any name, such as that of a file. */
function isSqlite(place: string): boolean {
  return SQLITE.test(place) && !isFolder(place);
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A place as it may be shown: an address without its user, its password and its parameters, which may hold one. */
export function shownPlace(place: string): string {
  const [scheme] = POSTGRES.exec(place) ?? [];
  if (scheme === undefined) return place;
  const [address = '', ...more] = place.slice(scheme.length).split(/[?#]/);
  // If an unescaped password holds what ends an address, all of it may be the password.
  if (more.some((part) => part.includes('@'))) return `${scheme}…`;
  return scheme + address.slice(address.lastIndexOf('@') + 1);
}

/** Makes a store or brings an older one up to date, and says in words which. */
export async function migrateStore(place: string): Promise<string> {
  const address = storeIn(place);
  const isFiles = !POSTGRES.test(address) && !isSqlite(address);
  if (isFiles && existsSync(place) && !isFolder(place))
    throw new InputError(place, undefined, 'is a file, and neither .db nor .sqlite');
  const before = await stateOf(place);
  if (before === 'present') return `${shownPlace(place)} is up to date`;
  if (isFiles) return `${place}: there is no store; its folder will be made with its first thread`;
  await (await openStore(place, false)).close();
  return `${shownPlace(place)} was ${before === 'absent' ? 'made' : 'brought up to date'}`;
}

async function stateOf(place: string): Promise<'present' | 'older' | 'absent'> {
  try {
    await (await openStore(place, true)).close();
    return 'present';
  } catch (error) {
    return isAbsence(error) ? 'absent' : 'older';
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && /there is no store/.test(error.message);
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

/** The tenants that were named, which must have threads; all if none was. */
export async function tenantsOf(
  store: Store,
  place: string,
  named: readonly string[] | undefined,
): Promise<readonly string[]> {
  for (const tenant of named ?? [])
    if ((await store.threads(tenant, 1)).length === 0)
      throw new InputError(
        shownPlace(place),
        undefined,
        `tenant ${JSON.stringify(tenant)} has no threads there`,
      );
  return named ?? store.tenants();
}
