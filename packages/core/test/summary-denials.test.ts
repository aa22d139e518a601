import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistant, call, result, user } from '@bobbin/testing';
import { checked } from './verified-session.ts';

test('an item of the task list is known by its number too', () => {
  const made = call('TaskCreate', { subject: 'Widen the printed table' });
  const begun = call('TaskUpdate', { taskId: '7', status: 'in_progress' });
  const session = [
    user('Widen the table.'),
    assistant('', made),
    result(made, 'Task #7 created'),
    assistant('', begun),
    result(begun, 'ok'),
  ];
  const states = [
    [
      '- Task #7 [completed]: Widen the printed table',
      '- Task #7 [not done]: Widen the printed table',
    ],
    [
      '- **Task #7** (completed, after #6): Widen the printed table, which does not fit',
      '- **Task #7** (not done, after #6): Widen the printed table, which does not fit',
    ],
    ['- Task #8 [completed]: Widen the printed table', undefined],
    ['- Task #7 [not completed]: Widen the printed table', undefined],
    ['- Task #7 [in progress]: Widen the printed table', undefined],
  ] as const;
  for (const [prose, now] of states)
    assert.equal(checked({ prose }, { session }).summary.prose, now ?? prose);
});

test('an item with its number and its state is known by its first words', () => {
  const made = call('TaskCreate', { subject: 'Widen the printed table of the shop for phones' });
  const begun = call('TaskUpdate', { taskId: '7', status: 'in_progress' });
  const session = [
    user('Widen the table.'),
    assistant('', made),
    result(made, 'Task #7 created'),
    assistant('', begun),
    result(begun, 'ok'),
  ];
  const prose = '**Task #7** [completed, after #6]: Widen the printed table, which gets too long';
  assert.equal(
    checked({ prose }, { session }).summary.prose,
    prose.replace('completed', 'not done'),
  );
});

test('a test that failed in the last run that names it does not pass', () => {
  const run = call('bash', { command: 'go test ./... -run Width' });
  const failed =
    'ok  \tprint\n--- FAIL: TestWidthOfTable (0.02s)\n    width_test.go:9: got 3, want 4\nFAIL';
  const session = [user('Widen the table.'), assistant('', run), result(run, failed)];
  const prose = 'The test `TestWidthOfTable` passes now.';
  assert.equal(
    checked({ prose }, { session }).summary.prose,
    'The test `TestWidthOfTable` passes now (failed in its last run).',
  );
  const again = call('bash', { command: 'go test ./...' });
  const passed = [...session, assistant('', again), result(again, 'ok  \tprint 0.2s')];
  for (const [text, messages] of [
    ['The test `TestWidthOfTable` should pass now.', session],
    ['The test `TestWidthOfTable` fails; `TestWidthOfLine` passes.', session],
    ['The test `TestWidthOfLine` passes now.', session],
    [prose, passed],
  ] as const)
    assert.match(checked({ prose: text }, { session: messages }).summary.prose ?? '', /^[^(]+$/);
});

test('a quotation is turned back at its end too', () => {
  const session = [
    user('If both change the same file then we still should not continue.'),
    user("Why don't you just do a fresh clone of the shop?"),
  ];
  assert.equal(
    checked(
      {
        prose: [
          'The user: "If both change the same file then we still should continue."',
          'The user: "Why do you just do a fresh clone of the shop?"',
        ].join('\n'),
      },
      { session },
    ).summary.prose,
    [
      'The user: "If both change the same file then we still should not continue."',
      'The user: "Why don\'t you just do a fresh clone of the shop?"',
    ].join('\n'),
  );
});

test('a sentence about an item that gives its state in other words is left as it is', () => {
  const made = call('TaskCreate', { subject: 'Widen the printed table' });
  const session = [user('Go.'), assistant('', made), result(made, 'Task #7 created')];
  for (const prose of [
    'Task #7: Widen the printed table is not yet fully completed.',
    'Task #7 Widen the printed table: blocked until #6 is completed',
    '- #7 Widen the printed table: must be finished before the release',
  ])
    assert.equal(checked({ prose }, { session }).summary.prose, prose);
});

test('a failure of a test with a longer name is not one of this test, and a mark goes when the test passes', () => {
  const run = call('bash', { command: 'go test ./...' });
  const failed = [user('Go.'), assistant('', run), result(run, '--- FAIL: TestWidthOfTable\nFAIL')];
  const other = 'TestWidthOf works.';
  assert.equal(checked({ prose: other }, { session: failed }).summary.prose, other);
  const passed = [user('Go.'), assistant('', run), result(run, 'ok  \tprint 0.2s')];
  assert.equal(
    checked({ prose: 'TestWidthOfTable works (failed in its last run).' }, { session: passed })
      .summary.prose,
    'TestWidthOfTable works.',
  );
});
