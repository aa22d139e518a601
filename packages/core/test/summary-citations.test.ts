import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_SUMMARY } from '@bobbin/core/internal';
import { assistant, call, result, user } from '@bobbin/testing';
import { checked, linesChecked } from './verified-session.ts';

test('an account may say what changed since: a message that says otherwise is cited, not followed', () => {
  const look = call('bash', { command: 'cat notes.txt' });
  const session = [
    user('The timeout of the payment client is 30 seconds. Make it 60.'),
    assistant(
      'Uploads are not retried when the connection drops midway. There are 24 failing tests of the lexer.',
    ),
    assistant('If the queue is not empty the worker waits for the next job.', look),
    result(look, 'The user said the exported functions of the lexer must change.\n# fail 3'),
    user('The exported functions of the lexer must not change.'),
  ];
  const prose = [
    'The timeout of the payment client is 60 seconds.',
    'Uploads are retried when the connection drops midway.',
    'There are 3 failing tests of the lexer.',
    'If the queue is empty the worker stops.',
    'The user said: "The exported functions of the lexer must not change."',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    prose[0],
    `${prose[1]} [m2: “Uploads are not retried when the connection”]`,
    `${prose[2]} [m2: “drops midway. There are 24 failing tests of the”]`,
    ...prose.slice(3),
  ]);
});

test('a quotation gets the version that was said', () => {
  const session = [user('The lexer of the printer needs Node 20.1.4 on the server.')];
  assert.equal(
    checked(
      { prose: 'The user said: "The lexer of the printer needs Node 20.1.5 on the server."' },
      { session },
    ).summary.prose,
    'The user said: "The lexer of the printer needs Node 20.1.4 on the server."',
  );
});

test('a citation is made once, and stays when its message is gone', () => {
  const session = [user('Work.'), assistant('The “lexer” has 24 failing tests of its own.')];
  const prose = 'The lexer has 3 failing tests of its own.';
  const once = `${prose} [m2: “The lexer has 24 failing tests of its”]`;
  assert.equal(checked({ prose }, { session }).summary.prose, once);
  assert.equal(checked({ prose: once }, { session }).summary.prose, once);
  const later = [user('Go on.')];
  assert.equal(checked({ prose: once }, { session: later }).summary.prose, once);
  const code = `\`\`\`\n${once}\n\`\`\``;
  assert.equal(checked({ prose: code }, { session }).summary.prose, code);
});

test('only the account is cited; the same in a field is reported, and its text stays', () => {
  const session = [user('Work.'), assistant('The lexer has 24 failing tests of its own.')];
  const text = 'The lexer has 3 failing tests of its own.';
  const { summary, corrections } = checked(
    { decisions: [{ text, turn: 1 }], prose: 'Done.' },
    { session },
  );
  assert.ok(summary.decisions.some((decision) => decision.text === text));
  assert.deepEqual(
    corrections.map(({ kind, because }) => [kind, because]),
    [['marked', 'm2: “The lexer has 24 failing tests of its”']],
  );
});

test('a statement about something else is not cited; what looks like a mistake is marked', () => {
  const session = [
    user('Port 8080 is used by the web server of the shop. The file has 1,438 lines.'),
    assistant(
      'The build needs Node 20 of the newest series. See src/width/print.ts and src/height/print.ts.',
    ),
  ];
  const marks = [
    ['Port 9090 is used by the metrics server of the cluster.', '9090'],
    ['The file has 1438 lines and 5120 words, 12.5% of them long.', '5120, 12.5%'],
    ['The table is in src/other/print.ts since then.', 'src/other/print.ts'],
    ['The table of the old_print.ts was dropped.', 'old_print.ts'],
    ['The table of the abandoned-print.ts was dropped.', 'abandoned-print.ts'],
    ['The table of the abandonedprint.ts was dropped.', undefined],
    ['The rules are those of CONTRIBUTING.md and of tree.ts.', undefined],
    ['Port 8080 of print.ts is used by the web server; the file has 1438 lines.', undefined],
    ['Create src/other/print.ts with 300 lines.', undefined],
  ] as const;
  for (const [prose, unknown] of marks)
    assert.equal(
      checked({ prose }, { session }).summary.prose,
      unknown === undefined ? prose : `${prose} [not in the messages: ${unknown}]`,
    );
});

test('a mark is made again while no message has the name; an earlier account vouches for the others', () => {
  const session = [user('Work.'), assistant('The lexer is in src/lexer.ts.')];
  const prose = 'The lexer of src/lexer.ts was taken from old_lexer.ts.';
  const marked = `${prose} [not in the messages: old_lexer.ts]`;
  assert.equal(checked({ prose }, { session }).summary.prose, marked);
  const later = [user('Go on.')];
  const previous = { ...EMPTY_SUMMARY, prose: marked };
  assert.equal(checked({ prose: marked }, { session: later, previous }).summary.prose, marked);
  const named = [user('Go on with old_lexer.ts.')];
  assert.equal(checked({ prose: marked }, { session: named, previous }).summary.prose, prose);
});

test('a number is known in another notation; the numbers of a list and of messages are not doubted', () => {
  const session = [user('It takes 12.50 %, half of 1438.5 kB, 1 733 lines and 0.25 s.')];
  for (const prose of [
    'It takes 12.5% of it.',
    'It takes 1,438.5 kB.',
    'It has 1733 lines.',
    'It is 25% of a second.',
    '11. The table is wide.',
    'The user said so in turn 45, in message 99.',
  ])
    assert.equal(checked({ prose }, { session }).summary.prose, prose);
});

test('a number is doubted if the messages have another one beside the same word, and nowhere this one', () => {
  const look = call('read', { path: 'src/id.ts' });
  const session = [
    user('Where are the ids made?'),
    assistant(look),
    result(look, '12→// An id is a 12-character hex text that names a checkpoint.'),
    assistant('The worker reads the last 50 checkpoints from the store, and 7 tests cover it.'),
    assistant('A digest has a 64-character name.'),
  ];
  const prose = [
    'An id is a 20-character hex text for a checkpoint.',
    'An id is a 12-character hex text for a checkpoint.',
    'Its store: the worker reads checkpoints, the last 19.',
    'Its store: the worker reads checkpoints, the last 50.',
    'The worker reads the checkpoints from the store, see #19.',
    'The 64-character hex text that names a checkpoint is no id.',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    `${prose[0]} [m3: “12-character”]`,
    prose[1],
    `${prose[2]} [m4: “last 50”]`,
    ...prose.slice(3),
  ]);
});

test('what a sentence affirms is doubted if the messages deny it, and nowhere affirm it', () => {
  const session = [
    user('Failures of the summary are logged but must not block a commit. The cache can be full.'),
    assistant('The deferred job never fires, because the flag of the group is not updated there.'),
    assistant('Sometimes the cache can not be full.'),
  ];
  const prose = [
    'Failures of the summary are logged and may block a commit.',
    'The deferred job always fires for the group.',
    'By that job: flag of a group updated.',
    'Whether the deferred job always fires was asked.',
    'The cache can be full.',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    `${prose[0]} [m1: “must not block”]`,
    `${prose[1]} [m2: “never fires”]`,
    `${prose[2]} [m2: “group is not updated”]`,
    ...prose.slice(3),
  ]);
});

test('another notation, a version, a place in an order and a time that was rounded are no other number', () => {
  const look = call('bash', { command: 'bench' });
  const session = [
    user('The lexer build took 12.73 seconds on the server, with a hit rate of 0.85.'),
    assistant(
      'The lexer needs Node 20.1.4 on the server. Step 3 of the lexer build is over.',
      look,
    ),
    result(look, 'Status 200 404 of the lexer server\nrows 10,11,12 of 1024B, kept for 30d'),
  ];
  const prose = [
    'The lexer build took 12.7 seconds on the server.',
    'The lexer build on the server has a hit rate of 85 %.',
    'The lexer needs Node 20 on the server.',
    'Step 4 of the lexer build is over.',
    'The lexer server has status 404.',
    'See rows 10,11,12 of 1024 bytes, kept for 30 days.',
  ];
  assert.deepEqual(linesChecked(prose, session), prose);
});

test('no denial: a plan, a condition, a question, more than that, and what only a tool says', () => {
  const look = call('read', { path: 'NOTES' });
  const session = [
    user('Why is the flag of the group not updated by the deferred job?'),
    assistant('If the flag of the group is not updated, the deferred job waits.', look),
    result(look, 'The deploy key of the agent must not be rotated before the release.'),
    assistant('The new lexer is not only faster than the parser but also smaller.'),
    assistant('The width of the deferred table is not cached by the printer.'),
  ];
  const prose = [
    'Flag and group are updated by a job that was deferred.',
    'The deploy key of the agent is rotated before the release.',
    'The new lexer is faster and smaller than the parser.',
    'Next: the width of the deferred table must be cached by the printer.',
  ];
  assert.deepEqual(linesChecked(prose, session), prose);
});

test('a detail is cited only if it is short, so that its mark can be found again', () => {
  const look = call('read', { path: 'ids' });
  const session = [
    user('Work.'),
    assistant(look),
    result(look, `12 ${'-'.repeat(420)} character hex text of an id`),
  ];
  const prose = 'An id is a 20 character hex text.';
  const once = checked({ prose }, { session }).summary.prose ?? '';
  assert.equal(once, `${prose} [not in the messages: 20]`);
  assert.equal(checked({ prose: once }, { session }).summary.prose, once);
});

test('a test that passes with the error of a failed run is doubted', () => {
  const run = call('bash', { command: 'go test ./...' });
  const session = [
    user('Work.'),
    assistant(run),
    result(run, 'rewind_test.go:101: expected 2 points of the rewind, got 0\n--- FAIL: TestRewind'),
  ];
  const prose = [
    'The tests of the rewind are passing: "expected 2 points of the rewind, got 0".',
    'The tests of the rewind are failing: "expected 2 points of the rewind, got 0".',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    `${prose[0]} [m3: “expected 2 points of the rewind, got 0”]`,
    prose[1],
  ]);
});

test('another file is doubted if what is said about it is said of one of the same kind only', () => {
  const edit = call('edit', { path: 'src/queue.ts', text: 'const retries = 3;' });
  const session = [
    user('Work.'),
    assistant('`src/lexer.ts` skips the blank lines of a nested table now.'),
    assistant(edit),
    result(edit, 'The queue retries a lost message three times now.'),
    assistant('Next is src/parser.ts.'),
    assistant('Renamed src/scan.ts from it.'),
  ];
  const prose = [
    '`src/parser.ts` skips the blank lines of a nested table.',
    '`src/lexer.ts` skips the blank lines of a nested table.',
    '`src/queue.ts` retries a lost message three times.',
    '`src/parser.ts` is next.',
    '`src/scan.ts` skips the blank lines of a nested table.',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    `${prose[0]} [m2: “src/lexer.ts”]`,
    ...prose.slice(1),
  ]);
});

test('a word of another clause is not beside a number', () => {
  const session = [user('The lexer has pages, at most 13. Comments of the lexer pages are short.')];
  const prose = 'The lexer pages have 19 comments, all short.';
  assert.equal(checked({ prose }, { session }).summary.prose, `${prose} [not in the messages: 19]`);
});

test('another file is not doubted by a few words, by a file of another kind, or by what only a tool says', () => {
  const look = call('read', { path: 'NOTES' });
  const session = [
    user('Work on src/parser.ts.'),
    assistant('`src/lexer.ts` skips the blank lines of a nested table now.', look),
    result(look, 'src/lexer.ts prints every heading of a long report twice.'),
    assistant('`docs/table.md` explains the wide columns of a printed page.'),
  ];
  const prose = [
    '`src/parser.ts` skips lines.',
    '`src/parser.ts` prints every heading of a long report twice.',
    '`src/parser.ts` explains the wide columns of a printed page.',
  ].join('\n');
  assert.equal(checked({ prose }, { session }).summary.prose, prose);
});

test('digits inside a hash or a longer number do not make a number known', () => {
  const session = [user('See commit a4339c1 and run 24331.')];
  const prose = 'The limit was raised to 433 checkpoints.';
  assert.equal(
    checked({ prose }, { session }).summary.prose,
    `${prose} [not in the messages: 433]`,
  );
  const took = 'The whole took 12.5 s.';
  assert.equal(
    checked({ prose: took }, { session: [user('It took 12.7 s.')] }).summary.prose,
    `${took} [not in the messages: 12.5]`,
  );
});

test('a marked sentence that an account leaves out does not come back without its mark', () => {
  const session = [user('Work.'), assistant('The lexer is in src/lexer.ts.')];
  const previous = {
    ...EMPTY_SUMMARY,
    prose: 'The lexer was taken from old_lexer.ts. [not in the messages: old_lexer.ts] It is slow.',
  };
  const { notes } = checked({ prose: 'The work goes on.' }, { session, previous }).summary;
  assert.ok(!notes.some(({ text }) => text.includes('old_lexer')), JSON.stringify(notes));
});

test('what an earlier account names without a mark is not marked later', () => {
  const later = [user('Go on.'), assistant('See src/width/print.ts and src/height/print.ts.')];
  const prose = 'The table is in src/other/print.ts since then.';
  const previous = { ...EMPTY_SUMMARY, prose };
  assert.equal(checked({ prose }, { session: later, previous }).summary.prose, prose);
  assert.equal(
    checked({ prose }, { session: later }).summary.prose,
    `${prose} [not in the messages: src/other/print.ts]`,
  );
});

test('another file is doubted if its names of code are in a file of the same kind only', () => {
  const read = call('read', { path: 'src/printer.ts' });
  const edit = call('edit', { path: 'src/lexer.ts', new_string: 'skipBlanks(); readToken();' });
  const session = [
    user('Work.'),
    assistant('Look.', read),
    result(read, 'export const printAll = 1;'),
    assistant('Change.', edit),
    result(edit, 'ok'),
  ];
  const prose = [
    '- **src/printer.ts** (changed)',
    '  - Added `skipBlanks`, before it reads a token',
    '- **src/lexer.ts** (changed)',
    '  - Added `skipBlanks`, before it reads a token',
    '`readToken` is in `printer.ts` as well.',
    'Next: move `readToken` to `printer.ts`.',
    '`unheard_of` is in `printer.ts`.',
    '`readToken` is in `caller.ts`, which no message shows.',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    `${prose[0]} [m4: “lexer.ts”]`,
    ...prose.slice(1, 4),
    `${prose[4]} [m4: “lexer.ts”]`,
    ...prose.slice(5),
  ]);
});

test('a name of code may be in each file that a text about several files names', () => {
  const diff = call('bash', { command: 'git diff' });
  const edit = call('edit', { path: 'src/lexer.ts', new_string: 'skipBlanks();' });
  const look = call('read', { path: 'src/printer.ts' });
  const session = [
    user('Work.'),
    assistant('Change.', edit, look),
    result(edit, 'ok'),
    result(look, 'printAll();'),
    assistant('And now?', diff),
    result(diff, '--- src/printer.ts\n+++ src/printer.ts\n+ skipBlanks();'),
  ];
  const prose = '`printer.ts` calls `skipBlanks`.';
  assert.deepEqual(linesChecked([prose], session), [prose]);
});

test('a quotation and a task get the file that was said', () => {
  const task = call('task', {
    subject: 'Step two: rewrite the printer in print-all.ts for the shop',
  });
  const session = [
    user('There is docs/plan.md.'),
    user('Please read docs/old-plan.md before you change the lexer.'),
    assistant('I plan it.', task),
    result(task, 'ok: menu-all.ts'),
  ];
  assert.deepEqual(
    linesChecked(
      [
        'The user: "Please read docs/plan.md before you change the lexer."',
        '- Step two: rewrite the printer in menu-all.ts for the shop',
        'The menu is at print-every-menu-all.ts:12.',
      ],
      session,
    ),
    [
      'The user: "Please read docs/old-plan.md before you change the lexer."',
      '- Step two: rewrite the printer in menu-all.ts for the shop [m3: “rewrite the printer in print-all.ts for the shop”]',
      'The menu is at print-every-menu-all.ts:12. [not in the messages: print-every-menu-all.ts]',
    ],
  );
});
