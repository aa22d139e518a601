import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '@bobbin/stores';
import { storeSuite } from '@bobbin/stores/conformance';

storeSuite('sqlite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-sqlite-'));
  const path = join(folder, 'threads.db');
  const store = sqliteStore(path, { sync: 'normal' });
  return {
    store,
    reopen: async () => sqliteStore(path, { sync: 'normal' }),
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});
