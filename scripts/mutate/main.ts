// Changes core in small random ways and prints the changes that no test notices: `npm run mutate`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '@bobbin/testing';
import { mutantsOf, type Mutant } from './mutants.ts';

const HELP = `npm run mutate -- [--count N] [--seed S] [FILE…]

Makes random mutants of packages/core/src, or of the files that are named: an operator becomes its neighbour, a number one
more, a boolean the other. Runs core's tests on each, with one random journey instead of all, until one fails or takes
ten times as long as it should. Prints the mutants that survive. No file is changed.

  --count N   how many mutants; 20 where absent
  --seed S    makes the same choice again; printed, and random where absent
  --help      prints this text`;

const SOURCE = 'packages/core/src/';
const TESTS = 'packages/core/test/**/*.test.ts';
const PROCESSES = 2;
const LEAST_TIMEOUT_MS = 10_000;
const SLOWER = 10;

/** A test file, and how long it takes without a mutant. */
interface TestFile {
  readonly path: string;
  readonly ms: number;
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '20' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) console.log(HELP);
  else await mutate(chosen(positionals, whole(values.count, 'count'), whole(values.seed, 'seed')));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function whole(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} must be a whole number, not "${text}".`);
  return Number(text);
}

function chosen(named: readonly string[], count: number, seed: number): readonly Mutant[] {
  const paths = named.map((path) => relative('.', path).replaceAll(sep, '/'));
  const isSource = (path: string) => path.startsWith(SOURCE) && path.endsWith('.ts');
  const elsewhere = paths.find((path) => !isSource(path) || !existsSync(path));
  if (elsewhere !== undefined)
    throw new Error(`"${elsewhere}" is no source file of core; name files in ${SOURCE}.`);
  const files = paths.length > 0 ? paths : globSync(`${SOURCE}**/*.ts`).toSorted();
  const all = files.flatMap((path) => mutantsOf(path, readFileSync(path, 'utf8')));
  const random = seededRandom(seed);
  const drawn = all.map((mutant) => ({ mutant, rank: random.next() }));
  const sample = drawn.toSorted((a, b) => a.rank - b.rank).slice(0, count);
  console.log(`${sample.length} of ${all.length} mutants, --seed ${seed}`);
  return sample.map(({ mutant }) => mutant);
}

async function mutate(mutants: readonly Mutant[]): Promise<void> {
  const tests = await timed();
  const survivors: string[] = [];
  for (const mutant of mutants) {
    const failed = await firstFailing(tests, mutant);
    const change = `${mutant.path}:${mutant.line}  ${mutant.was} → ${mutant.now || 'nothing'}`;
    console.log(failed === undefined ? `survived  ${change}` : `killed    ${change}  by ${failed}`);
    if (failed === undefined) survivors.push(change);
  }
  console.log(`\n${survivors.length} of ${mutants.length} survived`);
  for (const survivor of survivors) console.log(survivor);
}

/** Core's test files, the fastest first: most mutants fail in many of them. */
async function timed(): Promise<readonly TestFile[]> {
  const tests: TestFile[] = [];
  for (const path of globSync(TESTS)) {
    const started = performance.now();
    if (!(await passes({ path, ms: Infinity })))
      throw new Error(`${path} fails without a mutant: fix it first.`);
    tests.push({ path, ms: Math.ceil(performance.now() - started) });
  }
  return tests.toSorted((a, b) => a.ms - b.ms);
}

async function firstFailing(
  tests: readonly TestFile[],
  mutant: Mutant,
): Promise<string | undefined> {
  const left = tests.values();
  const bail = new AbortController();
  const failed: string[] = [];
  const work = async (): Promise<void> => {
    for (const test of left) {
      if (bail.signal.aborted || (await passes(test, mutant, bail.signal))) continue;
      if (!bail.signal.aborted) failed.push(test.path);
      bail.abort();
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, work));
  return failed[0];
}

async function passes(
  { path, ms }: TestFile,
  mutant: Mutant | null = null,
  signal?: AbortSignal,
): Promise<boolean> {
  const hook = new URL('hook.ts', import.meta.url).href;
  const node = ['--test-force-exit', '--conditions=@bobbin/source', `--import=${hook}`, path];
  const child = spawn(process.execPath, node, {
    stdio: 'ignore',
    killSignal: 'SIGKILL',
    ...(Number.isFinite(ms) && { timeout: Math.max(LEAST_TIMEOUT_MS, ms * SLOWER) }),
    ...(signal && { signal }),
    env: { ...process.env, BOBBIN_MUTANT: JSON.stringify(mutant), BOBBIN_SEED: '1' },
  });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  // Ended by the signal, it fails.
  const [code] = await exit.catch(() => [null]);
  return code === 0;
}
