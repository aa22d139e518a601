import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  memoryStore,
  textMessage,
  type BobbinOptions,
  type Message,
  type Store,
} from '@bobbin/core';
import { ANTHROPIC_RULES, budget, chars4 } from '@bobbin/core/internal';
import { assistant, reasoning, user, WatchedThread } from '@bobbin/testing';

const options: BobbinOptions = {
  counter: chars4(),
  budget: budget({ windowTokens: 6_000, safetyTokens: 0 }),
  rules: ANTHROPIC_RULES,
  clock: { now: () => 1 },
};

/** A long session of signed reasoning, then a question that recall answers. */
const session: readonly Message[] = [
  user('Fix the parser bug in src/parser.ts'),
  ...Array.from({ length: 24 }, (_, i) => [
    assistant(
      reasoning('hm', `sig${i}`),
      `step ${i}: the frobnicator constant is ${i * 7_919} in module zebra${i}. ${'more words here '.repeat(65)}`,
    ),
    user(`go on ${i}`),
  ]).flat(),
];
/** One reminder at a time: the next takes its place, so that the prompt changes before what was signed meanwhile. */
const small: BobbinOptions = {
  ...options,
  budget: budget({ windowTokens: 4_300, safetyTokens: 0, rehydrationTokens: 300 }),
};

function question(module: number, signature: string): readonly Message[] {
  return [
    assistant(reasoning('hm', signature), 'ok'),
    user(`What was the frobnicator constant in module zebra${module}?`),
  ];
}

/** A store in which something happens right before it keeps what a prompt was reminded of. */
function interrupted(inner: Store, between: () => Promise<unknown>): Store {
  return {
    ...inner,
    async record(key, events) {
      await between();
      return inner.record(key, events);
    },
  };
}

test('D2 a prompt that loses a race while its reasoning is released fits all the same, and no bound reasoning is in it', async () => {
  const store = memoryStore();
  let other: (() => Promise<unknown>) | undefined;
  const between = async (): Promise<void> => {
    await other?.();
    other = undefined;
  };
  const watched = await WatchedThread.open({ ...small, store: interrupted(store, between) });
  await watched.append(...session, ...question(2, 'early'));
  assert.equal((await watched.prompt()).compacted, true);
  await watched.append(...question(3, 'late'));
  const second = await createBobbin({ ...small, store }).thread('watched');
  other = () => second.undo();

  const { fits, prompt, plan } = await watched.prompt();
  assert.equal(other, undefined, 'the race was run');
  assert.equal(fits, true);
  assert.equal(plan.signedFrom, watched.thread.length, 'what was signed after other reminders');
  assert.doesNotMatch(JSON.stringify(prompt.messages), /"late"/);
});

test('E3 a refused prompt that loses a race is halved all the same', async () => {
  const inner = memoryStore();
  let other: (() => Promise<unknown>) | undefined;
  const store: Store = {
    ...inner,
    async commit(key, plan, expected, events) {
      const race = other;
      other = undefined;
      await race?.();
      return inner.commit(key, plan, expected, events);
    },
  };
  const watched = await WatchedThread.open({ ...options, store });
  const [first] = await watched.append(...session.slice(0, 20));
  const { prompt } = await watched.prompt();
  const second = await createBobbin({ ...options, store: inner }).thread('watched');
  other = () => second.pin(first ?? assert.fail());
  const refused = await watched.handle.refused();
  assert.equal(other, undefined, 'the race was run');
  assert.ok(refused.prompt.tokens <= prompt.tokens / 2, `${refused.prompt.tokens}`);
  assert.deepEqual(refused.plan.pins, [first]);
});

test('D2 reasoning that was signed after a plan that another writer took back is left out', async () => {
  const store = memoryStore();
  const watched = await WatchedThread.open({ ...options, store });
  const ids = await watched.append(...session.slice(0, 11));
  assert.equal((await watched.handle.compact()).compacted, true);
  await watched.prompt();
  const second = await createBobbin({ ...options, store }).thread('watched');
  await watched.append(assistant(reasoning('hm', 'late'), 'ok'), user('and?'));
  assert.equal(await second.undo(), true);
  await watched.handle.pin(ids[0] ?? assert.fail());
  const { plan, prompt } = await watched.prompt();
  assert.deepEqual(plan.records, [], 'the other plan holds');
  assert.equal(prompt.messages.length, 13);
  assert.doesNotMatch(JSON.stringify(prompt.messages), /"late"/);
});

test('C15 with a single writer an append after another writer fails and writes nothing', async () => {
  const store = memoryStore();
  const bobbin = createBobbin({ store, singleWriter: true });
  const [one, two] = [await bobbin.thread('shared'), await bobbin.thread('shared')];
  const [first] = await one.append(textMessage('user', 'one'));
  await assert.rejects(two.append(textMessage('user', 'two')), {
    message: `thread shared: another writer has appended ${first}; open the thread again, then append`,
  });
  assert.deepEqual(await store.heads(one.key), [first]);
  const again = await bobbin.thread('shared');
  await again.append(textMessage('assistant', 'three'));
  assert.equal(again.length, 2);
});
