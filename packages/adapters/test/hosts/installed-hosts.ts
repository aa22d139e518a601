import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Hosts that are too large for every install: 160 MB, 130 MB and 350 MB, and a minute. */
const HOSTS = {
  '@earendil-works/pi-coding-agent': '0.87.1',
  '@mastra/core': '1.71.0',
  '@opencode-ai/plugin': '1.18.33',
  'opencode-ai': '1.18.33',
} as const;

/** The folder in which they are installed, once for all runs of these versions. Tests that come at once both install. */
export function installedHosts(): string {
  const name = Object.values(HOSTS).join('-');
  const folder = process.env['BOBBIN_HOSTS'] ?? join(tmpdir(), `bobbin-hosts-${name}`);
  if (existsSync(join(folder, 'node_modules'))) return folder;
  const made = mkdtempSync(`${folder}-`);
  const manifest = { name: 'bobbin-hosts', private: true, type: 'module', dependencies: HOSTS };
  writeFileSync(join(made, 'package.json'), JSON.stringify(manifest));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...flags], { cwd: made, stdio: 'inherit' });
  // The one script that is needed: it chooses OpenCode's binary among those for this platform.
  const opencode = join(made, 'node_modules/opencode-ai');
  execFileSync(process.execPath, ['postinstall.mjs'], { cwd: opencode, stdio: 'inherit' });
  try {
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(join(folder, 'node_modules'))) throw error;
    rmSync(made, { recursive: true });
  }
  return folder;
}
