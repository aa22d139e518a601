// Packs the package, tries it as users have it, and publishes it: npm run release [-- --dry-run]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from '../package/pack.ts';
import { Trial } from './trial.ts';

const root = process.cwd();
const isDryRun = process.argv.includes('--dry-run');
const place = mkdtempSync(join(tmpdir(), 'bobbin-release-'));
try {
  const tarball = await pack(root, place);
  execFileSync(process.execPath, ['node_modules/publint/src/cli.js', tarball, '--strict'], {
    stdio: 'inherit',
  });
  const trial = new Trial(root, join(place, 'trial'));
  const failures = trial.run(tarball);
  for (const failure of failures) console.error(failure);
  if (failures.length > 0)
    throw new Error(`${failures.length} trials failed; nothing is published`);
  const args = ['publish', tarball, '--access', 'public', ...(isDryRun ? ['--dry-run'] : [])];
  execFileSync('npm', args, { stdio: 'inherit' });
} finally {
  rmSync(place, { recursive: true });
}
