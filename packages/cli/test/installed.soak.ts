import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folder } from './run.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGES = ['agent', 'cli', 'codecs', 'core', 'models', 'stores'];

/** The published packages, unpacked as npm would, beside the dependencies that the workspace has. */
function installed(t: TestContext): string {
  const place = folder(t);
  const modules = join(place, 'node_modules');
  mkdirSync(join(modules, '@bobbin'), { recursive: true });
  for (const name of PACKAGES) {
    const args = ['pack', '--silent', '--pack-destination', place];
    const file = execFileSync('npm', args, { cwd: join(ROOT, 'packages', name), encoding: 'utf8' });
    execFileSync('tar', ['-xzf', file.trim()], { cwd: place });
    const target = name === 'cli' ? join(modules, 'bobbin') : join(modules, '@bobbin', name);
    renameSync(join(place, 'package'), target);
  }
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@bobbin' && !name.startsWith('.') && !existsSync(join(modules, name)))
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  return join(modules, 'bobbin', 'bin', 'bobbin.mjs');
}

test('the agent runs from the installed package, in any folder', (t) => {
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: 'ignore' });
  const bin = installed(t);
  const home = folder(t);
  const project = join(home, 'some project');
  mkdirSync(project);
  writeFileSync(join(project, 'README.md'), '# A title\n');
  const run = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [bin, ...args], {
      cwd: project,
      env: { PATH: process.env['PATH'], XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
      input: '',
      encoding: 'utf8',
    });
  assert.match(run('-p', '--model', 'scripted/demo', 'hello'), /^That was a turn: /);
  assert.match(
    run('-p', '--yes', '--model', 'scripted/long@16000', 'do 25 steps'),
    /^All 25 steps are done\.\n$/,
  );
});
