import { memoryStore } from '@bobbin/core';
import { storeSuite } from '@bobbin/stores/conformance';
import { volume } from '@bobbin/testing/volume';

storeSuite(
  'memory',
  async () => {
    const store = memoryStore();
    return { store, reopen: async () => store, close: () => store.close() };
  },
  { randomRuns: volume(1, 10) },
);
