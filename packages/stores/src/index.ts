export { jsonlStore, type JsonlOptions } from './jsonl/jsonl-store.ts';
export { decodeLine, encodeLine, SESSION_FORMAT, type SessionLine } from './jsonl/session-file.ts';
export { sqliteStore, type SqliteOptions } from './sqlite/sqlite-store.ts';
export { StoreError, type StoreProblem } from './store-error.ts';
