export { memorySummaryCache, type SummaryCache } from '@bobbin/core/internal';
export {
  folderArtifacts,
  keepArtifacts,
  makeFolders,
  type ArtifactOptions,
  type ArtifactProblem,
  type CopiedArtifacts,
  type KeptArtifacts,
  type Rotated,
  type Swept,
  type SweepOptions,
} from './artifacts/artifacts.ts';
export type { Blobs } from './artifacts/blobs.ts';
export { encryptedBlobs } from './artifacts/encrypted-blobs.ts';
export { folderBlobs } from './artifacts/folder-blobs.ts';
export type { KeyRing } from './artifacts/key-ring.ts';
export { liveArtifacts } from './artifacts/live-artifacts.ts';
export { s3Artifacts } from './artifacts/s3-artifacts.ts';
export { s3Blobs, type S3Options } from './artifacts/s3-blobs.ts';
export type { TieredStore } from './cold/move-cold.ts';
export { copyStore, type Copied } from './copy-store.ts';
export { erase, eraseOld, type Retention } from './erase.ts';
export { jsonlStore, type JsonlOptions } from './jsonl/jsonl-store.ts';
export { decodeLine, encodeLine, SESSION_FORMAT, type SessionLine } from './jsonl/session-file.ts';
export type {
  HiddenRounds,
  Ledger,
  LedgerAnswer,
  LedgerEntry,
  LedgerRequest,
  LedgerSum,
  NotedThread,
} from './ledger/ledger.ts';
export { sqliteLedger } from './ledger/sqlite-ledger.ts';
export { routingStore, type Route } from './routing-store.ts';
export { SessionService, type SessionCompaction, type SessionOptions } from './session-service.ts';
export type { SqliteOptions } from './sqlite/sqlite-options.ts';
export { sqliteStore } from './sqlite/sqlite-store.ts';
export { StoreError, type StoreProblem } from './store-error.ts';
export { threadsOf } from './threads-of.ts';
export { verifyStore, type StoreVerdict, type ThreadProblem } from './verify-store.ts';
