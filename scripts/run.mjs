// Runs every task: `node scripts/run.mjs <task> [arguments]`. Installs what is missing, then runs the task on
// the Node that the workspace pins. Plain JavaScript for Node 18 and later.
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  NODE_PACKAGE,
  OLDEST,
  hostNode,
  pinnedNode,
  runCommand,
} from '../packages/cli/bin/runtime.mjs';
import { install } from './install.mjs';

/** What Node is called with for each task; arguments after the task's name are appended. */
const TASKS = new Map([
  ['start', ['packages/cli/bin/bobbin.mjs', 'demo']],
  ['test', ['scripts/steps.mjs', 'test']],
  ['soak', ['scripts/steps.mjs', 'soak']],
  ['e2e:model', ['scripts/e2e-model/main.ts']],
  ['learn', ['--conditions=@bobbin/source', 'scripts/learn/main.ts']],
  ['bench', ['--conditions=@bobbin/source', 'bench/main.ts']],
  ['walk', ['--conditions=@bobbin/source', 'scripts/walk/main.ts']],
  ['mutate', ['--conditions=@bobbin/source', 'scripts/mutate/main.ts']],
  ['verify-accounts', ['--conditions=@bobbin/source', 'scripts/verify-accounts/main.ts']],
  ['picture', ['scripts/picture/main.ts']],
  ['package', ['scripts/package/main.ts']],
  ['release', ['scripts/steps.mjs', 'release']],
  ['docs', ['scripts/docs/main.mjs', 'serve']],
  ['docs:build', ['scripts/docs/main.mjs', 'build']],
  ['build', ['scripts/steps.mjs', 'build']],
  ['check', ['scripts/steps.mjs', 'check']],
  ['fix', ['scripts/steps.mjs', 'fix']],
]);

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * @param {string} task
 * @param {string[]} args
 */
async function run(task, args) {
  const command = TASKS.get(task);
  if (command === undefined) {
    throw new Error(`Unknown task "${task}"; there are ${[...TASKS.keys()].join(', ')}.`);
  }
  install(root);
  const node = pinnedNode() ?? hostNode();
  if (node === undefined) {
    throw new Error(
      `Node ${OLDEST} or later is needed; this is ${process.versions.node}, and npm has not installed ${NODE_PACKAGE}.`,
    );
  }
  return runCommand(node, [...command, ...args], {
    cwd: root,
    env: {
      ...process.env,
      PATH: [dirname(node), process.env['PATH']].join(delimiter),
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
    },
  });
}

try {
  const [task = '', ...args] = process.argv.slice(2);
  process.exitCode = await run(task, args);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
