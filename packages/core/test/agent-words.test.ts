import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { chars4, EMPTY_SUMMARY, extract, fitSummary } from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

const counter = chars4();

function text(messages: readonly Message[], maxTokens = 2_000): string {
  const nodes = thread(...messages).path();
  const summary = extract({ nodes, previous: null, task: null, round: 1, maxTokens, counter });
  return fitSummary(summary, maxTokens, counter) ?? '';
}

function round(tool: string, args: Record<string, unknown>, output: string): readonly Message[] {
  const asked = call(tool, args as never);
  return [assistant(asked), result(asked, output)];
}

test('a short announcement is shown with the sentence before it', () => {
  const shown = text([
    user('Cache the cells.'),
    assistant('The cache has no limit. Let me add one:', call('bash', { command: 'ls' })),
  ]);
  assert.match(shown, /^- In progress: The cache has no limit\. Let me add one\.$/m);
});

test('what was called and answered since the last announcement is said with it', () => {
  const edit = call('edit', { path: 'src/cells.ts' });
  const last = call('bash', { command: 'npm test' });
  const shown = text([
    user('Cache the cells.'),
    assistant('Now let me add a limit to the cache of the cells:', edit),
    result(edit, 'edited'),
    assistant(last),
  ]);
  assert.match(
    shown,
    /^- In progress: Now let me add a limit to the cache of the cells\. \(since then: edit src\/cells\.ts\)$/m,
  );
});

const sinceThen = (output: string): string | undefined =>
  /since then: (.*)\)$/m.exec(
    text([
      user('Cache the cells.'),
      assistant('The cache has a limit now. Let me run the tests:'),
      ...round('bash', { command: 'npm test' }, output),
    ]),
  )?.[1];

test('the state says how a check ended that was called since the last announcement', () => {
  assert.equal(sinceThen('9 tests passed'), 'bash npm test → passed');
  assert.equal(sinceThen('2 tests failed\nexit code 1'), 'bash npm test → failed');
  assert.equal(sinceThen('started'), 'bash npm test');
});

test('of a turn that the user broke off, the longest text is shown as its report', () => {
  const found = 'The editor writes 73 lines of settings, and they count as work of the user. ';
  const edit = call('edit', { path: 'src/count.ts' });
  const steps = Array.from({ length: 30 }, (_, i) => [
    assistant(`The table \`records_${i}\` has ${i + 3}000 rows, because nobody empties it.`),
    ...round('read', { path: `src/${i}.ts` }, LINES),
  ]).flat();
  const shown = text(
    [
      user('Why is the number so high?'),
      assistant(`Two reasons. ${found.repeat(5)}`, edit),
      result(edit, 'edited'),
      ...steps,
      user('No, revert those changes.'),
      assistant('You are right.'),
    ],
    400,
  );
  assert.match(shown, /\[m2\] Agent: Two reasons\./);
});

const LINES = Array.from({ length: 40 }, (_, i) => `const recordOf${i} = openTable(${i});`).join(
  '\n',
);

test('a task that is too long is cut between sentences', () => {
  const task = Array.from(
    { length: 200 },
    (_, i) => `Part ${i} of the importer must keep the dates as text.`,
  ).join(' ');
  const shown = fitSummary({ ...EMPTY_SUMMARY, task }, 600, counter) ?? '';
  const [, head = '', tail = ''] =
    /## Original Task\n(.*)\n\[… \d+ characters left out …\]\n(.*)/.exec(shown) ?? [];
  for (const part of [head, tail]) assert.match(part, /^Part \d.* as text\.$/);
  assert.ok(task.startsWith(head) && task.endsWith(tail));
});
