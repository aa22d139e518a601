export { sqliteStore, type SqliteOptions } from './sqlite/sqlite-store.ts';
export { StoreError, type StoreProblem } from './store-error.ts';
