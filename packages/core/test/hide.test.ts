import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clear, tokenCount, type BobbinOptions, type Message } from '@bobbin/core';
import { chars4, codex, messagesOnly } from '@bobbin/core/internal';
import {
  assistant,
  call,
  result,
  resultPart,
  round,
  thread,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';
import { expired } from '../src/plan/tool-policy.ts';
import { softLadder } from './soft-ladder.ts';

let now = 0;
const options: BobbinOptions = {
  preset: softLadder,
  counter: chars4(),
  budget: messagesOnly(100_000),
  clock: { now: () => now },
};
const ls = call('ls', { path: '/' }, 'c1');
const listing = (meta: Message['meta']): Message => ({
  ...result(ls, 'a\nb\nc'),
  ...(meta === undefined ? {} : { meta }),
});

async function shownAt(
  time: number,
  given: BobbinOptions,
  ...messages: readonly Message[]
): Promise<readonly string[]> {
  now = 0;
  const watched = await WatchedThread.open({ ...options, ...given });
  await watched.append(user('list'), assistant(ls), ...messages, user('and?'));
  now = time;
  return (await watched.lines()).map((line) => line.replace(/ ◆$/, ''));
}

test('E1 a block older than its time to live is replaced by its replacement text', async () => {
  const expiring = listing({ time: 0, ttlMs: 1_000, replacement: '[listing of /]' });
  assert.equal((await shownAt(1_000, {}, expiring))[2], '2 tool (kept) answers #c1 "a\\nb\\nc"');
  assert.equal(
    (await shownAt(1_001, {}, expiring))[2],
    '2 tool (hide) answers #c1 "[listing of /]"',
  );
});

test('E1 without a replacement a fixed text is used', async () => {
  const expiring = listing({ time: 0, ttlMs: 1_000 });
  assert.match(
    (await shownAt(1_001, {}, expiring))[2] ?? '',
    /^2 tool \(hide\) answers #c1 "\[Hidden: .*\]"$/,
  );
});

test('E1 a tool may set the time to live of its results', async () => {
  const tools = { ls: { ttlMs: 500, replacement: '[stale listing]' } };
  assert.equal(
    (await shownAt(501, { tools }, listing({ time: 0 })))[2],
    '2 tool (hide) answers #c1 "[stale listing]"',
  );
  assert.equal(
    (await shownAt(501, { tools }, listing(undefined)))[2],
    '2 tool (hide) answers #c1 "[stale listing]"',
    'the session notes when a result arrived',
  );
  assert.match((await shownAt(500, { tools }, listing(undefined)))[2] ?? '', /kept/);
});

test('E1 a hidden message of several parts shows its replacement once', async () => {
  const [first, second] = [call('ls', { path: '/a' }, 'a'), call('ls', { path: '/b' }, 'b')];
  const parts = [
    resultPart(first, 'x'),
    resultPart(second, 'y'),
    { kind: 'text', text: 'and' },
  ] as const;
  now = 0;
  const watched = await WatchedThread.open(options);
  const meta = { ttlMs: 10, replacement: '[old listings]' };
  await watched.append(user('list'), assistant(first, second), { role: 'tool', parts, meta });
  await watched.append(user('so?'));
  now = 11;
  const { prompt } = await watched.prompt();
  assert.deepEqual(prompt.messages[2]?.message.parts, [
    resultPart(first, '[old listings]'),
    resultPart(second, '[Hidden]'),
  ]);
});

test('E1 said words expire too, but never the newest user message or a pin', async () => {
  const old = withMeta(assistant('the price is 7'), {
    time: 0,
    ttlMs: 10,
    replacement: '[an old price]',
  });
  const pin = withMeta(assistant('the rule is 7'), { time: 0, ttlMs: 10, pinned: true });
  const asked = withMeta(user('so?'), { time: 0, ttlMs: 10 });
  const lines = await shownAt(11, {}, listing({ time: 0 }), old, pin);
  assert.deepEqual(lines.slice(3, 5), [
    '3 assistant (hide) "[an old price]"',
    '4 assistant (kept) "the rule is 7"',
  ]);
  now = 0;
  const watched = await WatchedThread.open(options);
  await watched.append(asked);
  now = 11;
  assert.deepEqual(await watched.lines(), ['0 user (kept) "so?"']);
});

test('E1 what was hidden stays hidden, and nothing more is written for it', async () => {
  now = 0;
  const watched = await WatchedThread.open(options);
  await watched.append(user('list'), assistant(ls), listing({ time: 0, ttlMs: 10 }), user('and?'));
  now = 11;
  const { version } = await watched.prompt();
  assert.equal(version, 1);
  await watched.append(...round('ls', { path: '/b' }, 'x'), user('and then?'));
  now = 1_000;
  const later = await watched.prompt();
  assert.equal(later.version, 1);
  assert.equal(later.plan.hides.length, 1);
});

test('E1 hiding comes back with an undo', async () => {
  now = 0;
  const watched = await WatchedThread.open(options);
  await watched.append(user('list'), assistant(ls), listing({ time: 0, ttlMs: 10 }), user('and?'));
  now = 11;
  await watched.prompt();
  assert.equal(await watched.handle.undo(), true);
  assert.equal(watched.handle.plan.hides.length, 0);
});

test('E1 what is carried past a compaction expires like the rest, also in another process', async () => {
  const weather = withMeta(user('the weather is sunny'), {
    time: 0,
    ttlMs: 1_000,
    replacement: '[stale]',
  });
  const steps = Array.from({ length: 8 }, (_, i) => assistant(`step ${i} ${'word '.repeat(200)}`));
  const preset = { ...codex({ keepUserTokens: 5_000 }), trigger: tokenCount(1_500) };
  for (const goesOn of [async () => undefined, (watched: WatchedThread) => watched.reopen()]) {
    now = 0;
    const watched = await WatchedThread.open({ ...options, preset });
    await watched.append(weather, ...steps, user('next'));
    const { plan } = await watched.prompt();
    assert.deepEqual(
      plan.carried.map(({ index }) => index),
      [0],
    );
    await goesOn(watched);
    now = 1_001;
    assert.equal((await watched.lines())[0], '0 user (hide) "[stale]"');
  }
});

test('E1 a result of which an excerpt is shown expires all the same', async () => {
  const tools = { ls: { ttlMs: 1_000, replacement: '[stale]' } };
  const long = { ...result(ls, 'STALE DATA '.repeat(2_000)), meta: { time: 0 } };
  now = 0;
  const watched = await WatchedThread.open({ ...options, budget: messagesOnly(5_000), tools });
  await watched.append(user('list'), assistant(ls), long);
  const { plan } = await watched.prompt();
  assert.deepEqual(
    plan.records.map(({ kind }) => kind),
    ['externalize'],
  );
  await watched.append(assistant('ok'), user('and?'));
  now = 1_001;
  assert.equal((await watched.lines())[2], '2 tool (hide) answers #c1 "[stale]"');
  assert.deepEqual(watched.handle.plan.records, []);
});

test('E1 a result that was cleared expires all the same, and the key fields of another stay', async () => {
  const tools = {
    price: { ttlMs: 1_000, replacement: '[an old price]', durability: 'ephemeral' as const },
    ls: { durability: 'ephemeral' as const },
  };
  const preset = { ...softLadder, ladder: [clear()], trigger: tokenCount(1), targetShare: 0.001 };
  const price = call('price', {}, 'c2');
  now = 0;
  const watched = await WatchedThread.open({ ...options, preset, tools });
  await watched.append(
    user('list'),
    assistant(ls, price),
    withMeta(
      {
        role: 'tool',
        parts: [
          resultPart(price, '7 '.repeat(300), { keyFields: { id: 7 } }),
          resultPart(ls, 'a '.repeat(300), { keyFields: { total: 300 } }),
        ],
      },
      { time: 0 },
    ),
    ...round('ls', { path: '/b' }, 'x '.repeat(300), { keyFields: { total: 3 } }),
    assistant('so'),
    ...round('ls', { path: '/c' }, 'y'),
    user('and?'),
  );
  const cleared = (await watched.prompt()).plan.records;
  assert.deepEqual(
    cleared.map(({ kind }) => kind),
    ['clear', 'clear'],
  );
  now = 1_001;
  const { plan } = await watched.prompt();
  assert.deepEqual(plan.records, cleared.slice(1));
  assert.match((await watched.lines())[2] ?? '', /^2 tool \(hide\) answers #c2 "\[an old price\]"/);
});

test('E1 a user message whose time was over while it was the newest goes with the next turn', async () => {
  now = 0;
  const watched = await WatchedThread.open(options);
  await watched.append(
    withMeta(user('it is noon'), { time: 0, ttlMs: 10, replacement: '[stale]' }),
  );
  now = 11;
  assert.deepEqual(await watched.lines(), ['0 user (kept) "it is noon"']);
  await watched.append(assistant('ok'), user('and now?'));
  assert.equal((await watched.lines())[0], '0 user (hide) "[stale]"');
});

test('E1 a block whose time ends at this very moment has not expired', () => {
  const of = thread(user('list'), assistant(ls), listing({ time: 0, ttlMs: 1_000 }));
  assert.deepEqual(
    [1_000, 1_001].map((time) => expired(of.path(), {}, time).length),
    [0, 1],
  );
});
