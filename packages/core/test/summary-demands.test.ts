import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extract, type Fact, type Message, type Node } from '@bobbin/core';
import { assistant, system, thread, user } from '@bobbin/testing';

function facts(...messages: readonly Message[]): readonly Fact[] {
  return factsOf(thread(...messages).path());
}

function factsOf(nodes: readonly Node[], kept: readonly { node: Node; shown: Message }[] = []) {
  return extract({ nodes, kept, previous: null, task: null, round: 1 }).facts;
}

const texts = (said: string): readonly string[] => facts(user(said)).map(({ text }) => text);
const kinds = (said: string): readonly string[] => facts(user(said)).map(({ kind }) => kind);

test('C23 a demand is one however it is written: bullets, headings, semicolons, wrapped and long lines', () => {
  assert.deepEqual(
    texts('* Never push to main\n# Never commit secrets\nNever touch prod;\n- [ ] Always run it'),
    ['Never push to main', 'Never commit secrets', 'Never touch prod;', 'Always run it'],
  );
  const words = 'the parser reads on '.repeat(300);
  assert.deepEqual(texts(`${words}. Never push to main. ${words}`), ['Never push to main.']);
  assert.deepEqual(
    texts('Whatever else you find out while you are at it, never\npush to the main branch.'),
    ['Whatever else you find out while you are at it, never push to the main branch.'],
  );
  const [long = ''] = texts(
    `Never push to main, because ${'it breaks things and '.repeat(40)}so on.`,
  );
  assert.ok(long.startsWith('Never push to main, because') && long.length <= 400);
});

test('C23 budgets, versions, limits, choices, prohibitions, permissions and preferences are kept, by kind', () => {
  const constraints = [
    'Use Node 20 and Python 3.9.',
    'No new dependencies.',
    'Keep it under 200 lines.',
    'Only use "uv".',
    'You must use `pnpm`.',
    'Use at most 500 MB of memory.',
    'Only the file /repo/src/a.ts may be changed.',
    'Please don’t touch the migrations.',
    'Leave /repo/vendor alone.',
    'Ask me before you delete anything.',
    'The folder /repo/legal is off limits.',
    'You may push to main now.',
    "I don't want any new files.",
    'Fix it without changing the exports.',
    'All tests must pass on Windows.',
    'Generated files should not be edited.',
    'Stick to the standard library.',
    'From now on write a test first.',
    'Use pnpm instead of npm.',
  ];
  for (const said of constraints)
    assert.deepEqual([said, texts(said), kinds(said)], [said, [said], ['constraint']]);
  const values = [
    'The budget is $500.',
    'My budget for this is 800 EUR.',
    'The deadline is Friday.',
    'We are on Python 3.9.',
    'The port is 5432.',
  ];
  for (const said of values)
    assert.deepEqual([said, texts(said), kinds(said)], [said, [said], ['value']]);
  for (const said of ['I’d prefer tabs.', 'Prefer small functions.', 'Answer in German.'])
    assert.deepEqual([said, texts(said), kinds(said)], [said, [said], ['preference']]);
});

test('C23 what a person says of themselves or of the world is no demand', () => {
  const said = [
    "I don't remember the reservation ID, sorry.",
    'I don’t have the reservation ID handy right now.',
    "i don't tink the component invalidate works correctly.",
    'newline and only displays the first line.',
    'There must be some kind of error in the system.',
    'I must have left it somewhere else.',
    'Currently HandleTurnEnd always returns nil.',
    'The reader is opened in each iteration but never closes.',
    "I'll make sure to have that ready next time.",
    'Must it be Node 20?',
    'If you can’t do that, I’d like to speak to a supervisor.',
    'No tests were found.',
    'No problem.',
    'It failed at least 3 times.',
    '149 // nil auth should not panic.',
    `1463: msg = 'The precision must be {} or "{}".'.format(`,
    '> You must never do that',
  ];
  for (const one of said) assert.deepEqual(texts(one), [], one);
});

test('C23 what was pasted is nobody’s demand: code, host blocks, demonstrations, skills, documents', () => {
  const filler = 'Some words about how this is done in general, at some length. '.repeat(30);
  assert.deepEqual(texts('Look:\n```\nNever push to main.\n```\nNever touch prod.'), [
    'Never touch prod.',
  ]);
  assert.deepEqual(
    texts('<system-reminder>\nYou must use the skill.\n</system-reminder>\nNever touch prod.'),
    ['Never touch prod.'],
  );
  assert.deepEqual(texts('<user_instructions>\nNever touch prod.\n</user_instructions>'), [
    'Never touch prod.',
  ]);
  assert.deepEqual(
    texts(`Here is a demonstration of how to do this.\nYou must always wait.\n${filler}`),
    [],
  );
  const headed = `# One\n${filler}\nAlways do one thing.\n## Two\nNever do two.\n## Three\n${filler}`;
  assert.deepEqual(texts(`Base directory for this skill: /skills/a\n\n${headed}`), []);
  assert.deepEqual(
    texts(`Do this plan, but never touch prod:\n\n${headed}\n## Constraints\n- Never use npm`),
    ['Do this plan, but never touch prod:', 'Never use npm'],
  );
});

test('C23 lines of a log are nobody’s demand, and what is wanted of the work at hand binds no longer', () => {
  const log = [
    'where is the memory here:',
    '',
    '[git-sync] bootstrap of kubernetes, timeout: 30 s',
    'CREATE refs/heads/release-1.9 - create refs/heads/release-1.9 at b5ec061c',
    'CREATE refs/heads/respect-timeout-context - create refs/heads/respect-timeout-context at 98a2f22e',
    'summary: pushed=61 deleted=0 limit=5 must=never relay-mode=bootstrap',
    '2026-04-10T17:07:47 you must not see this',
  ];
  assert.deepEqual(texts(log.join('\n')), []);
  assert.deepEqual(texts('see refs/heads/respect-timeout-context at 98a2f22e'), []);
  assert.deepEqual(texts('make sure toolText is also used.'), []);
  assert.deepEqual(texts('The timeout is 30 s. Make sure nothing breaks.'), [
    'The timeout is 30 s.',
    'Make sure nothing breaks.',
  ]);
});

test('C23 no demand of an older message is lost for newer ones; of a very long list both ends are kept', () => {
  const rounds = Array.from({ length: 100 }, (_, i) => [
    user(`Never touch /repo/part-${i}.`),
    assistant('Good.'),
  ]).flat();
  assert.equal(facts(...rounds).length, 100);
  const list = Array.from({ length: 60 }, (_, i) => `- Never touch /repo/part-${i}`);
  const kept = texts(list.join('\n'));
  assert.equal(kept.length, 16);
  assert.deepEqual(
    [kept[0], kept.at(-1)],
    ['Never touch /repo/part-0', 'Never touch /repo/part-59'],
  );
});

test('C23 a system message that is summarised or shown in part keeps its demands', () => {
  const said = system('You are a clerk. Never transfer a caller. The weather is fine.');
  const demand: Fact = {
    kind: 'constraint',
    text: 'Never transfer a caller.',
    by: 'system',
    turn: 0,
  };
  assert.deepEqual(facts(said, user('Hello.')), [demand]);
  const [node] = thread(said).path();
  assert.ok(node !== undefined);
  const nodes = thread(user('Hello.')).path();
  assert.deepEqual(factsOf(nodes, [{ node, shown: system('You are a clerk. […]') }]), [demand]);
  assert.deepEqual(factsOf(nodes, [{ node, shown: node.message }]), []);
});
