import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BobbinOptions } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import { assistant, call, result, round, user, WatchedThread } from '@bobbin/testing';

const open = (options: BobbinOptions = {}): Promise<WatchedThread> =>
  WatchedThread.open({ counter: chars4(), window: 200_000, clock: { now: () => 1 }, ...options });

test('14.1 parallel results that no model has read arrive whole while the prompt fits', async () => {
  const calls = Array.from({ length: 10 }, (_, i) => call('read', { path: `/f${i}` }, `p${i}`));
  const texts = calls.map((_, i) => `${i}`.repeat(6_000 * 4));
  const parts = calls.map((each, i) => result(each, texts[i] as string).parts[0] as never);
  const watched = await open();
  await watched.append(user('Read ten files.'), assistant('x'.repeat(100_000), ...calls));
  await watched.append({ role: 'tool', parts });
  const { prompt } = await watched.prompt();
  assert.deepEqual(prompt.messages.at(-1)?.message.parts, parts);
});

test('14.1 one unread result larger than a quarter of the limit arrives whole while the prompt fits', async () => {
  const watched = await open();
  const [asked, answered] = round('read', { path: '/large' }, 'line\n'.repeat(60_000));
  await watched.append(user('Read it.'), asked, answered);
  assert.equal((await watched.prompt()).prompt.messages.at(-1)?.message, answered);
});

test('14.1 where the prompt does not fit, parallel results are measured one by one: what was read gives way', async () => {
  const calls = Array.from({ length: 10 }, (_, i) => call('read', { path: `/f${i}` }, `p${i}`));
  const parts = calls.map((each, i) => result(each, `${i}`.repeat(600 * 4)).parts[0] as never);
  const watched = await open({ window: 20_000 });
  for (let turn = 0; turn < 5; turn++)
    await watched.append(user(`turn ${turn}`), assistant(`${turn} `.repeat(5_000)));
  await watched.append(user('Read ten files.'));
  await watched.prompt();
  await watched.append(assistant(...calls), { role: 'tool', parts });
  assert.deepEqual((await watched.prompt()).prompt.messages.at(-1)?.message.parts, parts);
});
