// Brings node_modules in line with the lockfile. Plain JavaScript for Node 18 and later.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { hostNode, pinnedNode } from '../packages/cli/bin/runtime.mjs';

const LOCK_POLL_MS = 250;
const LOCK_UNOWNED_MS = 10_000;

/**
 * Installs what the lockfile asks for unless it is there already. Safe to call from several processes at once.
 * @param {string} root
 */
export function install(root) {
  if (isInstalled(root)) return;
  const release = acquireLock(join(root, '.install-lock'));
  try {
    if (!isInstalled(root)) runNpm(root);
  } finally {
    release();
  }
}

/**
 * npm writes the hidden lockfile last, so an interrupted install leaves none. Optional packages may be absent:
 * they are the other platforms'.
 * @param {string} root
 */
function isInstalled(root) {
  const asked = readLockfile(join(root, 'package-lock.json'));
  const present = readLockfile(join(root, 'node_modules', '.package-lock.json'));
  if (asked === undefined || present === undefined) return false;
  if (hostNode() === undefined && pinnedNode() === undefined) return false;
  return Object.entries(asked)
    .filter(([path]) => path !== '')
    .every(([path, { version, optional }]) => {
      if (present[path] === undefined) return optional === true;
      return present[path].version === version && existsSync(join(root, path));
    });
}

/**
 * @typedef {object} Lockfile
 * @property {Record<string, { version?: string, optional?: boolean }>} packages
 */

/** @param {string} path */
function readLockfile(path) {
  try {
    return /** @type {Lockfile} */ (JSON.parse(readFileSync(path, 'utf8'))).packages;
  } catch {
    return undefined;
  }
}

/** @param {string} root */
function runNpm(root) {
  console.error('Installing dependencies…');
  const started = Date.now();
  if (!npm(root, 'ci')) {
    console.error('npm ci failed; trying npm install, which may change package-lock.json…');
    if (!npm(root, 'install'))
      throw new Error('npm could not install the dependencies (see above)');
  }
  console.error(`Installed in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}

/**
 * @param {string} root
 * @param {'ci' | 'install'} command
 */
function npm(root, command) {
  const args = [command, '--include=dev', '--include=optional', '--loglevel=error'];
  // Under an npm script this is the npm that was called, also where none is on PATH.
  const cli = process.env['npm_execpath'];
  const result =
    cli !== undefined && basename(cli) === 'npm-cli.js'
      ? spawnSync(process.execPath, [cli, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
      : spawnSync('npm', args, {
          cwd: root,
          stdio: ['ignore', 2, 2],
          shell: process.platform === 'win32',
        });
  if (result.error) throw new Error(`cannot run npm: ${result.error.message}`);
  return result.status === 0;
}

/**
 * Waits for a folder that only one process can make. One that a dead process left is taken over.
 * @param {string} folder
 */
function acquireLock(folder) {
  const owner = join(folder, 'pid');
  let waiting = false;
  while (!tryMakeFolder(folder)) {
    if (isAbandoned(folder, owner)) {
      rmSync(folder, { recursive: true, force: true });
      continue;
    }
    if (!waiting) console.error('Waiting for another install in this checkout…');
    waiting = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
  writeFileSync(owner, String(process.pid));
  return () => rmSync(folder, { recursive: true, force: true });
}

/** @param {string} folder */
function tryMakeFolder(folder) {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * @param {string} folder
 * @param {string} owner
 */
function isAbandoned(folder, owner) {
  try {
    if (!existsSync(owner)) return Date.now() - statSync(folder).mtimeMs > LOCK_UNOWNED_MS;
    process.kill(Number(readFileSync(owner, 'utf8')), 0);
    return false;
  } catch (error) {
    // ESRCH: no such process. Anything else, such as a folder released meanwhile, is asked again.
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH';
  }
}
