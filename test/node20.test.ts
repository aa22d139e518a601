import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const PACKAGES = ['core', 'codecs', 'adapters', 'models'].map((name) => `packages/${name}`);

/** A Node 20 of this machine: the one that a variable names, or the host's own. */
function node20(): string | undefined {
  const candidates = [process.env['NODE20'], '/usr/bin/node', '/usr/local/bin/node'];
  return candidates.find((path) => path !== undefined && versionOf(path).startsWith('v20.'));
}

const host = node20();

test(
  'the built core, codecs, adapters and models compact on Node 20',
  { skip: host === undefined && 'no Node 20 here; name one in NODE20' },
  (t) => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const built = spawnSync(process.execPath, [tsc, '-b', ...PACKAGES], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.equal(built.status, 0, built.stdout + built.stderr);
    // Node 20 strips no types. Beside the packages, their names resolve as they do for a user.
    const script = join(import.meta.dirname, `.node20-host-${process.pid}.mjs`);
    const source = readFileSync(join(import.meta.dirname, 'node20-host.ts'), 'utf8');
    writeFileSync(script, stripTypeScriptTypes(source));
    t.after(() => rmSync(script));
    const options = { encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const;
    const { status, stdout, stderr } = spawnSync(host ?? '', [script], options);
    assert.equal(status, 0, stdout + stderr);
    assert.equal(stdout, 'done\n');
  },
);

/** What a Node says its version is; nothing if there is none at the path. */
function versionOf(path: string): string {
  const { error, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return error === undefined ? stdout : '';
}
