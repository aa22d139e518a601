// Runs the steps of a task in order and stops at the first that fails: `node scripts/steps.mjs <task> [arguments]`.
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runCommand } from '../packages/cli/bin/runtime.mjs';
import { groupTests } from './test-groups.mjs';

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string[]} args What Node is called with.
 * @property {Record<string, string>} [env] What its environment has besides.
 * @property {Step[]} [beside] What runs at the same time, in order; it is printed afterwards.
 */

const SOAKS = ['packages/*/test/**/*.soak.ts', 'test/**/*.soak.ts'];

const OXLINT = ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'];
const OXFMT = ['node_modules/oxfmt/bin/oxfmt'];

/** The compiler and the linter are Go programs, which otherwise collect garbage for a tenth of their time. */
const FEW_COLLECTIONS = { GOGC: '800' };

const TSC = ['node_modules/typescript/bin/tsc', '-b'];

/**
 * Without a check of types, which the linter makes together with its own.
 * @type {Step}
 */
const COMPILE = { name: 'compile', args: [...TSC, '--noCheck'], env: FEW_COLLECTIONS };

const COMMAND = 'node_modules/.cache/command';

/** @type {Step} */
const BUNDLE = { name: 'bundle', args: ['scripts/bundle-command.mjs', COMMAND] };

/** @type {Step[]} */
const CHECKS = [
  { name: 'types and lint', args: [...OXLINT, '--type-check'], env: FEW_COLLECTIONS },
  { name: 'format', args: [...OXFMT, '--check'] },
  { name: 'import rules', args: ['scripts/import-rules/check.ts'] },
  { name: 'dead code', args: ['node_modules/knip/bin/knip.js', '--no-config-hints'] },
];

/** @type {Record<string, (args: string[]) => Step[]>} */
const TASKS = {
  // With arguments there is a question about some tests only, and the checks would delay the answer.
  test: (args) => (args.length > 0 ? [tests(everyTest, args, inMemory())] : checksAndTests()),
  // Hosts that cannot run source load what was compiled.
  soak: (args) => [COMPILE, tests(() => [...SOAKS, ...everyTest()], args, { BOBBIN_SOAK: '1' })],
  check: () => [COMPILE, ...CHECKS],
  release: (args) => [
    ...checksAndTests(),
    { name: 'release', args: ['scripts/release/main.ts', ...args] },
  ],
  fix: () => [
    { name: 'lint', args: [...OXLINT, '--fix'] },
    { name: 'format', args: OXFMT },
  ],
  build: () => [
    { name: 'clean', args: ['scripts/clean.mjs'] },
    { name: 'types', args: TSC },
    ...readdirSync('packages').map((name) => ({
      name: `publint ${name}`,
      args: ['node_modules/publint/src/cli.js', `packages/${name}`, '--strict'],
    })),
  ],
};

/** The folders whose tests take longest, and so are started first. */
const SLOWEST = [
  'packages/agent/test',
  'packages/stores/test',
  'packages/core/test',
  'test',
  'packages/adapters/test',
  'packages/cli/test',
  'packages/gateway/test',
];

/** All test files, in groups. */
function everyTest() {
  const all = readdirSync('packages').map((name) => `packages/${name}/test`);
  return groupTests([...new Set([...SLOWEST, ...all])], '.test-groups');
}

/** Some tests load what was compiled, so they come after it. */
function checksAndTests() {
  const beside = CHECKS.map((check) => ({
    ...check,
    args: ['--import=./scripts/low-priority.mjs', ...check.args],
  }));
  const env = { ...inMemory(), BOBBIN_TEST_COMMAND: resolve(COMMAND, 'bobbin.js') };
  return [
    { ...COMPILE, beside: [BUNDLE] },
    { ...tests(everyTest, [], env), beside },
  ];
}

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4e9;

/**
 * Has temporary files in memory if there is enough: no file of a test outlives the tests. The soak may write more.
 * @returns {Record<string, string>}
 */
function inMemory() {
  if (!existsSync(MEMORY)) return {};
  const { bavail, bsize } = statfsSync(MEMORY);
  if (Math.min(bavail * bsize, freemem()) < ENOUGH_BYTES) return {};
  const folder = mkdtempSync(join(MEMORY, 'bobbin-'));
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return { TMPDIR: folder };
}

/**
 * @param {() => string[]} everything The files to run unless the arguments name some.
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @returns {Step}
 */
function tests(everything, args, env) {
  const namesFiles = args.some((arg) => !arg.startsWith('-'));
  return {
    name: 'tests',
    env,
    args: [
      '--test',
      '--import=./scripts/test-hooks.mjs',
      '--conditions=@bobbin/source',
      // More than there are cores: many tests wait for a process, a server or a terminal.
      `--test-concurrency=${availableParallelism() + 2}`,
      ...args.filter((arg) => arg.startsWith('-')),
      ...(namesFiles ? args.filter((arg) => !arg.startsWith('-')) : everything()),
    ],
  };
}

/**
 * @typedef {object} Outcome
 * @property {Step} step
 * @property {number} code
 * @property {string} took
 */

/**
 * @param {Step} step
 * @param {import('node:child_process').StdioOptions} stdio
 * @returns {Promise<Outcome>}
 */
async function runStep(step, stdio) {
  const started = performance.now();
  const code = await runCommand(process.execPath, step.args, {
    stdio,
    env: { ...process.env, ...step.env },
  });
  return { step, code, took: `${((performance.now() - started) / 1000).toFixed(1)} s` };
}

/**
 * Runs steps in order up to the first that fails, and keeps what they print.
 * @param {Step[]} steps
 */
async function runBeside(steps) {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-steps-'));
  const done = [];
  for (const step of steps) {
    const path = join(folder, 'printed');
    const file = openSync(path, 'w');
    const outcome = await runStep(step, ['ignore', file, file]);
    closeSync(file);
    done.push({ ...outcome, printed: readFileSync(path, 'utf8') });
    if (outcome.code !== 0) break;
  }
  rmSync(folder, { recursive: true });
  return done;
}

/** @param {string} name */
const title = (name) => console.log(`\n── ${name}`);

const [task = '', ...args] = process.argv.slice(2);
const steps = TASKS[task]?.(args);
if (steps === undefined) throw new Error(`unknown task ${task}`);

const times = [];
for (const step of steps) {
  title(step.name);
  const [own, beside] = await Promise.all([runStep(step, 'inherit'), runBeside(step.beside ?? [])]);
  for (const other of beside) {
    title(other.step.name);
    process.stdout.write(other.printed);
  }
  const outcomes = [own, ...beside];
  const failed = outcomes.filter(({ code }) => code !== 0);
  if (failed.length > 0) {
    const list = failed.map((outcome) => `${outcome.step.name} failed after ${outcome.took}`);
    console.log(`\n✗ ${task}: ${list.join(', ')}`);
    process.exit(failed[0]?.code);
  }
  times.push(...outcomes.map((outcome) => `${outcome.step.name} ${outcome.took}`));
}
console.log(`\n✓ ${task}: ${times.join(' · ')}`);
