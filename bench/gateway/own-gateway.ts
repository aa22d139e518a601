// The gateway with SQLite, as `bobbin serve` runs it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatewaySettings, runGateway } from '@bobbin/gateway';

const [upstream = ''] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'));
const flags = {
  port: '0',
  openai: upstream,
  store: folder,
  window: '1000000',
  'log-level': 'error',
};
const gateway = await runGateway(gatewaySettings({ flags, env: {} }), {});
console.log(new URL(gateway.url).port);
process.once('SIGTERM', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
