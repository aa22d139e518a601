import { postgresStore } from '@bobbin/stores/postgres';
import { storeSuite } from '@bobbin/stores/conformance';
import { volume } from '@bobbin/testing/volume';
import { newDatabase } from './shared-postgres.ts';

storeSuite(
  'postgres',
  async () => {
    const url = await newDatabase();
    const store = await postgresStore(url);
    return {
      store,
      reopen: () => postgresStore(url),
      async close() {
        await store.close();
      },
    };
  },
  { randomRuns: volume(1, 10) },
);
