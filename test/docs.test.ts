import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).map((name) => join('docs', name)),
].filter((page) => page.endsWith('.md'));

/** The TypeScript snippets of a page, as a reader would copy them. */
function snippets(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code ?? '');
}

/** Runs Node in a folder, where snippets may write, and gives what it printed on stderr. */
function run(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stderr;
}

for (const page of pages) {
  const found = snippets(page);
  if (found.length === 0) continue;
  test(`${page}: every snippet type-checks, runs, and asserts nothing false`, () => {
    // Beside the packages, so that their names resolve as they do for a user.
    const folder = mkdtempSync(join(root, 'test', '.snippet-'));
    try {
      for (const [i, code] of found.entries()) writeFileSync(join(folder, `${i}.ts`), code);
      const options = {
        extends: '../../tsconfig.base.json',
        compilerOptions: { noEmit: true, composite: false },
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
      run(folder, join(root, 'node_modules/typescript/bin/tsc'), '-p', folder);
      for (const i of found.keys()) {
        assert.doesNotMatch(
          run(folder, '--conditions=@bobbin/source', join(folder, `${i}.ts`)),
          /Assertion failed/,
        );
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test('every page of docs/ that the README or the index of decisions names exists', () => {
  const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8');
  const named = [...index.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, name]) => name ?? '');
  const there = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  assert.deepEqual(named.toSorted(), there.toSorted());
});

test('C20 every kind of event is told on the page of the compactor', () => {
  const source = readFileSync(join(root, 'packages/core/src/events.ts'), 'utf8');
  const kinds = [...source.matchAll(/kind: ((?:'[a-z-]+'(?: \| )?)+)/g)].flatMap(([, names = '']) =>
    names.split(' | ').map((name) => name.replaceAll("'", '')),
  );
  const page = readFileSync(join(root, 'docs/compactor.md'), 'utf8');
  assert.ok(kinds.length > 10);
  assert.deepEqual(
    kinds.filter((kind) => !page.includes(`\`${kind}\``)),
    [],
  );
});
