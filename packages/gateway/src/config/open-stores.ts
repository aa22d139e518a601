import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ArtifactStore } from '@bobbin/core';
import {
  folderArtifacts,
  makeFolders,
  s3Artifacts,
  sqliteLedger,
  sqliteStore,
} from '@bobbin/stores';
import type { GatewayStores } from './gateway-config.ts';
import { SettingError, type Environment, type GatewaySettings } from './settings.ts';

export interface OpenedStores extends GatewayStores {
  /** Where threads are kept, without a password. */
  readonly shown: string;
  close(): Promise<void>;
}

const POSTGRES = /^postgres(?:ql)?:\/\//;
/** A gateway relays a request as it is rather than wait for a database. */
const RETRY_MS = 2_000;

/** Opens what a gateway keeps things in: a folder of SQLite files, or PostgreSQL. */
export async function openStores(
  { store: place, artifacts }: Pick<GatewaySettings, 'store' | 'artifacts'>,
  env: Environment,
): Promise<OpenedStores> {
  const data = env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share');
  const folder = join(data, 'bobbin', 'gateway');
  const kept = artifactStore(artifacts ?? join(folderOf(place, folder), 'artifacts'), env);
  const opened =
    place !== undefined && POSTGRES.test(place)
      ? await openPostgres(place)
      : await openSqlite(folderOf(place, folder));
  const { store, ledger } = opened;
  return {
    ...opened,
    artifacts: kept,
    async close() {
      await ledger.close();
      await store.close();
    },
  };
}

type Opened = Pick<OpenedStores, 'store' | 'ledger' | 'shown'>;

async function openPostgres(url: string): Promise<Opened> {
  const { postgresLedger, postgresStore } = await import('@bobbin/stores/postgres');
  const store = await postgresStore(url, { retryMs: RETRY_MS });
  try {
    const ledger = await postgresLedger(url, { retryMs: RETRY_MS });
    return { store, ledger, shown: `postgres://${new URL(url).host}` };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openSqlite(folder: string): Promise<Opened> {
  assertNoFile(folder);
  await makeFolders(folder);
  // What was acknowledged survives the end of the process; a power failure may take back the newest requests.
  const store = sqliteStore(join(folder, 'threads.db'), { sync: 'normal' });
  return { store, ledger: sqliteLedger(join(folder, 'ledger.db')), shown: folder };
}

/** A new folder that is named like a file would be taken for one by everybody. */
function assertNoFile(place: string): void {
  const there = statSync(place, { throwIfNoEntry: false });
  const isFile = there === undefined ? /\.(?:db|sqlite3?)$/.test(place) : !there.isDirectory();
  if (isFile)
    throw new SettingError(`store ${place} must be a folder or a postgres:// address, not a file`);
}

function folderOf(place: string | undefined, usual: string): string {
  return place === undefined || POSTGRES.test(place) ? usual : place;
}

function artifactStore(place: string, env: Environment): ArtifactStore {
  const bucket = /^s3:\/\/([^/]+)$/.exec(place)?.[1];
  if (bucket === undefined) return folderArtifacts(place);
  const region = env['AWS_REGION'] ?? 'us-east-1';
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new SettingError(
      `artifacts ${place}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL_S3 for another store than Amazon's`,
    );
  return s3Artifacts({
    bucket,
    region,
    accessKeyId,
    secretAccessKey,
    endpoint: env['AWS_ENDPOINT_URL_S3'] ?? `https://s3.${region}.amazonaws.com`,
    ...(env['AWS_SESSION_TOKEN'] === undefined ? {} : { sessionToken: env['AWS_SESSION_TOKEN'] }),
  });
}
