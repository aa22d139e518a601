export { jsonlStore, StoreError, type JsonlOptions } from '@bobbin/stores';
