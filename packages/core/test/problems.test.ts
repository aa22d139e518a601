import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { extract, renderSummary } from '@bobbin/core/internal';
import { assistant, call, result, user } from '@bobbin/testing';
import { counter, nodesOf, round } from './extracted.ts';

const run = (output: string, said = ''): readonly Message[] => {
  const asked = call('bash', { command: 'go test ./...' });
  return [said === '' ? assistant(asked) : assistant(said, asked), result(asked, output)];
};
const edit = (name: string, said: string): readonly Message[] => {
  const asked = call('edit', { file_path: `/repo/${name}`, old_string: 'a', new_string: 'bcde()' });
  return [assistant(said, asked), result(asked, 'edited')];
};
const failed = (name: string): string => `--- FAIL: ${name} (0.01s)\nFAIL\tprinter\t0.2s`;
const PASSED = 'ok  \tprinter\t0.2s';
const CAUSE =
  'The hash in the file has a `sha256:` prefix, so the comparison fails. Let me add it to what is expected.';

function problemsOf(messages: readonly Message[], previous: Summary | null = null): Summary {
  return extract({ nodes: nodesOf(messages), previous, task: null, round: 1, counter });
}

test('C6 what failed and works since is known, with its cause in the words of the agent', () => {
  const summary = problemsOf([
    user('Compare the hashes.'),
    ...run(failed('TestHash')),
    ...edit('hash_test.go', CAUSE),
    ...run(PASSED),
    assistant('Done.'),
  ]);
  assert.deepEqual(summary.problems, [
    {
      at: 1,
      call: 'go test ./...',
      error: '--- FAIL: TestHash',
      said: 'The hash in the file has a `sha256:` prefix, so the comparison fails.',
      saidAt: 3,
      files: ['hash_test.go'],
      solvedAt: 5,
    },
  ]);
  assert.match(
    renderSummary(summary),
    /\n## Problems Solved\n- \[m2\] go test \.\/\.\.\. failed, passed in m6 after changes in hash_test\.go: The hash in the file has a `sha256:` prefix, so the comparison fails\.\n· --- FAIL: TestHash\n/,
  );
});

const problemCalls = (messages: readonly Message[]): readonly string[] =>
  (problemsOf([user('Go.'), ...messages]).problems ?? []).map(({ error }) => error);

test('what still fails, what failed again in the same way, and what nobody explained is no solved problem', () => {
  assert.deepEqual(problemCalls([...run(failed('TestA')), ...edit('a.go', CAUSE)]), []);
  assert.deepEqual(
    problemCalls([
      ...run(failed('TestA')),
      ...edit('a.go', CAUSE),
      ...run(failed('TestA')),
      ...edit('a.go', 'Let me try again.'),
      ...run(PASSED),
    ]),
    [],
  );
  assert.deepEqual(
    problemCalls([...run(failed('TestA')), ...edit('a.go', 'Now the test.'), ...run(PASSED)]),
    [],
  );
  assert.deepEqual(
    problemCalls([
      ...run(failed('TestA')),
      ...edit('a.go', CAUSE),
      ...run(failed('TestB')),
      ...edit('b.go', CAUSE.replace('hash', 'sum')),
      ...run(PASSED),
    ]),
    ['--- FAIL: TestA', '--- FAIL: TestB'],
  );
});

const ran = (command: string, output: string): readonly Message[] =>
  round('bash', { command }, output);
const CONFLICT = 'CONFLICT (content): Merge conflict in a.go';
const RAN = '1 tests passed';

for (const [failing, output, later, isSolved] of [
  ['go test ./...', failed('TestA'), 'go test ./...', true],
  ['go test ./a', failed('TestA'), 'go test ./b', false],
  ['go test ./a', failed('TestA'), 'go test ./...', true],
  ['pytest tests/test_a.py', 'FAILED tests/test_a.py::test_a', 'pytest tests/test_b.py', false],
  ['pytest tests/test_a.py', 'FAILED tests/test_a.py::test_a', 'pytest', true],
  ['git merge feature', CONFLICT, 'git merge --abort', false],
  ['git merge feature', CONFLICT, 'git merge --continue', true],
  ['git merge feature', CONFLICT, 'git commit -m merged', true],
  ['npx tsc -p .', 'a.ts(3,1): error TS2304: no name', 'npx tsc --version', false],
  ['npx tsc -p .', 'a.ts(3,1): error TS2304: no name', 'npm test', false],
  ['golangci-lint run', '(eval):1: command not found: golangci-lint', 'golangci-lint run', false],
] as const)
  test(`"${failing}" ${isSolved ? 'is' : 'is not'} solved by "${later}"`, () => {
    const { problems = [] } = problemsOf([
      user('Go.'),
      ...ran(failing, output),
      ...edit('a.go', CAUSE),
      ...ran(later, RAN),
    ]);
    assert.deepEqual(
      problems.map(({ call: name, solvedBy }) => [name, solvedBy]),
      isSolved ? [[failing, failing === later ? undefined : later]] : [],
    );
  });

const at = (line: number): string => `src/a.go:${line}:1: undefined: readRows`;

test('an error with another number is the same error', () => {
  assert.deepEqual(
    problemCalls([
      ...run(at(3)),
      ...edit('a.go', CAUSE),
      ...run(at(7)),
      ...edit('a.go', 'Let me try again.'),
      ...run(PASSED),
    ]),
    [],
  );
});

test('failures that nobody explained do not take the place of explained ones', () => {
  const silent = Array.from({ length: 14 }, (_, i) => [
    ...run(failed(`Test${'abcdefghijklmn'[i]}`)),
    ...edit('b.go', 'Next.'),
    ...run(PASSED),
  ]).flat();
  assert.deepEqual(
    problemCalls([...run(failed('TestHash')), ...edit('a.go', CAUSE), ...run(PASSED), ...silent]),
    ['--- FAIL: TestHash'],
  );
});

test('what a person says in between ends what belongs to a failure', () => {
  assert.deepEqual(
    problemCalls([
      ...run(failed('TestA')),
      user('Never mind, look at the sums.'),
      ...edit('sums.go', CAUSE),
      ...run(PASSED),
    ]),
    [],
  );
});

test('solved problems of an earlier summary are carried, and known once', () => {
  const messages = [
    user('Go.'),
    ...run(failed('TestHash')),
    ...edit('hash_test.go', CAUSE),
    ...run(PASSED),
    user('More.'),
    ...round('bash', { command: 'ls' }, 'hash_test.go'),
  ];
  const nodes = nodesOf(messages);
  const make = (from: number, to: number, previous: Summary | null): Summary =>
    extract({ nodes: nodes.slice(from, to), previous, task: null, round: 1, counter });
  const first = make(0, 7, null);
  assert.equal(first.problems?.length, 1);
  assert.deepEqual(make(7, nodes.length, first).problems, first.problems);
  assert.deepEqual(make(0, nodes.length, first).problems, first.problems);
});
