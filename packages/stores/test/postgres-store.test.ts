import { postgresStore } from '@bobbin/stores/postgres';
import { storeSuite } from '@bobbin/stores/conformance';
import { startPostgres } from './postgres-server.ts';

storeSuite('postgres', async () => {
  const server = await startPostgres();
  const store = await postgresStore(server.url());
  return {
    store,
    reopen: () => postgresStore(server.url()),
    async close() {
      await store.close();
      await server.stop();
    },
  };
});
