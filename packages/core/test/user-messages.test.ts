import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { chars4, cleanExtract, renderSummary } from '@bobbin/core/internal';
import { assistant, call, result, round, thread, user } from '@bobbin/testing';

/** What a summary quotes of the user after the first message, by message. */
function said(...messages: readonly Message[]): readonly string[] {
  const nodes = thread(user('Make the printer faster.'), ...messages).path();
  const request = { nodes, previous: null, round: 1, maxTokens: 2_000, counter: chars4() };
  const text = renderSummary(cleanExtract({ ...request, task: 'Make the printer faster.' }));
  const own = text.split(/\n(?=\[m\d+)|\n\n/).filter((entry) => /^\[m\d+\] User: /.test(entry));
  return own.map((entry) => entry.replace(/^\[m\d+\] User: /, '').replace(/\n {2}/g, '\n'));
}

const working = round('bash', { command: 'ls' }, 'src');
const stopped = user('[Request interrupted by user]');

test('a message that the user stopped and wrote again is quoted once, as it was written last', () => {
  const first = user('Please review the tests and add a case for margins.');
  const again = user('Please review the tests, add a case for margins and one for the header.');
  assert.deepEqual(said(first, ...working, stopped, again, ...working), [
    'Please review the tests, add a case for margins and one for the header.',
  ]);
  const other = user('Please print the header twice.');
  assert.equal(said(first, ...working, stopped, other).length, 2);
  const answered = assistant('There is a case for margins now.');
  assert.equal(said(first, ...working, answered, again).length, 2);
});

const output = [
  '=== Step 1: Build ===',
  'go build -o /tmp/bin/printer ./cmd/printer',
  ...Array.from({ length: 40 }, (_, i) => `[${i}] page_${i}.txt -> queue_${i * 31} (ok)`),
  'Error: page_40.txt cannot be printed',
  ...Array.from({ length: 20 }, (_, i) => `[${i}] page_${i}.txt -> queue_${i * 17} (ok)`),
  '=== Step 9: exit 1 ===',
];

test('of an output that the user pasted, the beginning, what failed and the end are quoted', () => {
  const brief = [
    '(64 pasted lines)',
    '=== Step 1: Build ===',
    '…',
    'Error: page_40.txt cannot be printed',
    '…',
    '=== Step 9: exit 1 ===',
  ].join('\n');
  const pasted = output.join('\n');
  assert.deepEqual(said(user(pasted)), [brief]);
  const asked = user(`That is wrong, see here\n\n${pasted}\n\nWhy does it fail?`);
  assert.deepEqual(said(asked), [`That is wrong, see here\n${brief}\nWhy does it fail?`]);
});

test('a long message that a person typed is no output', () => {
  const typed = Array.from(
    { length: 12 },
    (_, i) => `The page number ${i} is printed twice, and I want to see it only once in the end.`,
  ).join('\n\n');
  const [quoted = ''] = said(user(typed));
  assert.doesNotMatch(quoted, /pasted lines/);
  assert.match(quoted, /^The page number 0/);
});

test('of a pasted output no secret is quoted', () => {
  const key = `ghp_${'Ab3dE5gH7'.repeat(4)}`;
  const lines = [
    `export KEY=${key}`,
    ...output,
    `Error: ${'#'.repeat(132)} ${key} was refused`,
    'done (1)',
  ];
  const [quoted = ''] = said(user(lines.join('\n')), assistant(call('bash', { command: 'ls' })));
  assert.doesNotMatch(quoted, /Ab3dE5gH/);
});

const REFUSED =
  "[error] The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n";

test('words with which the user refused a call are quoted with the call, without secrets', () => {
  const edit = call('Edit', { file_path: '/repo/src/page.ts', old_string: 'a', new_string: 'b' });
  const refused = result(edit, `${REFUSED}Leave the page as it is.`);
  assert.deepEqual(said(assistant(edit), refused), [
    'Leave the page as it is. (refuses Edit /repo/src/page.ts new_string=b old_string=a)',
  ]);
  const key = `ghp_${'Ab3dE5gH7'.repeat(4)}`;
  const push = call('Bash', { command: `git push https://printer:${key}@example.com/repo.git` });
  const [quoted = ''] = said(assistant(push), result(push, `${REFUSED}Do not push yet.`));
  assert.match(quoted, /^Do not push yet\. \(refuses Bash git push /);
  assert.doesNotMatch(quoted, /Ab3dE5gH/);
});

test('an answer to a question refuses nothing', () => {
  const ask = call('AskUserQuestion', { question: 'Wide or narrow?' });
  const answer = result(ask, 'User has answered your questions: "Wide or narrow?"="Narrow"');
  const [quoted = ''] = said(assistant(ask), answer);
  assert.match(quoted, /Narrow/);
  assert.doesNotMatch(quoted, /refuses/);
});

test('E8 the beginning of a split turn says when the user spoke in it', () => {
  const edit = call('Edit', { file_path: '/repo/src/page.ts', old_string: 'a', new_string: 'b' });
  const nodes = thread(
    user('Make the printer faster.'),
    assistant('The page is printed twice because the queue is read twice.', edit),
    result(edit, `${REFUSED}Leave the page, change the queue.`),
    assistant('Then the queue is where the second page is dropped from now on.'),
  ).path();
  const { splitTurn } = cleanExtract({
    nodes,
    previous: null,
    round: 1,
    task: 'Make the printer faster.',
    splitTurn: { turn: 1, maxTokens: 400 },
  });
  assert.deepEqual(splitTurn?.text.split('\n'), [
    '- [m2] The page is printed twice because the queue is read twice.',
    '- [m3] User: Leave the page, change the queue.',
    '- [m4] Then the queue is where the second page is dropped from now on.',
  ]);
});

test('a call that the user refused without a word is quoted, a call that failed is not', () => {
  const reset = call('Bash', { command: 'git reset --hard origin/pages' });
  const refused = result(
    reset,
    "[error] The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing.",
  );
  assert.deepEqual(said(assistant(reset), refused), [
    '(refuses Bash git reset --hard origin/pages)',
  ]);
  const failed = result(reset, "fatal: the user doesn't want to proceed", { outcome: 'failure' });
  assert.deepEqual(said(assistant(reset), failed), []);
});

test('what the user decided long ago is quoted before old questions', () => {
  const asked = Array.from({ length: 30 }, (_, i) => [
    user(`Where is the table number ${i} of the printer read, and what is it read for in the end?`),
    assistant(`It is read in part ${i}.`),
  ]).flat();
  const decided = 'No, leave the margins: a check of them finds too much that is fine.';
  const [first = ''] = said(user(decided), assistant('I leave them.'), ...asked);
  assert.equal(first, decided);
});

test('of a long message the end is quoted as well as the beginning', () => {
  const review = Array.from(
    { length: 5 },
    (_, i) =>
      `The reviewer says that part ${i} of the printer reads the queue twice, and the page too.`,
  );
  const verdict = 'I think that is right, but leave the header out of it.';
  const long = user([...review, verdict].join('\n\n'));
  const others = Array.from({ length: 24 }, (_, i) => [
    user(`Then look at the table ${i} of the printer, please, and say what it is for.`),
    assistant(`It is for part ${i}.`),
  ]).flat();
  const [first = ''] = said(long, assistant('It is read once now.'), ...others);
  assert.ok(first.startsWith('The reviewer says that part 0'), first);
  assert.ok(first.endsWith(verdict), first);
});

test('E8 of what the agent thought before the user spoke in a split turn, only the last is shown', () => {
  const edit = call('Edit', { file_path: '/repo/src/page.ts', old_string: 'a', new_string: 'b' });
  const thoughts = ['first', 'second', 'third', 'fourth'].map((name) =>
    assistant(`The ${name} thought is that the page should stay exactly as it is now.`),
  );
  const nodes = thread(
    user('Make the printer faster.'),
    ...thoughts,
    assistant('I change the page after all, because it is read twice.', edit),
    result(edit, `${REFUSED}Leave the page.`),
    assistant('Then the queue has to drop the second page from now on.'),
  ).path();
  const { splitTurn } = cleanExtract({
    nodes,
    previous: null,
    round: 1,
    task: 'Make the printer faster.',
    splitTurn: { turn: 1, maxTokens: 400 },
  });
  assert.deepEqual(splitTurn?.text.split('\n'), [
    '- [m5] The fourth thought is that the page should stay exactly as it is now.',
    '- [m6] I change the page after all, because it is read twice.',
    '- [m7] User: Leave the page.',
    '- [m8] Then the queue has to drop the second page from now on.',
  ]);
});
