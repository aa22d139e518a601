import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { node20, NO_NODE_20 } from './old-node.ts';

const root = join(import.meta.dirname, '..');
const PACKAGES = ['core', 'codecs', 'adapters', 'models'].map((name) => `packages/${name}`);

const host = node20();

test(
  'the built core, codecs, adapters and models compact on Node 20',
  { skip: host === undefined && NO_NODE_20 },
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
