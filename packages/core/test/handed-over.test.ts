import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf, type Message, type Summary } from '@bobbin/core';
import {
  chars4,
  extract,
  fitSummary,
  messagesOnly,
  renderSummary,
  singlePrompt,
} from '@bobbin/core/internal';
import { assistant, call, result, round, thread, user, WatchedThread } from '@bobbin/testing';

const ACCOUNT = [
  'This session is being continued from a previous conversation that ran out of context.',
  '',
  'Analysis:',
  'Let me look at the conversation: the user wants a wider table.',
  '',
  'Summary:',
  '1. Primary Request and Intent:',
  '   The user wants the table as wide as the window; never wrap a cell.',
  '',
  '2. Files and Code Sections:',
  '   - src/table.ts: measures the columns',
  '   ```ts',
  '   const widths = measure(table);',
  '   ```',
  '   - src/printer.ts: prints them',
  '   - src/queue.ts: not looked at',
  '',
  '3. All user messages:',
  '   - "never print a page twice, please"',
  '   - No explicit rule was given: never mind the margins.',
  '',
  '4. Pending Tasks:',
  '   - Widen the printer',
  '',
  '5. Current Work:',
  '   Widening the table.',
  '',
  'Please continue the conversation from where we left it off.',
].join('\n');

const edit = (path: string): readonly Message[] => {
  const asked = call('Edit', { file_path: path, old_string: 'a', new_string: 'b' });
  return [assistant(asked), result(asked, 'ok')];
};

function summary(): Summary {
  const nodes = thread(
    user(ACCOUNT),
    ...edit('/repo/src/table.ts'),
    ...edit('/repo/src/printer.ts'),
    assistant('Both are wide now.'),
  ).path();
  return extract({ nodes, previous: null, task: ACCOUNT, round: 1 });
}

test('what an earlier session handed over is shown as that, without its scaffolding and what was open then', () => {
  const text = renderSummary(summary());
  const section = /## Handed Over by an Earlier Session, as It Was Then\n([^]*?)\n\n## /.exec(
    text,
  )?.[1];
  assert.equal(
    section,
    [
      '1. Primary Request and Intent:',
      '  The user wants the table as wide as the window; never wrap a cell.',
      '',
      '2. Files and Code Sections:',
      '  - src/table.ts: measures the columns',
      '  - src/printer.ts: prints them',
      '  - src/queue.ts: not looked at',
      '',
      '3. All user messages:',
      '  - "never print a page twice, please"',
      '  - No explicit rule was given: never mind the margins.',
    ].join('\n'),
  );
  assert.deepEqual(
    summary().facts.map((fact) => fact.text),
    ['never print a page twice, please'],
  );
  assert.doesNotMatch(text, /Named in the task|Let me look at the conversation|Please continue/);
});

test('what was handed over is cut by its parts, not in the middle', () => {
  const long = ACCOUNT.replace(
    '   - src/queue.ts: not looked at',
    Array.from({ length: 60 }, (_, i) => `   - src/part_${i}.ts: has the cache number ${i}`).join(
      '\n',
    ),
  );
  const nodes = thread(user(long), assistant('Done so far.')).path();
  const made = extract({ nodes, previous: null, task: long, round: 1 });
  const text = fitSummary(made, 500, chars4()) ?? '';
  assert.match(text, /The user wants the table as wide as the window; never wrap a cell\.\n/);
  assert.doesNotMatch(text, /characters left out/);
  assert.match(text, /\n…\n/);
});

const rendered = (given: string): string => {
  const nodes = thread(user(given), assistant('Done so far.')).path();
  return renderSummary(extract({ nodes, previous: null, task: given, round: 1 }));
};

test('a block of code that does not end hides no later section, and open work alone is shown', () => {
  const open = ACCOUNT.replace('   ```\n   - src/printer', '   - src/printer');
  assert.notEqual(open, ACCOUNT);
  assert.match(rendered(open), /\n {0,8}3\. All user messages:\n/);
  const only =
    'This session is being continued from a previous conversation.\n\n1. Pending Tasks:\n   - Widen it.';
  assert.match(rendered(only), /as It Was Then\n1\. Pending Tasks:\n {2}- Widen it\.\n/);
});

test('a quotation in a quotation is one rule, and only lists and typographic marks quote', () => {
  const said = [
    'This session is being continued from a previous conversation.',
    '- "never use "any" in the code"',
    'The 12" screen: never shrink it. The user said “always use serif fonts”.',
  ].join('\n');
  const nodes = thread(user(said)).path();
  const { facts } = extract({ nodes, previous: null, task: said, round: 1 });
  assert.deepEqual(
    facts.map(({ text }) => text),
    ['never use "any" in the code', 'always use serif fonts'],
  );
});

/** What a prompt of so many tokens shows of a long hand-over that the agent works on. */
async function shownOf(rounds: number, tokens = 500): Promise<string> {
  const watched = await WatchedThread.open({
    budget: messagesOnly(tokens),
    preset: singlePrompt,
    onEvent: () => undefined,
  });
  const concepts = Array.from({ length: 30 }, (_, i) => `   - Cell ${i} of the table is padded.`);
  const [before = '', after = ''] = ACCOUNT.split('2. Files');
  const done = Array.from({ length: 9 }, (_, i) => `   Column ${i} is as wide as it can be now.`);
  const long = `${before}2. Key Concepts:\n${concepts.join('\n')}\n\n2. Files${after}`.replace(
    'Widening the table.',
    `Widening the table.\n${done.join('\n')}`,
  );
  await watched.append(user(long));
  for (let i = 0; i < rounds; i++)
    await watched.append(...round('read', { path: `/repo/src/${i}.ts` }, `const a${i} = 1;`));
  const { prompt } = await watched.prompt();
  const [first] = prompt.messages;
  return first === undefined ? '' : textOf(first.message);
}

test('of a long hand-over the goal, what is open and the user’s words are shown first, the analysis never', async () => {
  const shown = await shownOf(3);
  assert.match(shown, /excerpt of/);
  for (const line of [
    'This session is being continued from a previous conversation that ran out of context.',
    '   The user wants the table as wide as the window; never wrap a cell.',
    '   - "never print a page twice, please"',
    '   - Widen the printer',
    '   Widening the table.',
  ])
    assert.ok(shown.split('\n').includes(line), shown);
  assert.doesNotMatch(shown, /Let me look at the conversation|Please continue/);
});

test('long after a hand-over, what was open then comes last', async () => {
  const shown = await shownOf(15);
  assert.match(shown, /Cell 0 of the table is padded/);
  assert.doesNotMatch(shown, /Widening the table/);
});
