import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '@bobbin/stores';
import { storeSuite } from '@bobbin/stores/conformance';
import { volume } from '@bobbin/testing/volume';

storeSuite(
  'sqlite',
  async () => {
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
  },
  { randomRuns: volume(1, 10) },
);
