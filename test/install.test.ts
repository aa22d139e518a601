import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const INSTALL = fileURLToPath(new URL('../scripts/install.mjs', import.meta.url));

/** Replaces npm: notes each command, fails the given ones, and leaves what npm leaves. */
const NPM = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const command = process.argv[2];
appendFileSync('calls', command + '\\n');
if (process.env.NPM_FAILS?.split(' ').includes(command)) process.exit(1);
await new Promise((done) => setTimeout(done, 300));
mkdirSync('node_modules/thread', { recursive: true });
const lockfile = JSON.parse(readFileSync('package-lock.json', 'utf8'));
delete lockfile.packages['node_modules/elsewhere'];
writeFileSync('node_modules/.package-lock.json', JSON.stringify(lockfile));
`;

const LOCKFILE = {
  packages: {
    '': {},
    'node_modules/thread': { version: '1.0.0' },
    'node_modules/elsewhere': { version: '1.0.0', optional: true },
  },
};

function checkout(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'bobbin-install-'));
  t.after(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  writeFileSync(join(root, 'npm-cli.js'), NPM);
  writeFileSync(join(root, 'calls'), '');
  writeLockfile(root, LOCKFILE);
  return root;
}

function writeLockfile(root: string, lockfile: object): void {
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lockfile));
}

function calls(root: string): string[] {
  return readFileSync(join(root, 'calls'), 'utf8').split('\n').slice(0, -1);
}

async function install(root: string, fails = ''): Promise<number | null> {
  const script = `(await import(process.argv[1])).install(process.argv[2])`;
  const args = ['--input-type=module', '--eval', script, `file://${INSTALL}`, root];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, npm_execpath: join(root, 'npm-cli.js'), NPM_FAILS: fails },
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.on('exit', resolve));
}

test('installs once, and again when the lockfile or the tree has changed', async (t) => {
  const root = checkout(t);
  assert.equal(await install(root), 0);
  assert.equal(await install(root), 0);
  assert.deepEqual(calls(root), ['ci']);

  rmSync(join(root, 'node_modules/thread'), { recursive: true });
  assert.equal(await install(root), 0);
  assert.deepEqual(calls(root), ['ci', 'ci']);

  writeLockfile(root, { packages: { 'node_modules/thread': { version: '1.0.1' } } });
  assert.equal(await install(root), 0);
  assert.deepEqual(calls(root), ['ci', 'ci', 'ci']);
});

test('falls back from npm ci to npm install, and fails when both fail', async (t) => {
  const root = checkout(t);
  assert.equal(await install(root, 'ci install'), 1);
  assert.equal(await install(root, 'ci'), 0);
  assert.deepEqual(calls(root), ['ci', 'install', 'ci', 'install']);
});

test('two at once install once', async (t) => {
  const root = checkout(t);
  assert.deepEqual(await Promise.all([install(root), install(root)]), [0, 0]);
  assert.deepEqual(calls(root), ['ci']);
});

test('takes over the lock of a process that died', async (t) => {
  const root = checkout(t);
  mkdirSync(join(root, '.install-lock'));
  // Above the largest process id of any platform.
  writeFileSync(join(root, '.install-lock/pid'), String(2 ** 30));
  assert.equal(await install(root), 0);
  assert.deepEqual(calls(root), ['ci']);
});
