import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_SUMMARY } from '@bobbin/core/internal';
import { assistant, call, result, user } from '@bobbin/testing';
import { checked } from './verified-session.ts';

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
  assert.deepEqual(checked({ prose: prose.join('\n') }, { session }).summary.prose?.split('\n'), [
    prose[0],
    `${prose[1]} [m2: “Uploads are not retried when the connection”]`,
    `${prose[2]} [m2: “drops midway. There are 24 failing tests of the”]`,
    ...prose.slice(3),
  ]);
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
