import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  memoryStore,
  type BobbinOptions,
  type Fitted,
  type Message,
  type Plan,
  type Store,
  type Session,
} from '@bobbin/core';
import { ANTHROPIC_RULES, budget, chars4, STRICT_RULES } from '@bobbin/core/internal';
import { assistant, expectValid, reasoning, thread, user, WatchedThread } from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';

const options: BobbinOptions = {
  counter: chars4(),
  budget: budget({ windowTokens: 6_000, safetyTokens: 0 }),
  clock: { now: () => 1 },
  preset: softLadder,
};

/** A store that fails each commit while it is set to. */
function fullable(): Store & { full: boolean } {
  const inner = memoryStore();
  return {
    ...inner,
    full: false,
    async commit(key, plan, expected, events) {
      if (this.full) throw new Error('disk full');
      return inner.commit(key, plan, expected, events);
    },
  };
}

const turns = (from: number, to: number): readonly Message[] =>
  Array.from({ length: to - from + 1 }, (_, i) => [
    user(`needle${from + i} question ${'x '.repeat(140)}`),
    assistant(`answer ${from + i} ${'y '.repeat(140)}`),
  ]).flat();

test('A10 a store that cannot commit that reasoning is released costs the record of it, not the prompt', async () => {
  const store = fullable();
  const watched = await WatchedThread.open({
    ...options,
    // One reminder at a time: the second takes the place of the first, so that the prompt changes before `late`.
    budget: budget({ windowTokens: 4_300, safetyTokens: 0, rehydrationTokens: 300 }),
    rules: ANTHROPIC_RULES,
    store,
  });
  const steps = Array.from({ length: 14 }, (_, i) => [
    assistant(
      reasoning('hm', `sig${i}`),
      `step ${i}: the frobnicator constant is ${i * 7_919} in module zebra${i}. ${'more words here '.repeat(65)}`,
    ),
    user(`go on ${i}`),
  ]);
  await watched.append(user('Fix the parser bug in src/parser.ts'), ...steps.flat());
  await watched.append(
    assistant('ok'),
    user('What was the frobnicator constant in module zebra2?'),
  );
  await watched.prompt();
  await watched.append(
    assistant(reasoning('hm', 'late'), 'ok'),
    user('What was the frobnicator constant in module zebra3?'),
  );
  store.full = true;
  const { plan, events } = await watched.prompt();
  assert.equal(plan.signedFrom, watched.thread.length);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'warning' ? event.message : [])),
    ['the plan could not be committed and holds in this process alone: disk full'],
  );
});

/** A prompt, checked against every law with the plans before it, whether a store holds them or not. */
async function validPrompt(
  handle: Session,
  said: readonly Message[],
  earlier: Plan[],
): Promise<Fitted<Message>> {
  const fitted = await handle.prompt();
  const { plan, prompt, fits, limitTokens } = fitted;
  const context = { counter: chars4(), rules: STRICT_RULES, limitTokens, fits, earlier };
  expectValid(thread(...said), plan, prompt, { ...context, reserveTokens: 2_000 });
  earlier.push(plan);
  return fitted;
}

for (const [name, preset] of [
  ['sliding-window', 'sliding-window'],
  ['soft pressure', softLadder],
] as const)
  test(`A10 what was compacted while the store failed is stored with the next compaction: ${name}`, async () => {
    const store = fullable();
    const handle = await createBobbin({ ...options, preset, store }).thread('lonely');
    const earlier: Plan[] = [];
    store.full = true;
    await handle.append(...turns(0, 21));
    assert.equal((await validPrompt(handle, turns(0, 21), earlier)).version, 0);
    await handle.append(...turns(22, 43));
    assert.equal((await validPrompt(handle, turns(0, 43), earlier)).version, 0);

    store.full = false;
    await handle.append(...turns(44, 65));
    const { version } = await validPrompt(handle, turns(0, 65), earlier);
    assert.equal(version, 3, 'each compaction has its version');
    const stored = [1, 2, 3].map(async (each) => (await store.plan(handle.key, each))?.plan);
    assert.deepEqual(await Promise.all(stored), earlier);
    const completed = (await store.events(handle.key)).filter((e) => e.event.kind === 'completed');
    assert.deepEqual(
      completed.map((each) => each.version),
      [1, 2, 3],
    );
    const [found] = await store.search(handle.key, ['needle3'], 5);
    assert.equal(found?.node.index, 6, 'recall finds what the first of them took');
  });

test('A10 undo takes back a compaction that the store does not hold yet', async () => {
  const store = fullable();
  const handle = await createBobbin({ ...options, store }).thread('lonely');
  const earlier: Plan[] = [];
  await handle.append(...turns(0, 21));
  const { plan } = await validPrompt(handle, turns(0, 21), earlier);
  store.full = true;
  await handle.append(...turns(22, 43));
  assert.equal((await validPrompt(handle, turns(0, 43), earlier)).compacted, true);
  await assert.rejects(handle.undo(), /disk full/);
  store.full = false;
  assert.equal(await handle.undo(), true);
  assert.deepEqual(handle.plan.records, plan.records);
});

test('A10 an undo that the store refuses leaves the prompt with what was brought back', async () => {
  const store = fullable();
  const watched = await WatchedThread.open({
    ...options,
    budget: budget({ windowTokens: 4_300, safetyTokens: 0, rehydrationTokens: 300 }),
    store,
  });
  const facts = Array.from({ length: 14 }, (_, i) => [
    user(`go on ${i}`),
    assistant(`the frobnicator constant is ${i * 7_919} in zebra${i}. ${'more words '.repeat(95)}`),
  ]);
  await watched.append(...facts.flat(), user('What was the frobnicator constant in zebra2?'));
  const { prompt: before } = await watched.prompt();
  const isBroughtBack = before.messages.some(({ source }) => source.kind === 'recalled');
  assert.ok(isBroughtBack);
  store.full = true;
  await assert.rejects(watched.handle.undo(), /disk full/);
  await watched.append(assistant('15838'), user('Thanks.'));
  const { prompt } = await watched.prompt();
  assert.deepEqual(prompt.messages.slice(0, before.messages.length), before.messages);
});

test('A10 a conversation that turns off while the store fails takes its plan along', async () => {
  const store = fullable();
  const bobbin = createBobbin({ ...options, store });
  const shared = turns(0, 21);
  const { plan } = await bobbin.fit(shared);
  await bobbin.fit([...shared, user('this way')]);
  store.full = true;
  const off = await bobbin.fit([...shared, user('another way')]);
  assert.notEqual(off.plan.thread, plan.thread);
  assert.deepEqual(off.plan.records, plan.records);
});
