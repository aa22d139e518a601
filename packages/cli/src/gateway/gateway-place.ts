import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Ledger } from '@bobbin/stores';

const [THREADS, LEDGER, ARTIFACTS] = ['threads.db', 'ledger.db', 'artifacts'];

/** The store of a place: a gateway's folder has one in it. */
export function storeIn(place: string): string {
  return isGatewayFolder(place) ? join(place, THREADS) : place;
}

/** Where the gateway of a place keeps what it moved out of prompts; undefined if there is none. */
export function gatewayArtifacts(place: string): string | undefined {
  const folder = join(place, ARTIFACTS);
  return isGatewayFolder(place) && existsSync(folder) ? folder : undefined;
}

/** Opens what the gateway of a store noted of requests for some work, and closes it; undefined if it is no gateway's. */
export async function withLedger<T>(
  place: string,
  work: (ledger: Ledger | undefined) => Promise<T>,
): Promise<T> {
  const ledger = await ledgerOf(place);
  try {
    return await work(ledger);
  } finally {
    await ledger?.close();
  }
}

async function ledgerOf(place: string): Promise<Ledger | undefined> {
  if (/^postgres(?:ql)?:\/\//.test(place)) {
    const { existingPostgresLedger } = await import('@bobbin/stores/postgres');
    return existingPostgresLedger(place);
  }
  const store = storeIn(place);
  const path = join(dirname(store), LEDGER);
  if (basename(store) !== THREADS || !existsSync(path)) return undefined;
  const { sqliteLedger } = await import('@bobbin/stores');
  return sqliteLedger(path);
}

function isGatewayFolder(place: string): boolean {
  return existsSync(join(place, THREADS));
}
