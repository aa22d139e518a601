import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';

const root = join(import.meta.dirname, '..');
const SOURCES = ['core', 'models', 'adapters', 'stores'].map(
  (name) => `packages/${name}/src/**/*.ts`,
);

type Tree = { readonly type: string } & Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && 'type' in value;

function* treesIn(value: unknown): Iterable<Tree> {
  if (typeof value !== 'object' || value === null) return;
  if (isTree(value)) yield value;
  for (const child of Object.values(value)) yield* treesIn(child);
}

/** What a user is shown: the argument of an error that is thrown, of `warn`, and the message of a warning. */
function shownBy(tree: Tree): unknown {
  if (tree.type === 'ThrowStatement' && isTree(tree['argument'])) {
    const { argument } = tree;
    return argument.type === 'NewExpression' ? argument['arguments'] : undefined;
  }
  if (tree.type === 'CallExpression' && isTree(tree['callee']))
    return isTree(tree['callee']['property']) &&
      /^warn(?:ed)?$/.test(String(tree['callee']['property']['name']))
      ? tree['arguments']
      : undefined;
  if (tree.type === 'VariableDeclarator' && isTree(tree['id']))
    return tree['id']['name'] === 'message' ? tree['init'] : undefined;
  if (tree.type === 'Property' && isTree(tree['key']))
    return tree['key']['name'] === 'message' ? tree['value'] : undefined;
  return undefined;
}

/** The fixed words of a text: its longest stretch without a value. */
function fixedWords(tree: Tree): string | undefined {
  if (tree.type === 'Literal' && typeof tree['value'] === 'string') return tree['value'];
  if (tree.type !== 'TemplateLiteral') return undefined;
  const pieces = [...treesIn(tree['quasis'])].flatMap(({ value }) =>
    typeof value === 'object' && value !== null && 'cooked' in value ? [String(value.cooked)] : [],
  );
  return pieces.toSorted((a, b) => b.length - a.length)[0];
}

/** Too short to be looked up; bugs of Bobbin itself, which no user can cause. */
const SHORTEST = 12;
const BUGS = [
  'an entry has a node',
  'a span must be in thread order:',
  'stands before its predecessor',
  // The description of a tool's argument, which has the name of a message.
  'A message from an earlier result, to read it in full.',
];

function textsOf(file: string): readonly string[] {
  const { program } = parseSync(file, readFileSync(join(root, file), 'utf8'));
  return [...treesIn(program)]
    .map(shownBy)
    .flatMap((shown) => [...treesIn(shown)])
    .flatMap((tree) => fixedWords(tree) ?? [])
    .map((text) => text.trim())
    .filter((text) => text.length >= SHORTEST && / /.test(text))
    .filter((text) => !BUGS.some((bug) => bug.includes(text)));
}

test('every warning and error has its line on the page about troubleshooting', () => {
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root }));
  const texts = [...new Set(files.flatMap(textsOf))];
  const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8').replaceAll(/\s+/g, ' ');
  assert.ok(texts.length > 60, `only ${texts.length} texts were found`);
  const missing = texts.filter((text) => !page.includes(text.replaceAll(/\s+/g, ' ')));
  assert.deepEqual(missing, []);
});
