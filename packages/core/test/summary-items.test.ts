import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import {
  chars4,
  EMPTY_SUMMARY,
  extract,
  fitSummary,
  renderSummary,
  type Item,
  type JsonObject,
} from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

function summaryOf(messages: readonly Message[], before: readonly Item[] = []): Summary {
  const nodes = thread(user('Work.'), ...messages).path();
  const previous = before.length === 0 ? null : { ...EMPTY_SUMMARY, items: before };
  return extract({ nodes, previous, task: 'Work.', round: 1 });
}

function items(messages: readonly Message[], before: readonly Item[] = []) {
  return summaryOf(messages, before).items.map(({ text, state }) => [text, state]);
}

function round(tool: string, args: JsonObject, output = 'ok'): readonly Message[] {
  const asked = call(tool, args);
  return [assistant(asked), result(asked, output)];
}

const BEFORE: readonly Item[] = [{ text: 'Old work', state: 'open', priority: 'medium' }];

test('C23 the newest list of a tool takes the place of all before it, also an empty one', () => {
  const todos = [{ content: 'Read the parser', status: 'pending' }];
  assert.deepEqual(items(round('TodoWrite', { todos }), BEFORE), [['Read the parser', 'open']]);
  const emptied = [...round('TodoWrite', { todos }), ...round('TodoWrite', { todos: [] })];
  assert.deepEqual(items(emptied, BEFORE), []);
  assert.deepEqual(items(round('Task', { description: 'Look', prompt: 'Look around' }), BEFORE), [
    ['Old work', 'open'],
  ]);
});

test('C23 tasks that are made and changed one by one are one list, named by their numbers', () => {
  const made = [
    ...round('TaskCreate', { subject: 'Read it', description: 'All of it' }, 'Task #1 created'),
    ...round('TaskCreate', { subject: 'Mend it' }, 'Task #2 created'),
    ...round('TaskCreate', { subject: 'Ship it' }, 'Task #3 created'),
    ...round('TaskUpdate', { taskId: '1', status: 'completed' }),
    ...round('TaskUpdate', { taskId: '2', status: 'in_progress', subject: 'Mend all of it' }),
    ...round('TaskUpdate', { taskId: '3', status: 'deleted' }),
  ];
  const list = [
    ['Read it (#1)', 'done'],
    ['Mend all of it (#2)', 'current'],
  ];
  assert.deepEqual(items(made), list);
  const { items: before, currentTask } = summaryOf(made);
  assert.equal(currentTask, 'Mend all of it (#2)');
  assert.deepEqual(items(round('TaskUpdate', { taskId: '2', status: 'completed' }), before), [
    ['Read it (#1)', 'done'],
    ['Mend all of it (#2)', 'done'],
  ]);
  const failed = call('TaskCreate', { subject: 'Never made' });
  const refused = [assistant(failed), result(failed, 'no', { outcome: 'failure' as const })];
  assert.deepEqual(items(refused), []);
});

test('a checklist in the arguments of a call is read', () => {
  const progress = { command: 'ls', task_progress: '- [x] Read it\n- [ ] Mend it' };
  assert.deepEqual(items(round('execute_command', progress), BEFORE), [
    ['Read it', 'done'],
    ['Mend it', 'open'],
  ]);
});

/** So many rounds in which the agent works and touches no list. */
function work(rounds: number): readonly Message[] {
  return Array.from({ length: rounds }, (_, i) =>
    round('bash', { command: `make part-${i}` }),
  ).flat();
}

const MADE = [
  ...round('TaskCreate', { subject: 'Read it' }, 'Task #1 created'),
  ...round('TaskCreate', { subject: 'Mend it' }, 'Task #2 created'),
  ...round('TaskCreate', { subject: 'Ship it' }, 'Task #3 created'),
  ...round('TaskUpdate', { taskId: '1', status: 'in_progress' }),
];

const begun = (id: string): readonly Message[] =>
  round('TaskUpdate', { taskId: id, status: 'in_progress' });
const done = (id: string): readonly Message[] =>
  round('TaskUpdate', { taskId: id, status: 'completed' });

test('C23 a list in a tool result is read: others change tasks too', () => {
  const listed = '#2 [in_progress] Mend it\n#1 [completed] Read it\n#3 [pending] Ship it';
  assert.deepEqual(items([...MADE, ...round('TaskList', {}, listed)]), [
    ['Read it (#1)', 'done'],
    ['Mend it (#2)', 'current'],
    ['Ship it (#3)', 'open'],
  ]);
  const one = 'Task #1: Read it\nStatus: completed\nDescription: all of it';
  assert.deepEqual(items([...MADE, ...round('TaskGet', { taskId: '1' }, one)])[0], [
    'Read it (#1)',
    'done',
  ]);
  const other = '#1 [completed] the first issue';
  assert.deepEqual(items([...MADE, ...round('list_issues', {}, other)])[0]?.[1], 'current');
});

test('C23 what was begun and overtaken by what was begun later and is done is no longer worked on', () => {
  const overtaken = [...MADE, ...begun('2'), ...done('2'), ...begun('3'), ...done('3')];
  const { items: list, currentTask } = summaryOf([
    ...overtaken,
    assistant('Let me look at the log.'),
  ]);
  assert.deepEqual([list[0]?.text, list[0]?.state, currentTask], ['Read it (#1)', 'open', null]);
  const beside = [...MADE, ...begun('2'), ...begun('3'), ...done('2')];
  assert.equal(summaryOf(beside).currentTask, 'Ship it (#3)');
});

test('C23 an item that was begun long before the present turn is open, not worked on; in one long turn it is', () => {
  const list = { todos: [{ content: 'Read the parser', status: 'in_progress' }] };
  const listed = round('TodoWrite', list);
  assert.deepEqual(items([...listed, ...work(60)]), [['Read the parser', 'current']]);
  assert.deepEqual(items([...listed, ...work(5), user('Go on.'), ...work(5)]), [
    ['Read the parser', 'current'],
  ]);
  assert.deepEqual(items([...listed, ...work(30), user('Now the docs.'), ...work(30)]), [
    ['Read the parser', 'open'],
  ]);
  const { items: before } = summaryOf([...listed, ...work(30)]);
  const later = thread(user('Work.'), ...listed, ...work(30), user('Now the docs.'), ...work(30));
  const nodes = later.path().slice(1 + listed.length + 60);
  const previous = { ...EMPTY_SUMMARY, items: before };
  const { items: now } = extract({ nodes, previous, task: 'Work.', round: 2 });
  const item = { text: 'Read the parser', state: 'open', priority: 'medium', at: 1, statedAt: 1 };
  assert.deepEqual(now, [item]);
});

const put = (text: string): readonly Message[] =>
  round('edit', { file_path: '/repo/rows.go', old_string: 'x', new_string: text }, 'edited');

const rowList = (status: string): readonly Message[] =>
  round('TodoWrite', {
    todos: [
      { content: 'Write readRows', status },
      { content: 'Write dropRows', status: 'pending' },
    ],
  });

const itemLines = (messages: readonly Message[]): readonly string[] =>
  renderSummary(summaryOf(messages))
    .split('\n')
    .filter((line) => /^- \[.\]/.test(line));

test('an open item names the edits since that put its names into a file, a finished one does not', () => {
  const edited = [...rowList('pending'), ...put('func readRows() {}'), ...put('func other() {}')];
  assert.deepEqual(itemLines(edited), [
    '- [ ] Write readRows (edits for this since: m4)',
    '- [ ] Write dropRows',
  ]);
  assert.deepEqual(itemLines([...edited, ...rowList('completed')]), [
    '- [x] Write readRows',
    '- [ ] Write dropRows',
  ]);
  const { items: before } = summaryOf(edited);
  const later = thread(user('Work.'), ...edited, ...put('readRows()')).path();
  const previous = { ...EMPTY_SUMMARY, items: before };
  const { items: now } = extract({ nodes: later.slice(7), previous, task: 'Work.', round: 2 });
  assert.deepEqual(now[0]?.editedAt, [3, 7]);
});

test('a list that was finished before the last request is not shown, a newer one is', () => {
  const finished = round('TodoWrite', { todos: [{ content: 'Write it', status: 'completed' }] });
  const built = round('bash', { command: 'make' }, 'built');
  const request = user('Now rename it.');
  assert.deepEqual(itemLines([...finished, ...built]), ['- [x] Write it']);
  assert.deepEqual(itemLines([...finished, request, ...built]), []);
  assert.deepEqual(itemLines([request, ...built, ...finished]), ['- [x] Write it']);
});

const listed = (content: string, status: string): readonly Message[] =>
  round('TodoWrite', { todos: [{ content, status }] });
const ran = (command: string, output: string): readonly Message[] =>
  round('bash', { command }, output);
const line = (...messages: readonly (readonly Message[])[]): string | undefined =>
  itemLines(messages.flat())[0];

test('an item that asks for checks says how they ended since, if the list says otherwise', () => {
  const [passed, failed] = [ran('npm test', '9 tests passed'), ran('npm test', '2 tests failed')];
  const linted = ran('npm run lint', '0 issues');
  const open = listed('Run tests and lint', 'in_progress');
  assert.equal(line(open, passed), '- [>] Run tests and lint');
  assert.equal(line(open, passed, linted), '- [x] Run tests and lint (passed: m4, m6)');
  assert.equal(line(passed, linted, open), '- [>] Run tests and lint');
  assert.equal(line(open, linted, failed), '- [>] Run tests and lint');
  const finished = listed('Run tests and lint', 'completed');
  assert.equal(line(failed, finished), '- [x] Run tests and lint (but the last run failed, m2)');
  assert.equal(line(failed, passed, finished), '- [x] Run tests and lint');
  const fixing = listed('Fix the page and run tests and lint', 'in_progress');
  assert.equal(line(fixing, passed, linted), '- [>] Fix the page and run tests and lint');
  const written = listed('Write tests for the parser', 'completed');
  assert.equal(line(failed, written), '- [x] Write tests for the parser');
});

test('a short task list is shown whole in a short summary', () => {
  const todos = ['Read it', 'Change the header', 'Change the footer', 'Change the page'].map(
    (content) => ({ content: `${content} of the printer`, status: 'completed' }),
  );
  const nodes = thread(user('Work.'), ...round('TodoWrite', { todos })).path();
  const made = extract({ nodes, previous: null, task: 'Work.', round: 1, maxTokens: 250 });
  const shown = fitSummary(made, 250, chars4()) ?? '';
  assert.equal(shown.split('\n').filter((one) => one.startsWith('- [x] ')).length, 4, shown);
});
