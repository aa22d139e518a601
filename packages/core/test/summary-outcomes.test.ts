import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { extract, type Outcome, type ToolOutcome } from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

type Run = readonly [command: string, output: string, outcome?: Outcome];

function runs(...all: readonly Run[]): readonly Message[] {
  return all.flatMap(([command, output, outcome]) => {
    const asked = call('bash', { command });
    return [assistant(asked), result(asked, output, outcome === undefined ? {} : { outcome })];
  });
}

function summaryOf(messages: readonly Message[], previous: Summary | null = null): Summary {
  const nodes = thread(user('Work.'), ...messages).path();
  return extract({ nodes, previous, task: 'Work.', round: 1 });
}

const ended = (...all: readonly Run[]): readonly ToolOutcome[] => summaryOf(runs(...all)).outcomes;

test('what succeeded is no failure because a word of failure is in its output', () => {
  const outputs = [
    'Compiled with 0 ERRORS',
    'PASSED: 10 FAILED: 0',
    'FAILED: 0',
    'Errors: 0',
    'LOG_LEVEL=ERROR\nbuild ok',
    '10 tests 0 failed',
    'error handling was improved',
    'Fixed 3 lines; no errors found',
    'ℹ pass 31\nℹ fail 0',
    'the function failed() is exported',
  ];
  for (const output of outputs) {
    const [one] = ended(['make all', output]);
    assert.deepEqual([output, one?.outcome, one?.error], [output, 'success', undefined]);
  }
});

test('a failure is known by how a line begins, by a count, or by an exit code', () => {
  const outputs: readonly (readonly [output: string, error: string])[] = [
    ['ok 1\nError: expected 17 tokens', 'Error: expected 17 tokens'],
    ['src/a.ts(3,4): error TS2304: no name', 'src/a.ts(3,4): error TS2304: no name'],
    ['a.c:3:5: error: expected ;', 'a.c:3:5: error: expected ;'],
    ['error[E0308]: mismatched types', 'error[E0308]: mismatched types'],
    ['--- FAIL: TestParse (0.00s)', '--- FAIL: TestParse (0.00s)'],
    ['Tests: 3 failed, 10 passed', 'Tests: 3 failed, 10 passed'],
    ['bash: foo: command not found', 'bash: foo: command not found'],
    ['npm ERR! missing script: lint', 'npm ERR! missing script: lint'],
    ['ℹ pass 3\nℹ fail 2', 'ℹ fail 2'],
    [
      'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: \'x\'\nunrelated',
      "KeyError: 'x'",
    ],
    ['Exit code 1\nthe disk is full', 'Exit code 1: the disk is full'],
    ['FAIL a.test.ts\nsomething unrelated', 'FAIL a.test.ts'],
  ];
  for (const [output, error] of outputs) {
    const [one] = ended(['make all', output]);
    assert.deepEqual([output, one?.outcome, one?.error], [output, 'failure', error]);
  }
});

const guessed = (run: Run): boolean => ended(run)[0]?.guessed === true;

test('what the tool or an exit code did not say is marked as a guess', () => {
  assert.deepEqual(
    [
      guessed(['make', 'ok']),
      guessed(['make', 'Error: no']),
      guessed(['make', 'ok', 'success']),
      guessed(['make', 'no', 'failure']),
      guessed(['make', 'Exit code 2\nno rule']),
    ],
    [true, true, false, false, false],
  );
});

test('a command that worked later is the same however its output was cut or kept', () => {
  const failed = 'Error: 3 tests are wrong';
  const ways: readonly (readonly [before: string, after: string])[] = [
    ['npm test | tail -30', 'npm test | tail -10'],
    ['npm test 2>&1 | tail -30', 'npm test'],
    ['cd /repo && npm test > out.txt', 'npm test; echo "done: $?"'],
    ['CI=1 npm test', 'npm test'],
  ];
  for (const [before, after] of ways)
    assert.equal(
      ended([before, failed], [after, 'pass 31'])[0]?.resolution,
      'worked at m5',
      before,
    );
  assert.equal(ended(['npm test', failed], ['npm run lint', 'ok'])[0]?.resolution, undefined);
});

test('when something works, all that it failed with is told as past', () => {
  const outcomes = ended(
    ['npm test', 'Error: 3 tests are wrong'],
    ['npm test', 'Error: 1 test is wrong'],
    ['npm test', 'Error: 1 test is wrong'],
    ['npm test', 'pass 31'],
  );
  assert.deepEqual(
    outcomes.map(({ error, resolution }) => [error, resolution]),
    [
      ['Error: 3 tests are wrong', 'worked at m9'],
      ['Error: 1 test is wrong', 'worked at m9'],
      [undefined, undefined],
    ],
  );
});

test('what failed before an earlier summary is seen to work after it', () => {
  const edit = call('edit', { path: '/repo/a.ts', old_string: 'a', new_string: 'b' });
  const first = summaryOf([
    ...runs(['npm test | tail -3', 'Error: 3 tests are wrong']),
    assistant(edit),
    result(edit, 'Error: the string is not there'),
  ]);
  const again = call('edit', { path: '/repo/a.ts', old_string: 'c', new_string: 'd' });
  const later = summaryOf(
    [...runs(['npm test | tail -9', 'pass 31']), assistant(again), result(again, 'edited')],
    first,
  );
  assert.deepEqual(
    later.outcomes.filter(({ error }) => error !== undefined).map((one) => one.resolution),
    ['worked at m3', 'worked at m5'],
  );
});

test('a search that finds nothing is an answer, no error; one that cannot search is', () => {
  const none = 'Command exited with code 1';
  for (const command of [
    'grep -n "console" src/theme.ts',
    'cd /repo && rg -n "a\\|b" src',
    'git diff --quiet',
    'test -f dist/index.js',
    'git ls-files | grep -c snap',
  ]) {
    const [one] = ended([command, none, 'failure']);
    assert.deepEqual([command, one?.outcome, one?.error], [command, 'success', undefined]);
  }
  const errors = [
    ended([
      'grep -n x nowhere.ts',
      'grep: nowhere.ts: No such file or directory\nexit code 2',
      'failure',
    ]),
    ended(['npm test', none, 'failure']),
    ended(['npm test; grep -c ok out', `1 failed\n${none}`, 'failure']),
  ];
  assert.deepEqual(
    errors.map(([one]) => [one?.outcome, one?.error]),
    [
      ['failure', 'grep: nowhere.ts: No such file or directory'],
      ['failure', none],
      ['failure', '1 failed'],
    ],
  );
});

const resolved = (before: string, after: string): string | undefined =>
  ended([before, 'FAIL internal/syncer [build failed]'], [after, 'ok'])[0]?.resolution;

test('a run that worked is seen to work whatever prepared for it, and by a run of more; a run of less is not', () => {
  const names =
    'TestSourceFetchRequestIncludesTags|TestRunTagsPruneAndForce|TestAddAnnotatedTagAfterSync';
  const go = `go test ./internal/syncer -run '${names}'`;
  const long = `gofmt -w internal/syncer/syncer.go internal/syncer/protocol.go && ${go} -count=1`;
  assert.deepEqual(
    [
      resolved(long, `gofmt -w internal/syncer/syncer.go && ${go} -count=1`),
      resolved(long, 'go test ./...'),
      resolved('npm test -- a.test.ts', 'npm test'),
    ],
    ['worked at m5', 'worked at m5', 'worked at m5'],
  );
  assert.deepEqual(
    [
      resolved('npm test', 'npm test -- a.test.ts'),
      resolved(long, 'go test ./internal/parser'),
      resolved('npm test && npm run lint', 'npm test'),
      resolved('go test ./...', 'go vet ./...'),
    ],
    [undefined, undefined, undefined, undefined],
  );
});
