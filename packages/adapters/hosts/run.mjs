// Installs the hosts that are too large for every install, once, and runs the adapters in them:
// `npm run hosts -w packages/adapters`. Needs the packages built (`npm run build`).
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const here = import.meta.dirname;
const manifest = join(here, 'package.json');
const version = createHash('sha256').update(readFileSync(manifest)).digest('hex').slice(0, 12);
const folder = join(tmpdir(), `bobbin-hosts-${version}`);

if (!existsSync(join(folder, 'node_modules'))) {
  mkdirSync(folder, { recursive: true });
  cpSync(manifest, join(folder, 'package.json'));
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
}

const tests = readdirSync(here).filter((name) => name.endsWith('.host.ts'));
execFileSync(
  process.execPath,
  ['--test', '--conditions=@bobbin/source', ...tests.map((name) => join(here, name))],
  { stdio: 'inherit', env: { ...process.env, BOBBIN_HOSTS: folder } },
);
