export {
  postgresStore,
  type PostgresOptions,
  type PostgresStore,
  type ThreadNews,
} from './postgres-store.ts';
export { compactionQueue, type CompactionQueue } from './compaction-queue.ts';
