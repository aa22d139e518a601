import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryArtifacts, type Message } from '@bobbin/core';
import { pi, readArtifactTool, recallTool, timeline } from '@bobbin/core/internal';
import { assistant, call, result, user, WatchedThread, withMeta } from '@bobbin/testing';

const search = call('grep', { pattern: 'tokenize' }, 'c1');
const read = call('read', { path: 'a.ts' }, 'c2');
const paid = call('pay', { amount: 7 }, 'c3');
const CONVERSATION: readonly Message[] = [
  user('Fix the tokenizer.'),
  assistant('I search.', search),
  result(search, 'src/a.ts:12: tokenize()\n\nsrc/b.ts:3: tokenize()'),
  assistant('I read.', read),
  result(read, 'no such file', { outcome: 'failure' }),
  assistant('It is not there.'),
  user('Then write it.'),
  assistant('I pay.', paid),
  result(paid, 'receipt 4711'),
  assistant('Written. '.repeat(400)),
  user('Thanks.'),
];
const OPTIONS = {
  window: 8_000,
  preset: pi({ keepRecentTokens: 20 }),
  tools: { pay: { durability: 'non-replayable' } },
} as const;

test('E9 E14 a digest names all that a summary replaces, and each path reads it back', async () => {
  const artifacts = memoryArtifacts();
  const watched = await WatchedThread.open({ ...OPTIONS, artifacts });
  assert.equal(await watched.handle.digest(), undefined);
  const ids = await watched.append(...CONVERSATION);
  await watched.compact();
  const digest = await watched.handle.digest();
  const at = (index: number): string => `message:${index}-${ids[index]}`;
  const [artifact] = digest?.artifacts ?? [];
  assert.deepEqual(digest, {
    path: `summary:${watched.handle.key.thread}/1`,
    turns: [
      { turn: 1, path: at(0) },
      { turn: 2, path: at(6) },
    ],
    splitTurn: null,
    artifacts: [{ path: artifact?.path, description: 'pay({"amount":7}): 1 lines' }],
    toolOutputs: {
      grep: [{ path: at(2), call: '{"pattern":"tokenize"}' }],
      read: [{ path: at(4), call: '{"path":"a.ts"}', outcome: 'failure' }],
      pay: [{ path: at(8), call: '{"amount":7}' }],
    },
    searches: [
      {
        path: at(2),
        query: '{"pattern":"tokenize"}',
        hits: ['src/a.ts:12: tokenize()', 'src/b.ts:3: tokenize()'],
      },
    ],
    hidden: [],
  });
  const { key } = watched.handle;
  const memory = { store: watched.store, artifacts };
  assert.match(await recallTool.answer(memory, key, { message: at(4) }), /no such file/);
  const stored = await readArtifactTool.answer(memory, key, { id: artifact?.path });
  assert.match(stored, /receipt 4711/);
});

test('E9 a digest covers the rounds before, and a process that was started since has it too', async () => {
  const watched = await WatchedThread.open(OPTIONS);
  await watched.append(...CONVERSATION);
  await watched.compact();
  await watched.append(assistant('Welcome. '.repeat(400)), user('One more.'), assistant('Yes.'));
  await watched.compact();
  await watched.reopen();
  const { turns, path, toolOutputs } = (await watched.handle.digest()) ?? {};
  assert.deepEqual([turns?.map(({ turn }) => turn), path?.endsWith('/2')], [[1, 2, 3], true]);
  assert.deepEqual(Object.keys(toolOutputs ?? {}), ['grep', 'read', 'pay']);
});

test('E14 what had expired is in the digest with its replacement', async () => {
  let now = 0;
  const watched = await WatchedThread.open({ ...OPTIONS, clock: { now: () => now } });
  const [asked, ...rest] = CONVERSATION;
  const code = withMeta(assistant('The code is 123 456. '.repeat(10)), {
    ttlMs: 1_000,
    replacement: '(an old code)',
  });
  const ids = await watched.append(asked as Message, code, ...rest);
  now = 5_000;
  await watched.compact();
  assert.deepEqual((await watched.handle.digest())?.hidden, [
    { path: `message:1-${ids[1]}`, replacement: '(an old code)' },
  ]);
});

test('E1 E14 what a mails had found is not in the digest once it has expired', async () => {
  let now = 0;
  const watched = await WatchedThread.open({ ...OPTIONS, clock: { now: () => now } });
  const [asked, ...rest] = CONVERSATION;
  const mails = call('search_mail', { query: 'the launch code' }, 'c9');
  const found = withMeta(result(mails, 'SECRET-HIT one\nSECRET-HIT two'), {
    ttlMs: 1_000,
    replacement: '(old mail)',
  });
  await watched.append(asked as Message, assistant('I look.', mails), found, ...rest);
  now = 5_000;
  await watched.compact();
  const digest = await watched.handle.digest();
  assert.deepEqual(
    digest?.hidden.map(({ replacement }) => replacement),
    ['(old mail)'],
  );
  assert.doesNotMatch(JSON.stringify(digest), /SECRET-HIT|launch code/);
});

test('E8 E9 a split turn is named', async () => {
  const preset = timeline({ keepRecentTokens: 60 });
  const watched = await WatchedThread.open({ ...OPTIONS, preset });
  const more = call('read', { path: 'b.ts' }, 'c4');
  const working = [assistant('More.', more), result(more, 'words '.repeat(40))];
  await watched.append(...CONVERSATION, ...working, assistant('Done. '.repeat(50)));
  await watched.compact();
  assert.equal((await watched.handle.digest())?.splitTurn, 3);
});
