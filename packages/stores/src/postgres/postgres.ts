export { postgresStore, type PostgresOptions, type PostgresStore } from './postgres-store.ts';
export type { ThreadNews } from './notices.ts';
export { compactionQueue, type CompactionQueue } from '../queue/compaction-queue.ts';
export {
  existingPostgresLedger,
  postgresLedger,
  type PostgresLedgerOptions,
} from '../ledger/postgres-ledger.ts';
