import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { extract, renderSummary } from '@bobbin/core/internal';
import { assistant, user } from '@bobbin/testing';
import { counter, extracted, nodesOf, round } from './extracted.ts';

const edit = (path: string, before: string, after: string): readonly Message[] =>
  round('edit', { file_path: `/repo/${path}`, old_string: before, new_string: after }, 'edited');
const ADDED = '// readRows reads rows.\nfunc readRows(path string) error {\n\treturn nil\n}';

const uncalled = (...messages: readonly (readonly Message[])[]): readonly string[] =>
  extracted([user('Read the rows.'), ...messages.flat()]).uncalled ?? [];

test('C6 a function that was added and that no edit calls is named', () => {
  const summary = extracted([user('Read the rows.'), ...edit('rows.go', 'x', ADDED)]);
  assert.deepEqual(summary.uncalled, ['readRows']);
  assert.match(renderSummary(summary), /\n- Added, not called by any edit so far: readRows$/);
});

test('a call in any edit, the removal of the function, and a test name it no more', () => {
  const added = edit('rows.go', 'x', ADDED);
  assert.deepEqual(uncalled(added, edit('main.go', 'run()', 'run(readRows("a"))')), []);
  assert.deepEqual(uncalled(edit('main.go', 'run()', 'run(readRows("a"))'), added), []);
  assert.deepEqual(uncalled(added, edit('rows.go', ADDED, 'y')), []);
  assert.deepEqual(uncalled(edit('rows_test.go', 'x', 'func TestRows(t *testing.T) {')), []);
});

test('a call that was taken back, and a comment, are no calls', () => {
  const added = edit('rows.go', 'x', ADDED);
  const call = edit('main.go', 'run()', 'run(readRows("a"))');
  const back = edit('main.go', 'run(readRows("a"))', 'run()');
  assert.deepEqual(uncalled(added, call, back), ['readRows']);
  assert.deepEqual(uncalled(added, edit('main.go', 'run()', '// readRows comes later.')), [
    'readRows',
  ]);
});

test('what was added for an earlier request is not named', () => {
  const later = [assistant('Done.'), user('Thanks. Look at the log, please.')];
  assert.deepEqual(uncalled(edit('rows.go', 'x', ADDED), later), []);
});

test('other code of the same name is not what was added', () => {
  const added = edit('rows.go', 'x', ADDED);
  assert.deepEqual(uncalled(added, edit('main.go', 'this.readRows(x)', 'readRows(x)')), []);
  const here = edit(
    'main.ts',
    "import { readRows } from 'lib';",
    "import { readRows } from './a';",
  );
  assert.deepEqual(uncalled(added, here), []);
  const shell = round('bash', { command: "cat > b.go <<'EOF'\nreadRows()\nEOF" }, '');
  assert.deepEqual(uncalled(added, shell), []);
  const read = round('read', { file_path: '/repo/rows.go' }, '1\tfunc readRows() {}');
  const written = round('write', { file_path: '/repo/rows.go', content: ADDED }, 'written');
  assert.deepEqual(uncalled(read, written), []);
});

test('methods, blocks and names of the language are no functions', () => {
  const lines = [
    'class A {',
    '  constructor() {',
    '  }',
    '  #helper(n) {',
    '  }',
    'withContext(io) {',
    '}',
  ];
  assert.deepEqual(uncalled(edit('a.ts', 'x', lines.join('\n'))), []);
  assert.deepEqual(uncalled(edit('a.py', 'x', 'def __init__(self):')), []);
});

test('nothing is said if an earlier summary has a part of the request', () => {
  const nodes = nodesOf([
    user('Read the rows.'),
    ...edit('main.go', 'run()', 'run(readRows("a"))'),
    ...edit('rows.go', 'x', ADDED),
  ]);
  const make = (from: number, to: number, previous: Summary | null): Summary =>
    extract({ nodes: nodes.slice(from, to), previous, task: null, round: 1, counter });
  assert.deepEqual(make(3, 5, make(0, 3, null)).uncalled, []);
  assert.deepEqual(make(0, 5, null).uncalled, []);
});

test('what the language or its library calls is not named', () => {
  const own = [
    'String() string',
    'MarshalJSON() ([]byte, error)',
    'ServeHTTP(w http.ResponseWriter)',
  ];
  for (const one of own)
    assert.deepEqual(uncalled(edit('rows.go', 'x', `func (r Row) ${one} {`)), [], one);
});

test('a document that names a function does not call it', () => {
  const named = edit('docs/rows.md', 'x', 'The host calls readRows at the start.');
  assert.deepEqual(uncalled(edit('rows.go', 'x', ADDED), named), ['readRows']);
});

test('a function that was added and edited again is still not called; one that was there before is not named', () => {
  const again = edit(
    'rows.go',
    'func readRows(path string) error {',
    'func readRows(p string) error {',
  );
  assert.deepEqual(uncalled(edit('rows.go', 'x', ADDED), again), ['readRows']);
  assert.deepEqual(uncalled(again), []);
});
