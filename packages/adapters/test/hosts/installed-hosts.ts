import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Hosts that are too large for every install: 160 MB each, and half a minute. */
const HOSTS = {
  '@earendil-works/pi-coding-agent': '0.87.1',
  '@opencode-ai/plugin': '1.18.33',
} as const;

/** The folder in which they are installed, once for all runs of these versions. */
export function installedHosts(): string {
  const name = Object.values(HOSTS).join('-');
  const folder = process.env['BOBBIN_HOSTS'] ?? join(tmpdir(), `bobbin-hosts-${name}`);
  if (existsSync(join(folder, 'node_modules'))) return folder;
  mkdirSync(folder, { recursive: true });
  const manifest = { name: 'bobbin-hosts', private: true, type: 'module', dependencies: HOSTS };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...flags], { cwd: folder, stdio: 'inherit' });
  return folder;
}
