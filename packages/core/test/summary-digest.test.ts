import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf, type Clock, type Message } from '@bobbin/core';
import { currentSummary, digestOf, pi, timeline, type Digest } from '@bobbin/core/internal';
import { assistant, call, result, user, WatchedThread, withMeta } from '@bobbin/testing';

async function digested(watched: WatchedThread): Promise<Digest> {
  const { plan } = await watched.compact();
  const record = currentSummary(plan);
  assert.ok(record !== undefined);
  return digestOf(record, plan, watched.thread.path());
}

const search = call('grep', { pattern: 'tokenize' });
const read = call('read', { path: 'a.ts' });
const CONVERSATION: readonly Message[] = [
  user('Fix the tokenizer.'),
  assistant('I search.', search),
  result(search, 'src/a.ts:12: tokenize()\n\nsrc/b.ts:3: tokenize()'),
  assistant('I read.', read),
  result(read, 'no such file', { outcome: 'failure' }),
  assistant('It is not there.'),
  user('Then write it.'),
  assistant('Written. '.repeat(40)),
  user('Thanks.'),
];

test('E9 E14 a digest names all behind a summary, so that any of it can be read back by path', async () => {
  const watched = await WatchedThread.open({ window: 4_000, preset: pi({ keepRecentTokens: 20 }) });
  const ids = await watched.append(...CONVERSATION);
  const digest = await digested(watched);
  assert.deepEqual(digest, {
    path: 'summary:watched/1',
    coveredTurns: [
      { turn: 1, path: `message:${ids[0]}` },
      { turn: 2, path: `message:${ids[6]}` },
    ],
    splitTurn: null,
    artifacts: [],
    toolOutputs: {
      grep: [{ path: `message:${ids[2]}`, call: '{"pattern":"tokenize"}', outcome: 'success' }],
      read: [{ path: `message:${ids[4]}`, call: '{"path":"a.ts"}', outcome: 'failure' }],
    },
    searches: [
      {
        path: `message:${ids[2]}`,
        query: '{"pattern":"tokenize"}',
        hits: ['src/a.ts:12: tokenize()', 'src/b.ts:3: tokenize()'],
      },
    ],
    hidden: [],
  });
  for (const { path } of digest.coveredTurns) {
    const node = watched.thread.path().find(({ id }) => `message:${id}` === path);
    assert.ok(node !== undefined && textOf(node.message) !== '');
  }
});

test('E14 hidden blocks are in the digest with their replacement', async () => {
  let now = 0;
  const clock: Clock = { now: () => now };
  const watched = await WatchedThread.open({
    window: 4_000,
    preset: pi({ keepRecentTokens: 20, reserveTokens: 100 }),
    clock,
  });
  const [asked, ...rest] = CONVERSATION;
  assert.ok(asked !== undefined);
  const secret = withMeta(assistant('The one-time code is 123 456. '.repeat(10)), {
    time: 0,
    ttlMs: 1_000,
    replacement: '(a code that has expired)',
  });
  const ids = await watched.append(asked, secret, ...rest);
  now = 5_000;
  const { hidden } = await digested(watched);
  assert.deepEqual(hidden, [
    { path: `message:${ids[1]}`, replacement: '(a code that has expired)' },
  ]);
});

test('E8 E9 a split turn is named', async () => {
  const watched = await WatchedThread.open({
    window: 4_000,
    preset: timeline({ keepRecentTokens: 60 }),
  });
  const more = call('read', { path: 'b.ts' });
  await watched.append(
    ...CONVERSATION,
    assistant('More.', more),
    result(more, 'words '.repeat(40)),
    assistant('Done. '.repeat(50)),
  );
  const digest = await digested(watched);
  assert.equal(digest.splitTurn, 3);
});
