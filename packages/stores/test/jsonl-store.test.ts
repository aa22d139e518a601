import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonlStore } from '@bobbin/stores';
import { storeSuite } from '@bobbin/stores/conformance';
import { volume } from '@bobbin/testing/volume';

storeSuite(
  'jsonl',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-jsonl-'));
    const store = jsonlStore(folder, { sync: 'normal' });
    return {
      store,
      reopen: async () => jsonlStore(folder, { sync: 'normal' }),
      async close() {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
  { randomRuns: volume(1, 10) },
);
