import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callsOf, messagesOnly, resultsOf, resultText, singlePrompt } from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread } from '@bobbin/testing';

/** What a prompt of so many tokens shows of a result that is too long for it. */
async function excerptOf(output: string, tokens = 900, tool = 'bash'): Promise<string> {
  const watched = await WatchedThread.open({
    budget: messagesOnly(tokens),
    onEvent: () => undefined,
  });
  const args = tool === 'bash' ? { command: 'make test' } : { path: 'src/a.ts' };
  await watched.append(user('Run the tests.'), ...round(tool, args, output));
  const { prompt } = await watched.prompt();
  return prompt.messages.flatMap(({ message }) => resultsOf(message).map(resultText)).join('\n');
}

const passed = (from: number, to: number): readonly string[] =>
  Array.from(
    { length: to - from },
    (_, i) => `ok  example.com/part/number_${from + i}  0.${from + i}s`,
  );

test('an excerpt of a long output shows what failed with the lines around it', async () => {
  const failed = [
    '--- FAIL: TestShare (0.01s)',
    '    share_test.go:760: share = 33.3%, want 42.9%',
    '    the cache was empty',
  ];
  const shown = await excerptOf([...passed(0, 300), ...failed, ...passed(300, 600)].join('\n'));
  assert.ok(shown.includes(failed.join('\n')), shown);
});

test('an excerpt has at most three parts: its beginning, one block and its end', async () => {
  const lines = Array.from({ length: 600 }, (_, i) =>
    i % 9 === 0 ? `src/part_${i}.ts has queue_${i * 31}` : 'and so on',
  );
  const shown = await excerptOf(lines.join('\n'));
  assert.ok((shown.match(/^…$/gm) ?? []).length <= 2, shown);
});

for (const [name, failure] of [
  ['a line that ends in a carriage return', '--- FAIL: TestShare (0.01s)\r'],
  ['a coloured line', '\u001b[31mFAIL\u001b[39m src/share.test.ts'],
  ['a long line', `Error: ${'the share is wrong, '.repeat(30)}`],
] as const)
  test(`what failed is found in ${name}`, async () => {
    const shown = await excerptOf([...passed(0, 300), failure, ...passed(300, 600)].join('\n'));
    assert.ok(shown.includes(failure.slice(0, 60)), shown);
  });

const code = (from: number): readonly string[] =>
  Array.from({ length: 300 }, (_, i) => `const part_${from + i} = queue_${(from + i) * 31};`);

test('an excerpt of a file that could not be merged shows the conflict', async () => {
  const conflict = [
    '<<<<<<< HEAD',
    'const width = 30;',
    '=======',
    'const width = 60;',
    '>>>>>>> next',
  ];
  const file = [...code(0), ...conflict, ...code(300)];
  const shown = await excerptOf(file.map((line, i) => `${i + 1}→${line}`).join('\n'), 900, 'read');
  for (const line of conflict) assert.ok(shown.includes(line), shown);
});

for (const [what, named] of [
  [
    'a failed test',
    round('bash', { command: 'make test' }, '    row_reader.ts:231: share = 33, want 42'),
  ],
  ['a cut name', round('bash', { command: 'make' }, '_reader.ts:231: error: 33 is not 42')],
  ['the user', [user('Look at src/row_reader.ts:231, please.')]],
] as const)
  test(`an excerpt of a file that was read shows the line that is named by ${what}`, async () => {
    const watched = await WatchedThread.open({
      budget: messagesOnly(1_200),
      preset: singlePrompt,
      onEvent: () => undefined,
    });
    const file = code(0).map((text, i) => `${i + 1}→${text}`);
    const read = round('read', { path: '/repo/src/row_reader.ts' }, file.join('\n'));
    await watched.append(user('Run the tests.'), ...named, ...read);
    const { prompt } = await watched.prompt();
    const shown = prompt.messages.flatMap(({ message }) => resultsOf(message).map(resultText));
    const excerpt = shown.at(-1) ?? '';
    assert.match(excerpt, /excerpt of/);
    for (const number of [229, 230, 231])
      assert.ok(excerpt.includes(file[number - 1] ?? '?'), excerpt);
  });

test('an excerpt of a file names the function that its block is a part of', async () => {
  const watched = await WatchedThread.open({
    budget: messagesOnly(1_200),
    preset: singlePrompt,
    onEvent: () => undefined,
  });
  const lines = ['func readRows(path string) error {', ...code(0).map((text) => `\t${text}`), '}'];
  const file = lines.map((text, i) => `${i + 1}→${text}`);
  const failed = round('bash', { command: 'make test' }, '    rows.go:231: share = 33, want 42');
  await watched.append(user('Run the tests.'), ...failed);
  await watched.append(...round('read', { path: '/repo/rows.go' }, file.join('\n')));
  const { prompt } = await watched.prompt();
  const shown = prompt.messages.flatMap(({ message }) => resultsOf(message).map(resultText));
  const [, first, second, ...rest] = (shown.at(-1) ?? '').split('\n');
  assert.deepEqual([first, second], [file[0], '…']);
  assert.ok(rest.includes(file[230] ?? '?'), rest.join('\n'));
});

test('the last part of an excerpt begins with a whole line', async () => {
  const rows = Array.from(
    { length: 300 },
    (_, i) => `row_${i} of ${'a very wide table '.repeat(7)}`,
  );
  const failed = ['--- FAIL: TestShare', '    share_test.go:760: share = 33.3%, want 42.9%'];
  const lines = [...rows.slice(0, 200), ...failed, ...rows.slice(200)];
  const shown = (await excerptOf(lines.join('\n'))).split('\n').slice(1);
  assert.ok(shown.length > 5, shown.join('\n'));
  // The first line may be cut at its end.
  for (const line of shown.slice(1).filter((one) => one !== '…'))
    assert.ok(lines.includes(line), line);
});

test('a reminder that a host appended is not the end of a result', async () => {
  const reminder = '<system-reminder>\nRule 7.\n</system-reminder>';
  const output = [...passed(0, 400), 'TOTAL 400 packages', '', reminder].join('\n');
  const shown = await excerptOf(output);
  assert.match(shown, /TOTAL 400 packages/);
  assert.doesNotMatch(shown, /Rule 7/);
});

const output = (from: number): string =>
  Array.from({ length: 300 }, (_, i) =>
    i % 9 === 0 ? `src/part_${from + i}.ts has queue_${(from + i) * 31}` : 'and so on',
  ).join('\n');

test('each of several long results is shown in at most three parts', async () => {
  const watched = await WatchedThread.open({
    budget: messagesOnly(3_000),
    preset: singlePrompt,
    onEvent: () => undefined,
  });
  await watched.append(user('Look.'));
  for (const from of [0, 1_000, 2_000, 3_000])
    await watched.append(...round('bash', { command: `look ${from}` }, output(from)));
  const { prompt } = await watched.prompt();
  const shown = prompt.messages.flatMap(({ message }) => resultsOf(message).map(resultText));
  assert.ok(
    shown.some((text) => text.includes('excerpt of')),
    shown.join('\n'),
  );
  for (const text of shown) assert.ok((text.match(/^…$/gm) ?? []).length <= 2, text);
});

/** A sub-agent's report, with what a host appends to it. */
const report = (name: string): string =>
  [
    'Now I have all the information.',
    '',
    '## Summary',
    ...Array.from({ length: 60 }, (_, i) => `- ${name} part_${i} reads the queue and waits.`),
    '## Conclusion',
    `${name} never closes the lock.`,
    'agentId: a0f0503 (to continue this agent)',
    '<usage>total_tokens: 80502\ntool_uses: 25</usage>',
  ].join('\n');

test('of a question to a sub-agent and its answer, the answer has the space, and its conclusion stays', async () => {
  const watched = await WatchedThread.open({
    budget: messagesOnly(700),
    preset: singlePrompt,
    onEvent: () => undefined,
  });
  await watched.append(user('Look.'));
  for (const name of ['printer', 'table'])
    await watched.append(
      ...round(
        'task',
        { prompt: `Look at the ${name}. ${'Read it all. '.repeat(100)}` },
        report(name),
      ),
    );
  const { prompt } = await watched.prompt();
  const shown = prompt.messages.flatMap(({ message }) => resultsOf(message).map(resultText));
  assert.match(shown.at(-1) ?? '', /\n## Conclusion\ntable never closes the lock\.\n/);
  assert.doesNotMatch(shown.join('\n'), /agentId|total_tokens/);
});

test('of an edit the new text has the space, not the result that repeats it', async () => {
  const watched = await WatchedThread.open({
    budget: messagesOnly(900),
    preset: singlePrompt,
    onEvent: () => undefined,
  });
  const lines = Array.from({ length: 24 }, (_, i) => `  print(cells[${i}], widths[${i}]);`);
  await watched.append(user('Look.'), assistant('I looked.'), user('Print the cells.'));
  for (let i = 0; i < 3; i++)
    await watched.append(
      ...round(
        'edit',
        { file_path: `src/part_${i}.ts`, old_string: 'x', new_string: lines.join('\n') },
        `edited\n${lines.map((line, n) => `${n}\t${line}`).join('\n')}`,
      ),
    );
  const { prompt } = await watched.prompt();
  const calls = prompt.messages.flatMap(({ message }) => callsOf(message));
  assert.ok(calls.at(-1)?.args.includes('print(cells[23], widths[23]);'));
});
