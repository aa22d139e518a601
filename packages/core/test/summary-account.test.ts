import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proseSummary, type Message, type Prompt, type Summarizer } from '@bobbin/core';
import {
  accountOf,
  chars4,
  extract,
  fitSummaryText,
  messagesOnly,
  singlePromptBeside,
  wholeText,
} from '@bobbin/core/internal';
import { assistant, call, result, thread, user, WatchedThread } from '@bobbin/testing';

const counter = chars4();

const BODY = `1. Request:
   The user wants the parser to accept dates without a year.
2. Files:
   - src/dates.ts: parseDate takes the year of today
3. Open:
   - the tests of src/calendar.ts`;

const ANALYSIS = `Analysis:
Let me go through the conversation:

1. The user asked for dates without a year.
2. I compared three libraries and found that none keeps the time zone:
   - luxon drops it
   - dayjs needs a plugin
3. **The agreed form**:
\`\`\`json
{
  "yearless": true
}
\`\`\`
4. The user refused a new dependency because the bundle is at 98 kB of 100 kB.

Errors:
1. \`RangeError: month 13\` came from swapped arguments.
2. The snapshot of Lisbon was an hour late.

Summary:
${BODY}`;

test('an analysis is shortened by what the account says, an entry stays under its heading', () => {
  const account = accountOf(ANALYSIS);
  assert.doesNotMatch(account, /Let me go through/);
  assert.match(
    account,
    /none keeps the time zone:\n {2}- luxon drops it\n {2}- dayjs needs a plugin/,
  );
  assert.match(account, /agreed form\*\*:\n```json\n\{\n {2}"yearless": true\n\}\n```\n4\. /);
  assert.match(account, /Errors:\n1\. `RangeError: month 13`[^\n]*\n2\. The snapshot of Lisbon/);
  assert.doesNotMatch(account, /1\. The user asked for dates without a year/);
});

test('of an analysis that does not fit, what came last stays', () => {
  const steps = Array.from(
    { length: 12 },
    (_, i) => `${i + 1}. Step ${'abcdefghijkl'[i]}${i}x changed module_${i} and queue_${i * 31}.`,
  );
  const nodes = thread(user('Work.'), assistant('Done.')).path();
  const request = {
    nodes,
    previous: null,
    task: null,
    round: 1,
    maxTokens: 400,
    counter,
    kept: [],
  };
  const prose = `${BODY}\n\nAnalysis:\n${steps.join('\n')}`;
  const summary = { ...extract(request), prose };
  const whole = fitSummaryText(summary, 2_000, counter) ?? '';
  for (let i = 0; i < 12; i++) assert.ok(whole.includes(`module_${i} `), `step ${i}`);
  const part = fitSummaryText(summary, counter.text(whole) - 100, counter) ?? '';
  assert.match(part, /module_11 /);
  assert.doesNotMatch(part, /module_0 /);
  assert.match(part, /parseDate takes the year of today/);
});

const written = (text: string): Summarizer => ({
  id: 'written',
  summarize: (request) => Promise.resolve(proseSummary(text, request)),
});

/** One prompt of a size for messages and a text that a model wrote about them. */
async function promptBeside(
  text: string,
  tokens: number,
  messages: readonly Message[],
): Promise<Prompt> {
  const watched = await WatchedThread.open({
    counter,
    budget: messagesOnly(tokens),
    preset: singlePromptBeside(counter.text(accountOf(text)), tokens),
    summarizer: written(text),
    onEvent: () => undefined,
  });
  await watched.append(...messages);
  return (await watched.prompt()).prompt;
}

test('next to an account that is written, the newest result stays whole before the analysis does', async () => {
  const lines = Array.from(
    { length: 20 },
    (_, i) => `  ${i + 60}\tconst value_${i} = read(${i * 7});`,
  );
  const read = call('read', { path: 'src/calendar.ts' });
  const messages: readonly Message[] = [
    user('Dates without a year, please.'),
    ...Array.from({ length: 30 }, (_, i) =>
      assistant(`Thought ${i}: ${'the year is missing. '.repeat(9)}`),
    ),
    user('Now the calendar.'),
    assistant('I read it.', read),
    result(read, lines.join('\n')),
  ];
  const analysis = Array.from(
    { length: 40 },
    (_, i) => `${i}. The user asked for dates, the parser, the year ${i}.`,
  );
  const text = `Analysis:\n${analysis.join('\n')}\n\nSummary:\n${BODY}`;
  const tokens = counter.text(text);
  const prompt = await promptBeside(text, tokens, messages);
  const shown = JSON.stringify(prompt.messages);
  assert.match(shown, /parseDate takes the year of today/);
  for (let i = 0; i < 20; i++) assert.ok(shown.includes(`value_${i} `), `line ${i}`);
});

test('next to an account that needs the space, newest messages that would be stubs are left to it', async () => {
  const asked = Array.from({ length: 10 }, (_, i) =>
    call('bash', {
      command: `reply --to comment-${i} --body "${'Fixed, see the commit. '.repeat(6)}"`,
    }),
  );
  const messages: readonly Message[] = [
    user('Look at the review.'),
    ...Array.from({ length: 20 }, (_, i) =>
      assistant(`Thought ${i}: ${'the year is missing. '.repeat(9)}`),
    ),
    user('Now answer all ten comments.'),
    assistant('I answer them.', ...asked),
    ...asked.map((one, i) => result(one, `{"id":${i},"state":"${'posted '.repeat(60)}"}`)),
  ];
  const facts = Array.from({ length: 40 }, (_, i) => `- comment_${i} is about queue_${i * 31}`);
  const text = [BODY, '4. Comments:', ...facts, '5. All ten comments were answered.'].join('\n');
  const tokens = counter.text(text) + 150;
  const prompt = await promptBeside(text, tokens, messages);
  const [request, summary = '', ...rest] = prompt.messages.map(({ message }) => wholeText(message));
  assert.equal(request, 'Now answer all ten comments.', 'it was made before what the account says');
  for (const fact of facts) assert.ok(summary.includes(fact), fact);
  assert.deepEqual(rest, []);
});

test('next to an account, short words of the user without a name are left out', () => {
  const nodes = thread(
    user('Please print the report of the warehouse as wide as the paper allows it to be printed.'),
    assistant('Done.'),
    user('ok, this looks amazing, start implementing'),
    assistant('Done.'),
    user('see printWide'),
    assistant('Done.'),
  ).path();
  const made = extract({ nodes, previous: null, task: null, round: 1, counter, kept: [] });
  const prose = Array.from({ length: 30 }, (_, i) => `The agent compared plan${i}.`).join('\n');
  const text = fitSummaryText({ ...made, prose }, counter.text(prose) + 50, counter) ?? '';
  assert.match(text, /as wide as the paper allows/);
  assert.match(text, /see printWide/);
  assert.doesNotMatch(text, /this looks amazing/);
});

function withItems(...texts: readonly string[]): string {
  const items = texts.map((text) => ({ text, state: 'open', priority: 'medium' }) as const);
  const nodes = thread(user('Work.'), assistant('Done.')).path();
  const made = extract({ nodes, previous: null, task: null, round: 1, counter, kept: [] });
  const prose = `${BODY}\n4. Done:\n   - #1: added the wide \`parser\`.\n   - The merge of the wide parser did run its tests.`;
  return fitSummaryText({ ...made, items, prose }, 2_000, counter) ?? '';
}

test('open items are listed beside an account unless it speaks of all of them', () => {
  const said = 'Add the wide parser (#1)';
  assert.doesNotMatch(withItems(said), /## Open Items/);
  for (const other of ['Add a wide parser (#2)', 'Run tests', 'Do not merge the wide parser'])
    assert.ok(
      withItems(said, other).includes(`\n## Open Items\n- [ ] ${said}\n- [ ] ${other}`),
      other,
    );
});

test('next to an account, a sentence with exact strings that nothing else says fills free space', () => {
  const nodes = thread(
    user('Work.'),
    assistant('The nil check came with commit c2b0273 and the merge of main with b87e0d5.'),
    user('Go on.'),
    ...Array.from('abcdefghij', (name) => assistant(`It was a long day for ${name}${name} here.`)),
    assistant('They go from commit 36ff9a9 to commit 30ebf22 in all of the places.'),
    assistant('The places go from the line 811 to the line 1112 in the old file.'),
    assistant('`formatOutput` → `printWide`, `readAll` → `readSome`'),
    assistant('Done.'),
  ).path();
  const made = extract({ nodes, previous: null, task: null, round: 1, counter, kept: [] });
  const prose = Array.from({ length: 30 }, (_, i) => `The agent compared plan${i}.`).join('\n');
  const text = fitSummaryText({ ...made, prose }, counter.text(prose) + 80, counter) ?? '';
  assert.match(text, /\n## Not in the Account\n- \[m2\] The nil check came with commit c2b0273/);
  assert.doesNotMatch(text, /It was a long day|36ff9a9|1112|printWide/);
});

test('of an account that does not fit, what is not done stays, also where it repeats names', () => {
  const files = Array.from({ length: 10 }, (_, i) => `- src/part-${i}.ts takes the new clock`);
  const todo = Array.from({ length: 10 }, (_, i) => `- update src/part-${i}.ts`);
  const prose = ['1. Files:', ...files, '2. Pending Tasks:', ...todo].join('\n');
  const nodes = thread(user('Work.'), assistant('Done.')).path();
  const extracted = extract({ nodes, previous: null, task: null, round: 1, counter, kept: [] });
  const text = fitSummaryText({ ...extracted, prose }, 90, counter) ?? '';
  assert.ok(text.includes(['2. Pending Tasks:', ...todo].join('\n')), text);
});

test('a list in open work does not end it, and other headings do not begin it', () => {
  const todo = ['- Parser:', '  - accept src/part-1.ts', '- Lexer:', '  - reject src/part-2.ts'];
  const config = Array.from(
    { length: 12 },
    (_, i) => `- limit_${i} of queue_${i * 31}: ${i * 977}`,
  );
  const prose = [
    '**Pending Tasks**',
    ...todo,
    '**Next.js Configuration**',
    'The current limits are:',
    ...config,
  ].join('\n');
  const nodes = thread(user('Work.'), assistant('Done.')).path();
  const extracted = extract({ nodes, previous: null, task: null, round: 1, counter, kept: [] });
  const text = fitSummaryText({ ...extracted, prose }, 60, counter) ?? '';
  assert.ok(text.includes(todo.join('\n')), text);
});

test('next to an account that fills the space, the last run of each check is shown', () => {
  const asked = call('bash', { command: 'make check' });
  const edit = call('write', { path: 'src/a.ts', content: 'export const a = 1;' });
  const nodes = thread(
    user('Work.'),
    assistant(asked),
    result(asked, 'src/a.ts:3:1: error: a is not defined', { outcome: 'failure' }),
    assistant(edit),
    result(edit, 'written'),
  ).path();
  const extracted = extract({ nodes, previous: null, task: null, round: 1, counter, kept: [] });
  const prose = Array.from({ length: 60 }, (_, i) => `The agent compared plan${i}.`).join('\n');
  const text = fitSummaryText({ ...extracted, prose }, 300, counter) ?? '';
  assert.match(
    text,
    /\n## Commands\n- \[m2\] make check → failed \(before the last edits\)\n· src\/a\.ts:3:1: error: a is not defined/,
  );
});

test('a heading stays with what is under its subheadings', () => {
  const files = Array.from({ length: 12 }, (_, i) => `  - src/part-${i}.ts has a clock_${i}`);
  const prose = [
    '1. Files:',
    ...files,
    '2. Errors:',
    '**Build**:',
    '- queue_7 was missing',
    '**Lint**:',
    '- unused lock_9',
  ].join('\n');
  const nodes = thread(user('Work.'), assistant('Done.')).path();
  const extracted = extract({ nodes, previous: null, task: null, round: 1, counter, kept: [] });
  const text = fitSummaryText({ ...extracted, prose }, 105, counter) ?? '';
  assert.ok(!text.includes(files.join('\n')), text);
  assert.match(
    text,
    /2\. Errors:\n\*\*Build\*\*:\n- queue_7 was missing\n\*\*Lint\*\*:\n- unused lock_9/,
  );
});

test('a rule that an account quotes only where it is cut is said beside it', () => {
  const rules = Array.from({ length: 4 }, (_, i) => `Never touch module_${i} of the queue.`);
  const nodes = thread(user(`Work. ${rules.join(' ')}`), assistant('Done.')).path();
  const parts = Array.from(
    { length: 12 },
    (_, i) => `${i + 1}. Part ${i}:\n  - cache_${i * 31} and broker_${i}. ${rules[i] ?? ''}`,
  );
  const made = extract({ nodes, previous: null, task: null, round: 1 });
  const summary = { ...made, prose: parts.join('\n') };
  for (const tokens of [150, 180, 210, 240]) {
    const text = fitSummaryText(summary, tokens, counter) ?? '';
    assert.deepEqual(
      rules.filter((rule) => !text.includes(rule.slice(0, -1))),
      [],
      text,
    );
  }
});
