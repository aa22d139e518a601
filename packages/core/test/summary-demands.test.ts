import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { extract, type Fact, type Node } from '@bobbin/core/internal';
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
    'I would only want e2e tests for the session.',
    'Keep the old code around for reference.',
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

/** What binds however it is said: after a yes, as a general rule, as a wish or a question. */
const RULES = [
  'Yes, but from now on leave src/billing alone, Mara is on it.',
  "Ok, and please don't rename the public types.",
  'Sure, but never force-push.',
  'Yes but dont touch the lock file.',
  'Fine, and from now on run the linter before every commit.',
  "no don't add a flag for that",
  'All comments should be in English.',
  'Every endpoint has to return JSON.',
  'Each module needs to have its own test file.',
  'New tables should stay in the reporting schema.',
  'We deploy on Fridays only.',
  'We only merge with two approvals.',
  'We never commit generated code.',
  'Because of the auditors, we always squash, and we never rebase main.',
  'Use snake_case for new columns.',
  'Use tabs for indentation.',
  'Please use the American spelling.',
  'Use single quotes.',
  'I want all dates in ISO 8601.',
  'I want every handler to be idempotent.',
  "I'd like all errors to use the AppError class.",
  'I want the importer to not write to disk.',
  'I want no new dependencies.',
  'can you not use lodash?',
  'Could you please never log the token?',
  'Would you mind not touching the fixtures?',
  'Please leave the fixtures alone, ok?',
  'It would be great if you could avoid adding dependencies.',
  "I'd appreciate it if you didn't reformat files.",
  'Try not to break the public API.',
  'Without asking me, nothing gets deleted.',
  'Nothing is released without a changelog entry.',
  'Nobody but me may push tags.',
  "Let's not touch the parser.",
  "Let's keep it simple for now.",
  'Keep in mind that the staging database is shared.',
  'Remember to bump the version.',
  'Treat /vendor as read-only.',
  'The production bucket is read-only.',
  'Whenever you change the schema, regenerate the client.',
  'Make a commit after each step.',
  'Postgres, not MySQL.',
  'Commit messages in English please.',
  'The port has to stay 7443.',
  "You're not allowed to use the network.",
  'Keep each commit buildable.',
  'Only stop if you need my input.',
];

const RULES_IN_OTHER_LANGUAGES = [
  'Bitte ändere module_77 nie.',
  'Benutze immer pnpm.',
  'Keine neuen Abhängigkeiten.',
  'Ab jetzt nur noch TypeScript.',
  'Die Datei config.yml darf nicht geändert werden.',
  'Alle Kommentare sollen auf Englisch sein.',
  'Ohne Rückfrage wird nichts gelöscht.',
  'Das bitte nicht anfassen.',
  'Ne touche jamais à la base de production.',
  'Il faut toujours lancer les tests.',
  'Nunca borres la carpeta de datos.',
  'No toques el esquema.',
  'Não altere o arquivo de configuração.',
  'Non modificare mai lo schema.',
  'Gebruik geen any, nooit rechtstreeks pushen, altijd testen.',
  'Nigdy nie zmieniaj migracji.',
  'Никогда не удаляй данные.',
  '不要修改数据库。',
  '必ずテストを書いてください。',
  '절대 main에 푸시하지 마세요.',
];

/** Requests, reports and questions that use the words of rules. */
const NO_RULES = [
  'use the second option',
  'Use the second approach for this one.',
  'can you check all files?',
  'can you run all tests and tell me which fail',
  'Can you not reproduce it?',
  'can we not just read it from the config?',
  'All tests should pass now.',
  'All of these should be fixed.',
  'all good, continue',
  'each of the three should get its own commit',
  'every test is red again',
  'We always get this error on Mondays.',
  'We only have three tests for it.',
  'I think we only do this in interactive mode.',
  'so can we only do the first one',
  'Yes, but why does it fail?',
  'Yes, do it.',
  'Ok, and now the second one.',
  "no, that's not it",
  "No, it doesn't work yet.",
  'I want to see all flights to Boston.',
  'I want all the logs of yesterday',
  'I want to make sure I get my refund.',
  'I need every detail about the order.',
  'Nothing happens when I click it.',
  'Nothing gets logged.',
  'nobody knows',
  'If nothing fits, show me the cheapest one.',
  'remember when we looked at the parser',
  'The flight is on Friday only once.',
  'It keeps failing with the same error.',
  "I'm trying to save time, not add work.",
  'Sorry, not sure.',
  'This one, not the other?',
  'it would be great if you could look at the logs',
  'use it for the tests',
  'Use the file for the tests.',
  'Es funktioniert nie.',
  'Keine Ahnung, warum.',
  'Keine Fehler gefunden.',
  'Immer noch rot.',
  'Der Test läuft nicht.',
  'Kannst du alle Dateien prüfen?',
  'Ça ne marche toujours pas.',
  'Esto no funciona.',
  'Questo non funziona.',
  'Это не работает.',
  '为什么不行？',
  'テストが失敗しました。',
];

test('C23 a rule is one after a yes, for all of a kind, as a wish, as a question and in other languages', () => {
  for (const said of [...RULES, ...RULES_IN_OTHER_LANGUAGES])
    assert.deepEqual([said, texts(said)], [said, [said]]);
});

test('C23 what asks for one thing, reports or wonders is no rule', () => {
  for (const said of NO_RULES) assert.deepEqual([said, texts(said)], [said, []]);
});

test('C23 a sentence is read from its beginning: a letter or a number with a point ends none', () => {
  assert.deepEqual(texts('A. is fine, ensure we log'), ['A. is fine, ensure we log']);
  assert.deepEqual(texts('2. is fine, ensure we log'), ['2. is fine, ensure we log']);
  assert.deepEqual(texts('Take plan B. Never push to main.'), ['Never push to main.']);
  assert.deepEqual(texts('可以。不要修改数据库。谢谢。'), ['不要修改数据库。']);
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

test('C23 what was pasted is no demand: code, host blocks, demonstrations, skills, documents', () => {
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
    texts(
      'Invoke the team:plans skill and follow it exactly\n\nARGUMENTS: never commit a broken state',
    ),
    ['never commit a broken state'],
  );
  assert.deepEqual(
    texts(`Do this plan, but never touch prod:\n\n${headed}\n## Constraints\n- Never use npm`),
    ['Do this plan, but never touch prod:', 'Never use npm'],
  );
});

test('C23 lines of a log are no demand, and demands on the present work end with it', () => {
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
