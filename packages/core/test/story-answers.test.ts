import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { assistant, call, result, user } from '@bobbin/testing';
import { extract, renderSummary } from '@bobbin/core/internal';
import { counter, nodesOf, round, text } from './extracted.ts';

const rows = (place: string): string =>
  Array.from(
    { length: 6 },
    (_, i) =>
      `The rows of ${place} ${i} are in ledger ${i * 31}, because they are read again later.`,
  ).join('\n\n');

/** What a short text shows of an answer to a message that offers options. */
function answerTo(options: string, answer: string): string | undefined {
  const messages = [
    user('Where should the rows go?'),
    assistant(`${rows('till')}\n\n${options}\n\n${rows('branch')}\n\nWhich one do you want?`),
    user(answer),
    assistant(rows('bank')),
    user('Thanks.'),
    ...round('bash', { command: 'ls' }, 'rows'),
  ];
  return /^\[m3\] User: (.*)$/m.exec(text(messages, 200))?.[1];
}

test('an answer that names an option is shown with the beginning of that option', () => {
  const options = ['A', 'B', 'C'].map(
    (label) =>
      `| **${label}. Ledger ${label}** | ${`keeps the rows of branch ${label} `.repeat(16)}|`,
  );
  const table = `| Option | What it does |\n|---|---|\n${options.join('\n')}`;
  assert.equal(
    answerTo(table, 'B, and log it.'),
    'B, and log it. (takes “B. Ledger B: keeps the rows of branch B keeps the rows of branch B keeps the rows of…”)',
  );
});

const LEDGERS = '1. **Ledger 1**\n2. **Ledger 2** (recommended)\n3. **Ledger 3**';

test('an answer may name several options, and go on for long', () => {
  const long = '2, since the rows of a branch belong together, and we want it soon, as I said.';
  const opinion = 'I think 2 is the right place. Each of the rows says which branch it belongs to.';
  const answers = ['1+3', 'yes, do 1', long, opinion];
  assert.deepEqual(
    answers.map((answer) => answerTo(LEDGERS, answer)),
    [
      '1+3 (takes “1. Ledger 1” and “3. Ledger 3”)',
      'yes, do 1 (takes “1. Ledger 1”)',
      `${long} (takes “2. Ledger 2”)`,
      `${opinion} (takes “2. Ledger 2”)`,
    ],
  );
});

test('an answer that names no option is shown with the question, and what was recommended', () => {
  assert.deepEqual(
    ['ok', 'no'].map((answer) => answerTo(LEDGERS, answer)),
    [
      'ok (answers “Which one do you want?”, recommended was “2. Ledger 2”)',
      'no (answers “Which one do you want?”)',
    ],
  );
});

test('a point of a list that the user writes is no option', () => {
  const point = '2. The ledger needs a date as well, which we forgot when we listed the columns.';
  assert.equal(answerTo(LEDGERS, point), point);
});

test('a long message that a person typed counts as their own words, pasted text does not', () => {
  const design =
    'The printer keeps one page for each table, and a table that is split has two of them.';
  const typed = Array.from({ length: 12 }, (_, i) => `${design} Rule ${i} holds.`).join('\n\n');
  const pasted = Array.from({ length: 60 }, (_, i) => `[${i}] 0x${i}f → frame_${i}(${i});`);
  const filler = Array.from({ length: 30 }, (_, i) => [
    user(`Point ${i}: see below.\n${pasted.join('\n')}`),
    assistant(`Point ${i} is done. The frame_${i} was freed too early, because its page was gone.`),
  ]).flat();
  const shown = text([user('Write a printer.'), user(typed), ...filler], 1_500);
  assert.match(shown, /\[m2\] User: The printer keeps one page/);
});

test('a remark that only cheers is no reason for a change', () => {
  const asked = call('edit', {
    file_path: '/repo/a.ts',
    old_string: 'a',
    new_string: 'bcdefghi()',
  });
  const shown = (said: string): string =>
    text([user('Go.'), assistant(said, asked), result(asked, 'edited')]);
  assert.doesNotMatch(shown('Good, it compiles.'), /a\.ts \(edited, m2\):/);
  assert.match(
    shown('Perfect! The old loop held the lock for too long.'),
    /a\.ts \(edited, m2\): The old loop held the lock for too long\.$/m,
  );
});

test('what the agent asks is shown as a question, not as work in progress', () => {
  const shown = text([user('Merge it.'), assistant('It is merged. Shall I delete the branch?')]);
  assert.match(shown, /^- The agent asks: .*Shall I delete the branch\?$/m);
});

test('the remarks of a turn that has a report are shown if they find something', () => {
  const found =
    'The lock is held too long, because the writer waits for the reader that waits for it.';
  const shown = text([
    user('Look at the lock.'),
    assistant('All good so far.', call('bash', { command: 'ls' })),
    assistant(found, call('bash', { command: 'pwd' })),
    assistant('The lock is free now.'),
    user('Thanks.'),
  ]);
  assert.ok(shown.includes(found));
  assert.doesNotMatch(shown, /All good so far/);
});

for (const answer of [
  'A bit of both would be wrong; do neither.',
  'a migration, please',
  '2 days at most',
])
  test(`"${answer}" names no option`, () => {
    const options = ['A', 'B', '2'].map(
      (label) => `${label}. ${`Drop the table of branch ${label} at once `.repeat(12)}`,
    );
    const shown = text([
      user('Where should the rows go?'),
      assistant(`${options.join('\n')}\n\nWhich one do you prefer?`),
      user(answer),
      assistant('The rows stay.'),
    ]);
    assert.doesNotMatch(shown, /prefer\?\n +\W*[A2]\. Drop/);
  });

const DETAILS = Array.from(
  { length: 12 },
  (_, i) => `The row ${i} of the ledger has the total ${i * 731} in \`ledger_${i}.csv\`.`,
).join('\n\n');

const edited = (name: string): readonly Message[] =>
  round('edit', { file_path: `/repo/${name}`, old_string: 'a', new_string: 'bcdefghi()' }, 'ok');

test('what was done in each turn comes before what the agent explained', () => {
  const shown = text(
    [
      user('Keep the rows.'),
      ...edited('rows.ts'),
      assistant('Rows are kept in a tree, and the tree is written every minute.'),
      user('Which rows are there?'),
      assistant(DETAILS),
      user('Thanks.'),
      assistant('There are twelve.'),
    ],
    300,
  );
  assert.match(shown, /Agent: Rows are kept in a tree, and the tree is written every minute\./);
});

test('the answer to each question begins before an answer is shown at length', () => {
  const answers = Array.from(
    { length: 6 },
    (_, i) => `Column ${i} is what branch ${i} still owes.`,
  );
  const messages = answers.flatMap((answer, i) => [
    user(`What is column ${i} for?`),
    assistant(`${answer} It is filled at night.\n\n${DETAILS.replaceAll('ledger', `book${i}`)}`),
  ]);
  const shown = text([...messages, user('Thanks.')], 640);
  assert.deepEqual(
    answers.filter((answer) => !shown.includes(answer)),
    [],
  );
  assert.ok(shown.includes('book5_11.csv'), 'and the newest is shown at length');
});

test('every entry of a list is shown if the user takes some by their numbers', () => {
  const entries = Array.from(
    { length: 14 },
    (_, i) =>
      `| ${i + 1} | The check of branch ${i * 37} reads its whole ledger once more, and nobody knows why |`,
  );
  const shown = text(
    [
      user('List what is open.'),
      assistant(`Open are:\n\n| # | What |\n|---|---|\n${entries.join('\n')}\n\n${DETAILS}`),
      user('Skip 5 and 7, do the rest.'),
      ...Array.from({ length: 20 }, (_, i) => edited(`check${i}.ts`)).flat(),
    ],
    1500,
  );
  assert.deepEqual(
    entries.filter((entry) => !shown.includes(entry)),
    [],
  );
});

const INTRODUCTION = Array.from(
  { length: 3 },
  (_, i) =>
    `Part ${i} of the ledger was written long before the rest of it, and nobody has looked at its pages since that time, as far as one can see from the notes of those who wrote it down back then for us.`,
).join('\n\n');

const proposal = (name: string): string =>
  `${INTRODUCTION}\n\nI would keep the totals in ${name}, since a reader of the ledger then finds each of them at once.\n\nShall I?`;

/** What is shown after an answer that is too long to be shown with its question. */
const afterAnswer = (answer: string): string =>
  text(
    [
      user('Where do totals go?'),
      assistant(proposal('one table')),
      user('That is what I had in mind for this quarter, so do it soon.'),
      assistant(proposal('two files')),
      user(
        `${answer} I want one that is sorted by day and not by branch, as it was in all of the years before this one.`,
      ),
      ...round('bash', { command: 'ls' }, 'ledger'),
    ],
    250,
  );

test('a proposal that the user objects to gives way', () => {
  assert.match(afterAnswer('Then'), /two files/);
  assert.doesNotMatch(afterAnswer('But'), /two files/);
});

test('a short refusal is shown with the question that it answers', () => {
  const filler = Array.from({ length: 6 }, (_, i) => [
    user(`Go on with part ${i} of the import.`),
    assistant(
      `Part ${i} of the import keeps its ${i * 31} rows, because they are read again later.`,
    ),
  ]).flat();
  for (const answer of ['No, keep it.', 'OK, keep it.', 'No problem, go ahead.'])
    for (const tokens of [400, 500])
      assert.match(
        text(
          [
            user('Clean up.'),
            assistant('The old tables are empty. Should I drop the table legacy_orders?'),
            user(answer),
            ...filler,
          ],
          tokens,
        ),
        /Should I drop the table legacy_orders\?/,
        `${answer} ${tokens}`,
      );
});

const tested = (output: string, said: string): readonly Message[] => {
  const asked = call('bash', { command: 'npm test' });
  return [assistant(said, asked), result(asked, output)];
};

test('a remark keeps what it says besides the cause of a failure', () => {
  const shown = text([
    user('Mend the parser.'),
    ...tested('--- FAIL: TestRows (0.1s)', 'I run the tests.'),
    ...tested(
      'ok  parser  0.2s',
      'The replica listens on orders-db-9:5433 now. The parser loses the last row because the loop ends too early.',
    ),
  ]);
  assert.match(shown, /5433/);
  assert.equal(shown.split('because the loop ends too early').length, 2, 'said once');
});

test('a sentence that only introduces a report is left out', () => {
  const shown = text([
    user('Look at the hook.'),
    assistant(
      'Now I have a comprehensive understanding of the hook. Let me summarize my findings.\n\nThe hook reads the status twice.',
    ),
    user('Thanks.'),
  ]);
  assert.match(shown, /Agent: The hook reads the status twice\./);
  assert.doesNotMatch(shown, /comprehensive|summarize/);
});

test('a short first sentence before code with an introduction is kept', () => {
  const said = 'Port 8443 is taken by nginx.\n\nRun this:\n```\nnpm start\n```\n\nThen wait.';
  assert.match(
    text([user('Why?'), assistant(said), user('Thanks.')]),
    /Port 8443 is taken by nginx/,
  );
});

test('a short first sentence is shown only with what follows it', () => {
  const cause =
    'The hook takes the lock before it reads the status, and the status needs that lock.';
  const messages = [
    user('Why does the hook hang?'),
    assistant(`I found it.\n\n${cause}`),
    user('Thanks. Now read the whole log.'),
    assistant(DETAILS),
  ];
  for (const tokens of [120, 160, 200, 300]) {
    const shown = text(messages, tokens);
    assert.equal(shown.includes('I found it.'), shown.includes(cause), `${tokens} tokens`);
  }
  assert.match(text(messages, 2_000), /Agent: I found it\.\n {2}The hook takes the lock/);
});

test('the last line of what a person says introduces nothing, and is shown', () => {
  assert.match(
    text([
      user('Go.'),
      assistant('Done.'),
      user('"Resume" -> "Resume, close here and run:'),
      ...round('bash', { command: 'ls' }, 'x'),
    ]),
    /User: "Resume" -> "Resume, close here and run:/,
  );
});

test('a very short answer has its question beside it, unless the conversation shows the question', () => {
  const proposed =
    'The export reads the path of each row twice, once for the header and once for the row, and writes it to both of the files that the report names. '.repeat(
      3,
    );
  const messages = [
    user('Look at the export.'),
    assistant(`${proposed}Shall I also pass the path to the automatic commit?`),
    user('yes'),
    user('And show me the ledger after that.'),
    ...round('bash', { command: 'ls' }, 'ledger'),
  ];
  assert.match(
    text(messages, 105),
    /User: yes \(answers “Shall I also pass the path to the automatic commit\?”\)/,
  );
  assert.match(text(messages, 4_000), /automatic commit\?\n\[m3\] User: yes\n/);
});

const withTask = (task: string): string => {
  const said = [user(task), assistant('Done.'), user('You may use npm now, too.')];
  return renderSummary(extract({ nodes: nodesOf(said), previous: null, task, round: 1, counter }));
};

test('C23 what a later message changes is marked in the task too', () => {
  assert.match(
    withTask('Build the importer. Use pnpm, not npm.'),
    /\n## Original Task\nBuild the importer\. Use pnpm, not npm\. \(m3 may change this\)\n/,
  );
  assert.doesNotMatch(withTask('Build the importer.'), /may change this/);
});
