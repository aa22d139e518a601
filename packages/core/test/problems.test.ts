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
