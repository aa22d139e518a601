import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';

const root = join(import.meta.dirname, '..');
const MOST_NAMES = 65;

/** Each public name of core, and the file that declares it. */
const exported: readonly (readonly [name: string, file: string])[] = [
  ...readFileSync(join(root, 'packages/core/src/index.ts'), 'utf8').matchAll(
    /export(?: type)? \{([^}]*)\} from '([^']+)'/g,
  ),
].flatMap(([, names = '', file = '']) =>
  names
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '')
    .map((name) => [name, join(root, 'packages/core/src', file)] as const),
);

test(`core exports at most ${MOST_NAMES} names`, () => {
  assert.ok(exported.length > 0);
  assert.ok(exported.length <= MOST_NAMES, `${exported.length} names`);
});

test('a snippet or an example uses every public name', () => {
  const pages = globSync(['README.md', 'docs/**/*.md', 'examples/*.ts'], { cwd: root });
  const used = new Set(
    pages.flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8');
      const imports = text.matchAll(/import (?:type )?\{([^}]*)\} from 'bobbin'/g);
      return [...imports].flatMap(([, names = '']) =>
        names.split(',').map((name) => name.trim().replace(/^type /, '')),
      );
    }),
  );
  assert.deepEqual(
    exported.map(([name]) => name).filter((name) => !used.has(name)),
    [],
  );
});

test('every public name has a comment', () => {
  const bare = exported.filter(([name, file]) => !isDocumented(name, file));
  assert.deepEqual(
    bare.map(([name]) => name),
    [],
  );
});

test('no comment of a published file names a requirement', () => {
  const found = globSync('packages/*/src/**/*.ts', { cwd: root }).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return parseSync(file, text)
      .comments.filter(({ value }) => /\((?:[A-E]\d{1,2}(?:[,–-] ?)?)+\)|\bdecision \d/.test(value))
      .map(({ value }) => `${file}: ${value.trim().slice(0, 80)}`);
  });
  assert.deepEqual(found, []);
});

/** True if a documentation comment ends directly before the declaration of a name. */
function isDocumented(name: string, file: string): boolean {
  const text = readFileSync(file, 'utf8');
  const declaration = new RegExp(
    `^export (?:async )?(?:function|const|class|interface|type) ${name}\\b`,
    'm',
  ).exec(text);
  return declaration !== null && text.slice(0, declaration.index).trimEnd().endsWith('*/');
}
