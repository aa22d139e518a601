import { memoryStore } from '@bobbin/core';
import { storeSuite } from '@bobbin/stores/conformance';

storeSuite('memory', async () => {
  const store = memoryStore();
  return { store, reopen: async () => store, close: () => store.close() };
});
