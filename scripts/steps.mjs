// Runs the steps of a task in order and stops at the first that fails: `node scripts/steps.mjs <task> [arguments]`.
import { globSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { runCommand } from '../packages/cli/bin/runtime.mjs';

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string[]} args What Node is called with.
 */

// Node's runner sorts by path, and an absolute one comes first: so do the tests of the whole, which take longest.
const TESTS = [
  'packages/*/test/**/*.test.ts',
  ...globSync('test/**/*.test.ts').map((file) => resolve(file)),
];
const SOAKS = ['packages/*/test/**/*.soak.ts', 'test/**/*.soak.ts'];

const OXLINT = ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'];
const OXFMT = ['node_modules/oxfmt/bin/oxfmt'];

/** @type {Step} */
const COMPILE = { name: 'compile', args: ['node_modules/typescript/bin/tsc', '-b'] };

/** @type {Step[]} */
const CHECKS = [
  { ...COMPILE, name: 'types' },
  { name: 'lint', args: OXLINT },
  { name: 'format', args: [...OXFMT, '--check'] },
  { name: 'import rules', args: ['scripts/import-rules/check.ts'] },
  { name: 'dead code', args: ['node_modules/knip/bin/knip.js', '--no-config-hints'] },
];

/** @type {Record<string, (args: string[]) => Step[]>} */
const TASKS = {
  // With arguments there is a question about some tests only, and the checks would delay the answer.
  test: (args) => (args.length > 0 ? [tests(TESTS, args)] : [...CHECKS, tests(TESTS, args)]),
  // Hosts that cannot run source load what was compiled.
  soak: (args) => [COMPILE, tests(SOAKS, args)],
  check: () => CHECKS,
  release: (args) => [
    ...CHECKS,
    tests(TESTS, []),
    { name: 'release', args: ['scripts/release/main.ts', ...args] },
  ],
  fix: () => [
    { name: 'lint', args: [...OXLINT, '--fix'] },
    { name: 'format', args: OXFMT },
  ],
  build: () => [
    { name: 'clean', args: ['scripts/clean.mjs'] },
    COMPILE,
    ...readdirSync('packages').map((name) => ({
      name: `publint ${name}`,
      args: ['node_modules/publint/src/cli.js', `packages/${name}`, '--strict'],
    })),
  ],
};

/**
 * @param {string[]} everything The files to run unless the arguments name some.
 * @param {string[]} args
 * @returns {Step}
 */
function tests(everything, args) {
  const namesFiles = args.some((arg) => !arg.startsWith('-'));
  return {
    name: 'tests',
    args: [
      '--test',
      '--import=./scripts/test-hooks.mjs',
      '--conditions=@bobbin/source',
      // One more than there are cores: many tests wait for a process, a server or a terminal.
      `--test-concurrency=${availableParallelism() + 1}`,
      ...args.filter((arg) => arg.startsWith('-')),
      ...(namesFiles ? args.filter((arg) => !arg.startsWith('-')) : everything),
    ],
  };
}

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

const [task = '', ...args] = process.argv.slice(2);
const steps = TASKS[task]?.(args);
if (steps === undefined) throw new Error(`unknown task ${task}`);

const times = [];
for (const step of steps) {
  console.log(`\n── ${step.name}`);
  const started = performance.now();
  const code = await runCommand(process.execPath, step.args);
  const took = seconds(performance.now() - started);
  if (code !== 0) {
    console.log(`\n✗ ${task}: ${step.name} failed after ${took}`);
    process.exit(code);
  }
  times.push(`${step.name} ${took}`);
}
console.log(`\n✓ ${task}: ${times.join(' · ')}`);
