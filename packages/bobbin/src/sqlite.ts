export { sqliteLedger, sqliteStore, StoreError, type SqliteOptions } from '@bobbin/stores';
