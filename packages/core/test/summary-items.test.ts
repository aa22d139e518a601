import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  EMPTY_SUMMARY,
  extract,
  type Item,
  type JsonObject,
  type Message,
  type Summary,
} from '@bobbin/core';
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

test('C23 checklists are read: of the agent, of the user, and in the arguments of a call', () => {
  const first = assistant(
    'The plan:\n- [x] Read the parser\n- [ ] Mend the parser\n1. [ ] Ship it',
  );
  assert.deepEqual(items([first], BEFORE), [
    ['Old work', 'open'],
    ['Read the parser', 'done'],
    ['Mend the parser', 'open'],
    ['Ship it', 'open'],
  ]);
  const second = assistant('Now:\n- [x] Mend the parser\n- [>] Ship it');
  assert.deepEqual(items([first, second]), [
    ['Mend the parser', 'done'],
    ['Ship it', 'current'],
  ]);
  assert.deepEqual(items([user('* [ ] Read it\n* [ ] Mend it')]), [
    ['Read it', 'open'],
    ['Mend it', 'open'],
  ]);
  const progress = { command: 'ls', task_progress: '- [x] Read it\n- [ ] Mend it' };
  assert.deepEqual(items(round('execute_command', progress), BEFORE), [
    ['Read it', 'done'],
    ['Mend it', 'open'],
  ]);
});

test('C23 boxes that are no list are nothing to do: one alone, and what a template has people affirm', () => {
  assert.deepEqual(items([assistant('See:\n- [ ] one box')]), []);
  assert.deepEqual(items([user('- [x] I have searched\n- [x] I use the newest version')]), []);
});
