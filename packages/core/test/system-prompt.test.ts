import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BobbinOptions } from '@bobbin/core';
import { chars4, messagesOnly } from '@bobbin/core/internal';
import { assistant, system, user, WatchedThread } from '@bobbin/testing';

const open = (options: BobbinOptions = {}): Promise<WatchedThread> =>
  WatchedThread.open({ counter: chars4(), window: 200_000, clock: { now: () => 1 }, ...options });

test('14.17 a paste larger than the window leaves the system prompt whole, and is whole again where it fits', async () => {
  const rules = system('Rule: never push. '.repeat(550));
  const watched = await open({ budget: messagesOnly(4_000) });
  await watched.append(rules, user(`Look at this:\n${'pasted line\n'.repeat(3_000)}`));
  const { prompt, fits } = await watched.prompt();
  assert.ok(fits);
  assert.equal(prompt.messages[0]?.message, rules);
  await watched.append(assistant('Seen.'), user('Thanks.'));
  assert.equal((await watched.prompt()).prompt.messages[0]?.message, rules);
});

test('14.17 a system prompt that had to be cut is shown whole again as soon as there is space', async () => {
  const rules = system('Rule: never push. '.repeat(300));
  const watched = await open({ budget: messagesOnly(1_200) });
  await watched.append(rules, user('Go.'));
  const cut = await watched.prompt();
  assert.notEqual(cut.prompt.messages[0]?.message, rules);
  await watched.handle.reconfigure({ budget: messagesOnly(8_000) });
  const whole = await watched.prompt();
  assert.equal(whole.prompt.messages[0]?.message, rules);
  assert.equal(whole.plan.cutPinTokens, undefined);
});

const LIMIT = 20_000;
for (const share of [0.3, 0.6, 0.9, 1.2, 3])
  test(`14.17 a paste of ${share} of the limit leaves the system prompt whole, then and in 30 later turns`, async () => {
    const rules = system('Rule: never push. '.repeat(1_300));
    const paste = user(`Look at this:\n${'pasted line\n'.repeat((LIMIT * share) / 3)}`);
    const watched = await open({ budget: messagesOnly(LIMIT) });
    await watched.append(rules);
    for (let turn = 0; turn < 24; turn++)
      await watched.append(user(`Before ${turn}.`), assistant(`Said ${turn}. `.repeat(200)));
    await watched.append(paste);
    for (let turn = 0; turn < 30; turn++) {
      const { prompt, fits } = await watched.prompt();
      assert.deepEqual([fits, prompt.messages[0]?.message], [true, rules], `turn ${turn}`);
      await watched.append(assistant(`Answer ${turn}. `.repeat(150)), user(`Question ${turn}.`));
    }
  });
