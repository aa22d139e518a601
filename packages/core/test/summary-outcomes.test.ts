import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { extract, renderSummary, type Outcome, type ToolOutcome } from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';
import { tellingOutcomes } from '../src/summary/entry-texts.ts';
import { renderEssentials } from '../src/summary/render.ts';

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
  const outputs: readonly (readonly [output: string, error: string | undefined])[] = [
    ['ok 1\nError: expected 17 tokens', 'Error: expected 17 tokens'],
    ['src/a.ts(3,4): error TS2304: no name', 'src/a.ts(3,4): error TS2304: no name'],
    ['a.c:3:5: error: expected ;', 'a.c:3:5: error: expected ;'],
    ['error[E0308]: mismatched types', 'error[E0308]: mismatched types'],
    ['--- FAIL: TestParse (0.00s)', '--- FAIL: TestParse'],
    ['Tests: 3 failed, 10 passed', 'Tests: 3 failed, 10 passed'],
    ['bash: foo: command not found', 'bash: foo: command not found'],
    ['ℹ pass 3\nℹ fail 2', 'ℹ fail 2'],
    ['parse_test.go:942:15: undefined: json', 'parse_test.go:942:15: undefined: json'],
    ['FAIL a.test.ts\nsomething unrelated', 'FAIL a.test.ts'],
    ['Exit code 1\nthe disk is full', undefined],
  ];
  for (const [output, error] of outputs) {
    const [one] = ended(['make all', output]);
    assert.deepEqual([output, one?.outcome, one?.error], [output, 'failure', error]);
  }
});

test('the tests that failed are one line, then what is wrong at which place, and no log lines', () => {
  const output = [
    'server_test.go:12: 2026/03/01 10:00:00 INFO listening port=8080',
    '--- FAIL: TestQueue (0.10s)',
    '    --- FAIL: TestQueue/empty (0.02s)',
    '    queue_test.go:31: length after a push',
    '    queue_test.go:44: got 3 items, want 2',
    '--- FAIL: TestClock (0.01s)',
    'FAIL',
    'FAIL example.org/queue 0.4s',
  ].join('\n');
  assert.equal(
    ended(['go test ./...', output])[0]?.error,
    [
      '--- FAIL: TestQueue/empty, TestClock',
      'queue_test.go:44: got 3 items, want 2',
      'queue_test.go:31: length after a push',
      'FAIL example.org/queue 0.4s',
    ].join('\n'),
  );
  for (const [printed, error] of [
    ['building\nFAILED', undefined],
    [
      'parser_test.go:31: wrong output: got 3, want 2',
      'parser_test.go:31: wrong output: got 3, want 2',
    ],
    ['server.go:12: got INFO, want WARN', 'server.go:12: got INFO, want WARN'],
  ] as const) {
    const [one] = ended(['go test ./...', printed]);
    assert.deepEqual([one?.outcome, one?.error], ['failure', error], printed);
  }
  const long = Array.from({ length: 9 }, (_, i) => `FAILED ${'a'.repeat(90)}${i} - KeyError: 5 s`);
  assert.match(ended(['pytest', long.join('\n')])[0]?.error ?? '', /KeyError: 5 s and 6 more$/);
  const many = Array.from({ length: 25 }, (_, i) => `✖ case ${i} (3ms)`).join('\n');
  assert.match(ended(['npm test', many])[0]?.error ?? '', /^✖ case 0, case 1, .* and 5 more$/);
});

test('a failure that a later check settles says so, with its first line only', () => {
  const failing = '--- FAIL: TestQueue (0.1s)\nqueue_test.go:44: got 3 items, want 2';
  const shown = (...all: readonly Run[]): string | undefined =>
    /^- \[m2\].*(?:\n·.*)*/m.exec(renderSummary(summaryOf(runs(...all))))?.[0];
  const settled = ['- [m2] go test ./... → failed — passed later, in m4', '· --- FAIL: TestQueue'];
  const failed: Run = ['go test ./...', failing, 'failure'];
  assert.equal(shown(failed, ['make test', 'all 12 tests passed', 'success']), settled.join('\n'));
  // Lint says nothing about tests, and some tests nothing about all.
  for (const later of ['make lint', 'npx jest -t queue'])
    assert.equal(
      shown(failed, [later, '3 passed', 'success']),
      `- [m2] go test ./... → failed\n· ${failing.replace(' (0.1s)\n', '\n· ')}`,
    );
});

const line = (run: Run): string =>
  renderSummary(summaryOf(runs(run))).match(/^- \[m2\].*$/m)?.[0] ?? '';

test('a status is shown only where the host or an exit code gives it', () => {
  assert.equal(line(['make all', 'Error: no', 'failure']), '- [m2] make all → failed');
  assert.equal(line(['make all', 'built', 'success']), '- [m2] make all → ok');
  assert.equal(line(['make all', 'built\nexit code 0']), '- [m2] make all → ok');
  assert.equal(line(['make all', 'Error: no']), '- [m2] make all');
  assert.equal(line(['go test -run X', 'ok pkg 0.1s [no tests to run]']), '- [m2] go test -run X');
});

test('the last run of each kind of command is kept, with any preparation and any cut', () => {
  const all = ended(
    ['npm test', 'Error: expected 17 tokens', 'failure'],
    ['cd /repo && npm test 2>&1 | tail -5', '31 passed', 'success'],
    ['go build ./...', '', 'success'],
    ['go test ./a', '--- FAIL: TestA (0.1s)', 'failure'],
    ['go test ./b', 'ok b 0.1s', 'success'],
    ['grep -rn nothing src', '', 'failure'],
    ['cat src/a.ts | head', 'Error: in a file', 'success'],
    ['git diff', 'Error: in a diff', 'success'],
  );
  assert.deepEqual(
    all.map(({ call: asked, outcome, result: said }) => [asked, outcome, said]),
    [
      ['cd /repo && npm test', 'success', '31 passed'],
      ['go build ./...', 'success', undefined],
      ['go test ./b', 'success', '1 × ok, all passed'],
    ],
  );
});

test('the last run counts across summaries', () => {
  const first = summaryOf(runs(['npm test', 'Error: no tokens', 'failure']));
  const nodes = thread(user('Work.'), ...runs(['npm test', '3 passed', 'success'])).path();
  const { outcomes } = extract({ nodes, previous: first, task: null, round: 2 });
  assert.deepEqual(
    outcomes.map(({ outcome, result: said }) => [outcome, said]),
    [['success', '3 passed']],
  );
});

test('commits, branches, pushes and pull requests are kept', () => {
  const events = summaryOf(
    runs(
      ['git checkout -b fix/tokens', "Switched to a new branch 'fix/tokens'"],
      [
        'git commit -m x',
        '[fix/tokens 4be91c0] Cache the tokens\n 1 file changed, 2 insertions(+)',
      ],
      ['git push', 'To github.com:o/r.git\n   1aa2bb3..4be91c0  fix/tokens -> fix/tokens'],
      ['gh pr create', 'https://github.com/o/r/pull/17'],
      ['gh pr list', 'https://github.com/o/r/pull/3'],
      ['cat notes', '[main 1234567] not a commit of this session'],
    ),
  ).repository;
  assert.deepEqual(
    events?.map(({ kind, text }) => [kind, text]),
    [
      ['commit', '4be91c0 Cache the tokens'],
      ['branch', 'fix/tokens'],
      ['push', 'fix/tokens at 4be91c0'],
      ['pull request', 'https://github.com/o/r/pull/17'],
    ],
  );
});

const commit = (hash: string, more = ''): readonly [string, string] => [
  `git commit ${more}-m x`,
  `[main ${hash}] Cache the tokens\n 1 file changed`,
];

test('commits that were taken back or replaced are gone', () => {
  const left = (...more: readonly (readonly [string, string])[]): readonly string[] =>
    (summaryOf(runs(commit('1111111'), commit('2222222'), ...more)).repository ?? [])
      .filter(({ kind }) => kind === 'commit')
      .map(({ text }) => text.slice(0, 7));
  assert.deepEqual(left(['git reset --soft HEAD~1', '']), ['1111111']);
  assert.deepEqual(left(['git reset HEAD^^ && git status', 'clean']), []);
  assert.deepEqual(left(commit('3333333', '--amend ')), ['1111111', '3333333']);
  assert.deepEqual(left(['git reset HEAD src/a.ts', '']), ['1111111', '2222222']);
  assert.deepEqual(left(['git reset --hard HEAD', '']), ['1111111', '2222222']);
  assert.deepEqual(left(['git reset -q --hard HEAD~1\ngit status', 'clean']), ['1111111']);
  for (const more of [
    ['git reset --hard HEAD~9 || true', "fatal: ambiguous argument 'HEAD~9'"],
    ['git commit --amend --no-edit 2>&1 | tail -3', 'error: the hook failed'],
    ['git commit -q --amend --no-edit', ''],
    ['echo "then git commit --amend"', 'then git commit --amend'],
    ['git reset HEAD~1 2024.md', ''],
  ] as const)
    assert.deepEqual(left(more), ['1111111', '2222222'], more[0]);
  for (const said of [
    '"explain the --amend flag"',
    '"$(cat <<EOF\nx\nuse git commit --amend\nEOF\n)"',
  ])
    assert.deepEqual(
      left([`git commit -m ${said}`, '[main 3333333] Explain']),
      ['1111111', '2222222', '3333333'],
      said,
    );
});

test('a check is marked if another state of the repository was taken since', () => {
  const text = renderSummary(
    summaryOf(
      runs(
        ['npm test', '12 passed'],
        ['git merge main', 'Merge made.'],
        ['npm run lint', '0 issues'],
      ),
    ),
  );
  assert.match(text, /npm test \(before the last checkout or merge\)\n· 12 passed/);
  assert.match(text, /npm run lint\n· 0 issues/);
});

test('a merge that stops at a conflict has changed the state too', () => {
  const conflict = 'CONFLICT (content): Merge conflict in src/a.ts\nexit code 1';
  const text = renderSummary(
    summaryOf(runs(['npm test', '12 passed'], ['git merge main', conflict])),
  );
  assert.match(text, /npm test \(before the last checkout or merge\)\n· 12 passed/);
});

for (const [command, output] of [
  ['git merge-base main HEAD', '4be91c0'],
  ['git stash list', 'stash@{0}: WIP'],
  ['git checkout -b next', "Switched to a new branch 'next'"],
  ['echo "run git pull later"', 'run git pull later'],
  ['git checkout main', 'error: Your local changes would be overwritten\nexit code 1'],
] as const)
  test(`a check still holds after ${command}`, () => {
    const text = renderSummary(summaryOf(runs(['npm test', '12 passed'], [command, output])));
    assert.match(text, /npm test\n· 12 passed/);
  });

test('the success of a pipe is that of its last command: lines that say what failed count', () => {
  const output = 'src/a.ts(3,1): error TS2304: Cannot find name x.\nnpm error code 1';
  const piped = (command: string): readonly unknown[] =>
    ended([command, output, 'success']).map(({ outcome, guessed }) => [outcome, guessed]);
  assert.deepEqual(piped('npm run build 2>&1 | head -30'), [['failure', true]]);
  assert.deepEqual(piped('set -o pipefail; npm run build | head -30'), [['success', undefined]]);
  assert.deepEqual(piped('npm run build'), [['success', undefined]]);
});

test('a suite that failed is not settled by a run of another one', () => {
  const failed: Run = ['npm run test:integration', '--- FAIL: TestQueue (0.1s)'];
  const text = (...later: readonly Run[]): string =>
    renderSummary(summaryOf(runs(failed, ...later)));
  assert.doesNotMatch(text(['npm test', '20 tests passed']), /passed later/);
  assert.match(text(['npm run test:all', '20 tests passed']), /passed later/);
  const tagged: Run = ['go test -tags=integration ./...', 'ok  example.com/queue  0.3s'];
  assert.match(text(tagged), /- \[m2\] npm run test:integration[^\n]* — passed later, in m4\n/);
});

test('the last run is shown with fewer lines rather than not at all', () => {
  const errors = Array.from(
    { length: 8 },
    (_, i) => `src/part_${i}.go:${i}:1: cannot use ${'queue '.repeat(20)}as a clock`,
  );
  const nodes = thread(
    user('Work.'),
    ...runs(['go vet ./...', 'ok'], ['go build ./...', errors.join('\n')]),
  ).path();
  const summary = extract({ nodes, previous: null, task: 'Work.', round: 1 });
  const text = renderEssentials(summary, { chars: 3_000 });
  assert.match(
    text,
    /\n## Commands\n(?:- \[m2\][^]*)?- \[m4\] go build \.\/\.\.\.[^\n]*\n(?:· src\/part_\d\.go:\d:1: [^\n]*\n){1,5}· \(\d more\)/,
  );
});

test('C6 tests that pass say nothing about types, but a chain says that what comes first passed', () => {
  const types: Run = ['pnpm tsc --noEmit', 'src/a.ts(3,1): error TS2304: cannot find name'];
  const resolved = (...all: readonly Run[]): readonly (string | undefined)[] =>
    tellingOutcomes(ended(...all)).map(({ resolution }) => resolution);
  assert.deepEqual(resolved(types, ['pnpm test', '20 tests passed']), [undefined, undefined]);
  const chain: Run = ['pnpm tsc --noEmit && pnpm test', '--- FAIL: TestRows (0.1s)'];
  assert.deepEqual(resolved(types, chain)[0], 'passed later, in m4');
  const stopped: Run = ['pnpm tsc --noEmit && pnpm test', types[1]];
  assert.deepEqual(resolved(types, stopped)[0], undefined);
});

test('what a test of Go logs is no failure if its package passed', () => {
  const log = '    queue_test.go:31: the queue has 3 items';
  const [passed] = ended(['go test -v ./queue', `${log}\n--- PASS: TestQueue (0.1s)\nPASS`]);
  assert.deepEqual([passed?.outcome, passed?.error], ['success', undefined]);
  const [failed] = ended([
    'go test -v ./...',
    `${log}\n--- FAIL: TestQueue (0.1s)\nok  \texample.com/clock\t0.3s`,
  ]);
  assert.deepEqual(
    [failed?.outcome, failed?.error],
    ['failure', '--- FAIL: TestQueue\nqueue_test.go:31: the queue has 3 items'],
  );
});

test('of Go’s tests that were not shown whole, what is wrong counts', () => {
  const wrong = '    queue_test.go:31: want 3 items, got 4\nok  \texample.com/clock\t0.3s';
  for (const output of [wrong, `${wrong}\nexit status 1`])
    assert.equal(
      ended(['go test ./...', output])[0]?.error,
      'queue_test.go:31: want 3 items, got 4',
    );
});

test('the state names checks that failed when they ran last', () => {
  const text = renderSummary(
    summaryOf([
      ...runs(['make lint', '0 problems'], ['make test', '--- FAIL: TestQueue (0.1s)', 'failure']),
    ]),
  );
  assert.match(text, /\n## Open Work at m5\n- Failed when last run \[m4\]: make test$/);
  const over = runs(
    ['make test', '--- FAIL: TestQueue (0.1s)', 'failure'],
    ['make test', '9 tests passed', 'success'],
  );
  assert.doesNotMatch(renderSummary(summaryOf(over)), /Failed when last run/);
});

test('what failed to build is settled by a check of the types of all that was built', () => {
  const built: Run = [
    'go build -tags=e2e ./e2e/...',
    'e2e/env.go:42:26: undefined: binary\nexit code 1',
  ];
  const failing = (...later: readonly Run[]): boolean =>
    renderSummary(summaryOf(runs(built, ...later))).includes('Failed when last run');
  assert.equal(failing(), true);
  assert.equal(failing(['go vet -tags=e2e ./e2e/...', '']), false);
  assert.equal(failing(['go vet -tags=e2e ./other/...', '']), true);
  assert.equal(failing(['go vet ./e2e/...', '']), true);
});

const made = (hash: string, subject: string): Run => [
  `git commit -m "${subject}"`,
  `[main ${hash}] ${subject}\n 1 file changed`,
];

test('a commit that was not pushed before a rebase may have another hash', () => {
  const push: Run = ['git push', '   1111111..aaaaaaa  main -> main'];
  const rebase: Run = ['git rebase main', 'Successfully rebased and updated refs/heads/main.'];
  const { repository = [] } = summaryOf(
    runs(
      made('aaaaaaa', 'First'),
      push,
      made('bbbbbbb', 'Second'),
      rebase,
      made('ccccccc', 'Third'),
    ),
  );
  assert.deepEqual(
    repository.filter(({ kind }) => kind === 'commit').map((event) => event.text),
    ['aaaaaaa First', 'bbbbbbb Second (hash before a rebase)', 'ccccccc Third'],
  );
});

test('a status says that a branch was pushed', () => {
  const status = "On branch main\nYour branch is up to date with 'origin/main'.";
  const first = made('aaaaaaa', 'First');
  const asked: Run = ['git status', status];
  const isUnpushed = [[first], [first, asked], [asked, first]].map((all) =>
    renderSummary(summaryOf(runs(...all))).includes('No push was seen'),
  );
  assert.deepEqual(isUnpushed, [true, false, true]);
  assert.doesNotMatch(renderSummary(summaryOf(runs(first, asked))), /push/);
});
