import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { chars4, extract, fitSummaryText } from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

const counter = chars4();

function run(command: string, output: string): readonly Message[] {
  const asked = call('bash', { command });
  return [assistant(asked), result(asked, output)];
}

/** The text of an account about some messages, in so many tokens. */
function shown(prose: string, messages: readonly Message[], maxTokens = 2_000): string {
  const nodes = thread(user('Work.'), ...messages).path();
  const extracted = extract({ nodes, previous: null, task: null, round: 1, counter, kept: [] });
  return fitSummaryText({ ...extracted, prose }, maxTokens, counter) ?? '';
}

test('beside an account only checks that say how they ended are shown', () => {
  const text = shown('The agent measured plan_7 and wrote a note about it.', [
    ...run('make test', '12 passed'),
    ...run('sh /tmp/load-test/a.sh', 'total 560'),
    ...run('eslint-lint linters', 'tagalign: aligns tags'),
    ...run('git check-ignore docs', '.gitignore:52:docs'),
  ]);
  assert.match(text, /\n## Commands\n- \[m2\] make test\n· 12 passed(?:\n\n|$)/);
  assert.doesNotMatch(text, /^- \[m\d+\] (?:sh |eslint-lint|git check-ignore)/m);
});

for (const command of [
  'node_modules/.bin/vitest run',
  'venv/bin/pytest -q',
  './scripts/check.sh',
  'bash -lc "cargo test"',
  'mise run test:ci',
])
  test(`a check by any name is one: ${command}`, () => {
    const text = shown('The agent measured plan_7 and wrote a note.', run(command, '12 passed'));
    assert.ok(text.includes(`\n## Commands\n- [m2] ${command}\n· 12 passed`), text);
  });

test('a folder that is named after tests makes no check of a command', () => {
  const text = shown('The agent measured plan_7 and wrote a note.', [
    ...run('DIR=/tmp/load-test sh a.sh', '3 issues'),
    ...run('node tests/../run.js', '3 issues'),
  ]);
  assert.doesNotMatch(text, /## Commands/);
});

test('commits older than one that the account names are not shown', () => {
  const text = shown('The fix is commit 2222222.', [
    ...run('git commit -m one', '[main 1111111] first try'),
    ...run('git commit -m two', '[main 2222222] second try'),
    ...run('git commit -m three', '[main 3333333] after it'),
  ]);
  assert.deepEqual(text.match(/\b(?:1111111|2222222|3333333)\b/g), ['2222222', '3333333']);
});

test('entries that an account lost to its size leave a mark', () => {
  const items = Array.from({ length: 12 }, (_, i) => `- item_${i} needs queue_${i * 31}`);
  const prose = ['1. Items:', ...items, '2. Pending Tasks:', '- release item_3'].join('\n');
  const text = shown(prose, [], 70);
  assert.match(text, /\n…\n/);
  assert.match(text, /2\. Pending Tasks:\n- release item_3/);
  assert.doesNotMatch(shown(prose, [], 500), /…/);
});

test('an analysis that is shown in part says so', () => {
  const steps = Array.from({ length: 12 }, (_, i) => `${i + 1}. Step ${i} changed module_${i}.`);
  const prose = `The parser is done.\n\nAnalysis:\n${steps.join('\n')}`;
  assert.match(shown(prose, []), /\n## Chronology\n1\. Step 0 /);
  assert.match(shown(prose, [], 80), /\n## Chronology \(in part\)\n- Step \d+ /);
});

const taskText = (task: string, prose: string | null): string => {
  const nodes = thread(user(task), assistant('Done.')).path();
  const extracted = extract({ nodes, previous: null, task, round: 1, counter, kept: [] });
  return fitSummaryText({ ...extracted, prose }, 2_000, counter) ?? '';
};

for (const prose of [null, 'Something else was done.'])
  test(`what a harness adds to a plan is not shown as the task, ${prose === null ? 'without' : 'beside'} an account`, () => {
    const added =
      'If you need specific details from before exiting plan mode, read it at: /x.jsonl';
    assert.doesNotMatch(taskText(`Print tables.\n\n\n${added}`, prose), /plan mode/);
    const own = 'Read the full transcript at docs/meeting.txt and list every decision.';
    assert.ok(taskText(own, prose).includes(own));
  });

const section = (name: string): readonly string[] => [
  `**${name}**`,
  `- ${name}_1 of queue_${name.length * 31} and shard_${name.length * 977}`,
];

test('a section that an account lost to its size leaves a mark', () => {
  const prose = [...section('One'), ...section('Three'), '**Pending Tasks**', '- release'].join(
    '\n',
  );
  assert.match(shown(prose, [], 36), /shard_2931\n…\n\*\*Pending Tasks\*\*\n- release(?:\n|$)/);
});

test('a long entry that goes leaves its space to short ones', () => {
  const short = ['- again the same words', '- words the same again', '- same again the words'];
  const long = `- ${'the same words again and '.repeat(9)}shard_977`;
  const notes = ['1. Notes:', '- the same words again', ...short, long, '- queue_31 is empty'];
  const text = shown(notes.join('\n'), [], 80);
  assert.ok(text.includes([...notes.slice(0, 5), '…', notes.at(-1)].join('\n')), text);
});
