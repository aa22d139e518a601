import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { functionsOf } from '../scripts/walk/functions.ts';

/** The functions of a walk, in the order of their first calls. */
let walked: readonly string[] | undefined;

function fitSteps(): readonly string[] {
  walked ??= run('--list', 'fit').stdout.trim().split('\n');
  return walked;
}

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const node = ['--conditions=@bobbin/source', 'scripts/walk/main.ts'];
  return spawnSync(process.execPath, [...node, ...args], { encoding: 'utf8' });
}

test('functions have the names and lines of the source; callbacks and overloads are none', () => {
  const text = `export function sum(a: number): number;
export function sum(...all: number[]): number {
  return all.reduce((a, b) => a + b);
}
const twice = (n: number) =>
  n * 2;
class Counter {
  #count = 0;
  readonly reset = () => { this.#count = 0; };
  get count() { return this.#count; }
  next(step = () => 1) {
    return { step, again: () => this.next(step) };
  }
}
`;
  assert.deepEqual(
    functionsOf('counter.ts', text).map(({ line, name, lines, body }) => {
      return { at: `${line} ${name}`, lines, kind: body.kind };
    }),
    [
      { at: '2 sum', lines: 3, kind: 'block' },
      { at: '5 twice', lines: 2, kind: 'expression' },
      { at: '9 reset', lines: 1, kind: 'block' },
      { at: '10 count', lines: 1, kind: 'block' },
      { at: '11 next', lines: 3, kind: 'block' },
      { at: '11 step', lines: 1, kind: 'expression' },
      { at: '12 again', lines: 1, kind: 'expression' },
    ],
  );
});

test('the page about the path of a call lists the files that a walk passes through, in order', () => {
  const page = readFileSync('docs/path-of-a-call.md', 'utf8');
  const listed = [...page.matchAll(/^\| `(\w+)\/(.+?)` \|/gm)].map(
    ([, name, file]) => `packages/${name}/src/${file}`,
  );
  const files = fitSteps().map((step) => step.replace(/:\d+ .*/, ''));
  assert.deepEqual(listed, [...new Set(files)]);
});

test('a walk starts at the call and ends at the encoded messages; in soak, it counts the same each time', () => {
  const path = fitSteps();
  assert.match(path[0] ?? '', /^packages\/core\/src\/.+\.ts:\d+ fit$/);
  assert.ok(path.some((step) => /^packages\/codecs\/src\/.+\.ts:\d+ encode$/.test(step)));
  assert.equal(new Set(path).size, path.length);
  if (!isSoak()) return;
  const [fit, fitCompacts, compact] = run().stdout.split('\n').slice(1);
  assert.match(fit ?? '', new RegExp(`^fit +7 +${path.length} `));
  assert.match(fitCompacts ?? '', /^fit-compacts +\d+ +\d+ /);
  assert.match(compact ?? '', /^compact +\d+ +.*@bobbin\/models/);
  const unknown = run('--list', 'fot');
  assert.deepEqual(
    [unknown.status, unknown.stderr],
    [1, 'There is no flow "fot"; give one of fit, fit-compacts, compact.\n'],
  );
});
