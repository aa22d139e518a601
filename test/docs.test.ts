import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { readmePrograms } from './readme-programs.ts';

const root = join(import.meta.dirname, '..');
/** The pages that people write; the reference is generated from the source. */
const pages = ['README.md', ...globSync('docs/{*,frameworks/*,decisions/*}.md', { cwd: root })];

/** The TypeScript snippets of a page, as a reader would copy them. */
function snippets(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code ?? '');
}

/** Runs Node in a folder, where snippets may write, and gives what it printed. */
function run(cwd: string, ...args: readonly string[]): { stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return { stdout, stderr };
}

/** Runs programs one after the other, each in its own folder, and prints what came of each. */
const IN_TURN = `import { dirname } from 'node:path';
console.assert = (isSo, ...said) => {
  if (!isSo) throw new Error('Assertion failed: ' + said.join(' '));
};
for (const name of process.argv.slice(1)) {
  process.chdir(dirname(name));
  await import(name).then(
    () => console.log('ran ' + name),
    (error) => console.log('failed ' + name + ': ' + error),
  );
}`;

// Beside the packages, so that their names resolve as they do for a user.
const home = mkdtempSync(join(root, 'test', '.snippet-'));
after(() => rmSync(home, { recursive: true }));
const copies = pages.flatMap((page) => {
  const folder = join(home, page.replaceAll(/\W+/g, '-'));
  mkdirSync(folder);
  const files = snippets(page).map((code, i) => {
    const file = join(folder, `${i}.ts`);
    writeFileSync(file, code);
    return file;
  });
  return files.length === 0 ? [] : [{ page, folder, files }];
});

const programs = readmePrograms(root).map((program, i) => {
  const file = join(home, `readme-${i}.ts`);
  writeFileSync(file, program.code);
  return { ...program, file };
});

test('every snippet of every page type-checks', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  // Against the declarations that a user gets: the source is checked elsewhere.
  run(root, tsc, '-b', '--noCheck', 'packages/bobbin', 'packages/cli');
  const config = {
    extends: '../../tsconfig.base.json',
    compilerOptions: { noEmit: true, composite: false, customConditions: [] },
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify(config));
  run(home, tsc);
});

/** The examples show the others in every run. */
const some = programs.filter(({ name }) => isSoak() || /AI SDK|loop/.test(name));

let outcomes: readonly string[] | undefined;

/** What came of the snippets of all pages and of the programs. One process runs them: it loads the packages once. */
function programOutcomes(): readonly string[] {
  const args = ['--conditions=@bobbin/source', '--input-type=module', '--eval', IN_TURN];
  const files = [...copies.flatMap((copy) => copy.files), ...some.map(({ file }) => file)];
  outcomes ??= run(home, ...args, ...files)
    .stdout.split('\n')
    .filter((line) => /^(?:ran|failed) /.test(line));
  return outcomes;
}

for (const { page, folder, files } of copies) {
  test(`${page}: every snippet runs and asserts nothing false`, () => {
    assert.deepEqual(
      programOutcomes().filter((line) => line.includes(`${folder}/`)),
      files.map((file) => `ran ${file}`),
    );
  });
}

test('the README shows four changes, of at most five added lines each', () => {
  assert.deepEqual(
    programs.map(({ name, addedLines }) => [name, addedLines <= 5]),
    [
      ['AI SDK 6 and 7', true],
      ['LangChain', true],
      ['OpenAI Agents', true],
      ['A plain loop', true],
    ],
  );
});

for (const { name, file } of some)
  test(`README.md: the change for "${name}" makes a program that compacts`, () => {
    assert.deepEqual(
      programOutcomes().filter((line) => line.includes(file)),
      [`ran ${file}`],
    );
  });

test('every page of docs/ that the README or the index of decisions names exists', () => {
  const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8');
  const named = [...index.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, name]) => name ?? '');
  const there = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  assert.deepEqual(named.toSorted(), there.toSorted());
});

/** The name by which a heading is linked to. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** What is wrong with the links of a page to other pages. */
function deadLinks(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? join(root, page) : join(root, dirname(page), path);
    if (!existsSync(file)) return [`${page}: ${link}`];
    if (anchor === undefined || !file.endsWith('.md')) return [];
    const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm);
    const anchors = new Set([...headings].map(([, heading = '']) => anchorOf(heading)));
    return anchors.has(anchor) ? [] : [`${page}: ${link}`];
  });
}

test('every link of every page leads to a file, and to a heading in it', () => {
  assert.deepEqual(pages.flatMap(deadLinks), []);
});

test('every page is in the sidebar of the site, and every entry there is a page', () => {
  const config = readFileSync(join(root, 'docs/.vitepress/config.ts'), 'utf8');
  const listed = [...config.matchAll(/page\('[^']+', '([^']+)'\)/g)].map(
    ([, name]) => `docs/${name}.md`,
  );
  const unlisted = /^README\.md$|^docs\/index\.md$|^docs\/decisions\/(?!README)/;
  assert.deepEqual(
    [...new Set(listed)].toSorted(),
    pages.filter((page) => !unlisted.test(page)).toSorted(),
  );
});

test('C20 every kind of event is described on the page of the compactor', () => {
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
