import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { chars4, extract, fitSummary, renderSummary, type Node } from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

const counter = chars4();

function round(tool: string, args: Record<string, unknown>, output: string): readonly Message[] {
  const asked = call(tool, args as never);
  return [assistant(asked), result(asked, output)];
}

const edit = (path: string, after = 'const width = measure(table);'): readonly Message[] =>
  round('edit', { file_path: path, old_string: 'x', new_string: after }, 'edited');
const run = (command: string, output: string): readonly Message[] =>
  round('bash', { command }, output);

const FAILED = '--- FAIL: TestWidths (0.01s)\nFAIL\tprinter\t0.2s';

/** Three requests: the first ends well, the second with a failing test, the third runs. */
const MESSAGES = [
  user('Cache the widths.'),
  ...edit('/repo/src/widths.ts'),
  ...edit('/repo/src/table.ts'),
  ...run('npm run build', 'src/table.ts(3,1): error TS2304: cannot find name'),
  ...edit('/repo/src/table.ts', 'const cells = read(table);'),
  ...run('npm test', '12 tests passed'),
  assistant('The widths are cached.'),
  user('Now the printer.'),
  ...edit('/repo/src/printer.go'),
  ...run('go test ./...', FAILED),
  assistant('The printer is changed, one test fails.'),
  user('What does the table need?'),
  assistant('Nothing.'),
  user('Fix the test.'),
  ...edit('/repo/src/printer_test.go'),
];

const extracted = (nodes: readonly Node[], previous: Summary | null = null): Summary =>
  extract({ nodes, previous, task: 'Cache the widths.', round: 1, maxTokens: 3_000, counter });

const path = thread(...MESSAGES).path();

const WORK = [
  {
    turn: 1,
    at: 0,
    until: 11,
    files: ['widths.ts', 'table.ts'],
    changedAt: 7,
    checks: [
      { kind: 'npm run build', hasPassed: true, at: 5 },
      { kind: 'npm test', hasPassed: true, at: 9 },
    ],
  },
  {
    turn: 2,
    at: 12,
    until: 17,
    files: ['printer.go'],
    changedAt: 13,
    checks: [{ kind: 'go test', hasPassed: false, at: 15 }],
  },
  { turn: 4, at: 20, until: 22, files: ['printer_test.go'], changedAt: 21, checks: [] },
];

test('C6 what was done in each turn is known: changed files, and checks by how they ended', () => {
  assert.deepEqual(extracted(path).work, WORK);
});

test('C6 a turn that two summaries divide is one, and later work of it is added', () => {
  for (const cut of [3, 7, 15]) {
    const first = extracted(path.slice(0, cut));
    assert.deepEqual(extracted(path.slice(cut), first).work, WORK, `cut at ${cut}`);
  }
});

test('the conversation shows after each earlier request what was done for it', () => {
  const shown = renderSummary(extracted(path));
  assert.match(shown, /\n\[m2–m12\] Work: changed widths\.ts, table\.ts; checks passed\n/);
  assert.match(
    shown,
    /\n\[m13\] User: Now the printer\.\n\[m14–m18\] Work: changed printer\.go; failed when last run: go test\n/,
  );
  // What was done for the last request is part of the state.
  assert.doesNotMatch(shown, /Work: changed printer_test/);
  assert.match(shown, /\n- Changed for the request in m21: printer_test\.go\n/);
});

const workShown = (...messages: readonly Message[]): readonly string[] =>
  [
    ...renderSummary(
      extracted(thread(user('Go.'), ...messages, assistant('Done.'), user('Thanks.')).path()),
    ).matchAll(/Work: (.*)/g),
  ].map(([, line = '']) => line);

test('checks that ran before the last edits, or do not say that they passed, do not pass', () => {
  const passed = run('npm test', '12 tests passed');
  assert.deepEqual(workShown(...edit('/repo/a.ts'), ...passed), ['changed a.ts; checks passed']);
  assert.deepEqual(workShown(...passed, ...edit('/repo/a.ts')), [
    'changed a.ts; checks passed before the last edits',
  ]);
  assert.deepEqual(
    workShown(...edit('/repo/a.ts'), ...run('npm test 2>&1 | tail -3', '12 tests ran')),
    ['changed a.ts'],
  );
});

test('arguments of a tool are no name of a check', () => {
  const [shown] = workShown(
    ...edit('/repo/a.ts'),
    ...round('run_tests', { suite: 'test', token: 'x' }, '--- FAIL: TestX\n1 failed'),
  );
  assert.equal(shown, 'changed a.ts; failed when last run: run_tests');
});

test('changed files that have no space for a line of their own are named', () => {
  const names = Array.from({ length: 40 }, (_, i) => `part_${i}.ts`);
  const messages = [
    user('Change the parts.'),
    ...names.flatMap((name) => edit(`/repo/packages/engine/src/${name}`, `run(${name.length});`)),
    assistant('All parts are changed.'),
  ];
  const shown = fitSummary(extract({ ...request(messages), maxTokens: 420 }), 420, counter) ?? '';
  assert.match(shown, /\n- Earlier: part_0\.ts, part_1\.ts, /);
  assert.deepEqual(
    names.filter((name) => !shown.includes(name)),
    [],
  );
  assert.equal(shown.split('part_39.ts').length, 2, 'each file once');
});

const code = (name: string): string =>
  Array.from({ length: 120 }, (_, i) => `${name}_${i}(readCell(${i * 7}));`).join('\n');

test('the newest edit is shown in part if it is long, and tests come after what they test', () => {
  const messages = [
    user('Write the printer.'),
    ...edit('/repo/src/printer.ts', code('print')),
    ...edit('/repo/test/printer.test.ts', code('expectPrinted')),
    assistant('Now I will run it.', call('bash', { command: 'npm test' })),
  ];
  const shown = fitSummary(extract({ ...request(messages), maxTokens: 600 }), 600, counter) ?? '';
  assert.match(
    shown,
    /\n {2}\+ print_0\(readCell\(0\)\);\n(?: {2}\+ print_\d+[^\n]*\n)+ {2}\+ …\n/,
  );
  const count = (name: string): number => shown.split(`+ ${name}_`).length - 1;
  assert.ok(count('print') > count('expectPrinted'), shown);
  assert.equal(shown.split('print_0(').length, 2, 'each edit once');
});

function request(messages: readonly Message[]): Parameters<typeof extract>[0] {
  return { nodes: thread(...messages).path(), previous: null, task: null, round: 1, counter };
}

test('a command that the prompt shows with its result is not listed again', () => {
  const nodes = thread(
    user('Go.'),
    ...run('npm run lint', '0 problems found'),
    ...run('npm test', '12 tests passed'),
    ...run('npm run build', '3 files built, done'),
  ).path();
  const kept = nodes.slice(5).map((node) => ({ node, shown: node.message }));
  const half = [
    { node: nodes[3] as Node, shown: (nodes[3] as Node).message },
    { node: nodes[4] as Node, shown: { ...(nodes[4] as Node).message, parts: [] } },
    ...kept,
  ];
  const commands = (beside: typeof kept, before: number): readonly string[] =>
    [
      ...renderSummary(
        extract({
          ...request([]),
          nodes: nodes.slice(0, before),
          kept: beside,
        }),
      ).matchAll(/^- \[m\d+\] (npm[^→\n]*\w)/gm),
    ].map(([, line = '']) => line);
  assert.deepEqual(commands([], 7), ['npm run lint', 'npm test', 'npm run build']);
  assert.deepEqual(commands(kept, 5), ['npm run lint', 'npm test']);
  assert.deepEqual(commands(half, 3), ['npm run lint', 'npm test']);
});

test('a short summary of much work still has words of the user', () => {
  const folders = ['table', 'printer', 'queue', 'ledger'];
  const messages = folders.flatMap((folder) => [
    user(`Change all parts of the ${folder}, one after the other, and keep their names.`),
    ...Array.from({ length: 20 }, (_, i) =>
      edit(`/repo/packages/${folder}/src/part_${folder}_${i}.ts`, `run(${i});`),
    ).flat(),
    ...run('npm test', `12 tests passed in ${folder}`),
    assistant(`All parts of the ${folder} are changed.`),
  ]);
  const shown = fitSummary(extract({ ...request(messages), maxTokens: 600 }), 600, counter) ?? '';
  assert.deepEqual(
    folders.filter((folder) => shown.includes(`User: Change all parts of the ${folder},`)),
    folders,
  );
});
