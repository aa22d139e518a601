import type { Store } from '@bobbin/core';
import { jsonlStore } from '../src/jsonl/jsonl-store.ts';
import { sqliteStore } from '../src/sqlite/sqlite-store.ts';

export type StoreKind = 'jsonl' | 'sqlite' | 'postgres';

/** Opens a store where another process has it too; a process that is soon killed loads no more than it needs. */
export async function openStore(kind: StoreKind, place: string): Promise<Store> {
  switch (kind) {
    case 'jsonl':
      return jsonlStore(place, { sync: 'normal' });
    case 'sqlite':
      return sqliteStore(place, { sync: 'normal' });
    case 'postgres':
      return (await import('../src/postgres/postgres-store.ts')).postgresStore(place, {
        connections: 2,
      });
  }
}
