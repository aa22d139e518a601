// Counts what a call passes through, as a measure of how much there is to read: `npm run walk`.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { functionsOf, type NamedFunction } from './functions.ts';
import type { Flow } from './flows.ts';
import { installProbes } from './probe.ts';

const root = join(import.meta.dirname, '..', '..');
const called = installProbes(root);
// After the probes: what is loaded before them has none.
const { FLOWS } = await import('./flows.ts');

const HELP = `npm run walk [-- --list FLOW]

Makes a real call for each flow and prints how many messages it gives to send, the distinct functions that it passes
through, their files, how often the file changes in the order of first calls, and the files by folder of core and by
package; then the sizes of core's functions in lines. A function without a name, such as a callback, is part of the one
that holds it.

  --list FLOW   prints the functions of one flow in the order of their first call
  --help        prints this text

Flows:
  fit           fit of 7 messages, with nothing to compact
  fit-compacts  fit of 121 messages, compacted without a model
  compact       thread.compact of 121 messages, with a summary by a model of the AI SDK`;

try {
  const options = { list: { type: 'string' }, help: { type: 'boolean' } } as const;
  const { list, help } = parseArgs({ options }).values;
  if (help === true) console.log(HELP);
  else if (list === undefined) await printFigures();
  else await printPath(list);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function printPath(name: string): Promise<void> {
  const flow = FLOWS.get(name);
  if (flow === undefined)
    throw new Error(`There is no flow "${name}"; give one of ${[...FLOWS.keys()].join(', ')}.`);
  const { functions } = await walk(flow);
  for (const one of functions) console.log(`${one.path}:${one.line} ${one.name}`);
}

async function printFigures(): Promise<void> {
  console.log('flow             sent   functions       files     changes   files by folder');
  for (const [name, flow] of FLOWS) {
    const { functions, sent } = await walk(flow);
    const files = new Set(functions.map(({ path }) => path));
    const changes = functions.filter(({ path }, i) => i > 0 && path !== functions[i - 1]?.path);
    const figures = [sent, functions.length, files.size, changes.length];
    const columns = figures.map((figure) => String(figure).padStart(9)).join('   ');
    console.log(`${name.padEnd(12)}${columns}   ${foldersOf([...files])}`);
  }
  printSizes('packages/core/src');
}

/** The functions of a flow, in the order of their first call, and how many messages it gives to send. */
async function walk(prepare: Flow): Promise<{ functions: NamedFunction[]; sent: number }> {
  const warmUp = await prepare();
  const call = await prepare();
  // What a process makes once and keeps is made here, and does not count.
  await warmUp();
  called.clear();
  const { length: sent } = await call();
  return { functions: [...called], sent };
}

function foldersOf(paths: readonly string[]): string {
  return Object.entries(Object.groupBy(paths, folderOf))
    .toSorted(([, a = []], [, b = []]) => b.length - a.length)
    .map(([folder, files]) => `${folder} ${files?.length}`)
    .join(', ');
}

/** The folder of core that a file is in, or else its package. */
function folderOf(path: string): string {
  const [, name = '', , folder = ''] = path.split('/');
  return name === 'core' ? folder : `@bobbin/${name}`;
}

function printSizes(folder: string): void {
  const lines = globSync(`${folder}/**/*.ts`, { cwd: root })
    .flatMap((path) => functionsOf(path, readFileSync(join(root, path), 'utf8')))
    .map((one) => one.lines)
    .toSorted((a, b) => a - b);
  const at = (share: number) => lines[Math.ceil(share * lines.length) - 1];
  const sizes = `median ${at(0.5)}, p90 ${at(0.9)}, max ${at(1)}`;
  console.log(`\n${folder}: ${lines.length} functions, lines: ${sizes}`);
}
