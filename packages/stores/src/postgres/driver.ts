import { orInstall } from '@bobbin/core/internal';
import type postgres from 'postgres';

export type Driver = typeof postgres;

let loaded: Driver | undefined;

/** Loads the driver, which is optional: a host that keeps no threads in PostgreSQL does without. */
export async function loadDriver(): Promise<void> {
  loaded ??= (await import('postgres').catch(orInstall('a PostgreSQL store', 'postgres'))).default;
}

/** The driver, once a connection was opened. */
export function driver(): Driver {
  if (loaded === undefined) throw new Error('the driver of PostgreSQL is not loaded');
  return loaded;
}
