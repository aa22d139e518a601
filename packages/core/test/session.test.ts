import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  externalize,
  memoryArtifacts,
  memoryStore,
  tokenCount,
  turnCount,
  type BobbinOptions,
  type CompactionEvent,
  type Fitted,
  type Message,
  type MessageId,
  type Plan,
  type Prompt,
  type Store,
  type ThreadId,
} from '@bobbin/core';
import {
  chars4,
  currentSummary,
  messagesOnly,
  slidingWindow,
  STRICT_RULES,
} from '@bobbin/core/internal';
import {
  assistant,
  call,
  expectValid,
  promptLines,
  reasoning,
  result,
  round,
  scriptedSummarizer,
  system,
  thread,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';

const options: BobbinOptions = { counter: chars4(), budget: messagesOnly(1_200), preset: 'ladder' };
const turn = (name: string): readonly Message[] => [
  user(`${name} ${'question '.repeat(30)}`),
  ...round('read', { name }, `${name} ${'line '.repeat(60)}`),
  assistant(`${name} ${'answer '.repeat(30)}`),
];
const many = (from: number, to: number): readonly Message[] =>
  Array.from({ length: to - from + 1 }, (_, i) => turn(`t${from + i}`)).flat();
const messagesOf = ({ messages }: Prompt): readonly Message[] =>
  messages.map(({ message }) => message);

/** A store that counts what is written and may lose a race. */
function watchedStore(): Store & { commits: number; race: (() => Promise<void>) | undefined } {
  const inner = memoryStore();
  return {
    ...inner,
    commits: 0,
    race: undefined,
    async commit(key, plan, expected, events) {
      const { race } = this;
      this.race = undefined;
      await race?.();
      this.commits++;
      return inner.commit(key, plan, expected, events);
    },
  };
}

/** The valid prompt of a stateless host. */
function checked(
  fitted: Fitted<Message>,
  messages: readonly Message[],
  earlier: readonly Plan[] = [],
): Prompt {
  const whole = thread(...messages);
  expectValid(whole, fitted.plan, fitted.prompt, {
    rules: STRICT_RULES,
    counter: chars4(),
    limitTokens: fitted.limitTokens,
    fits: fitted.fits,
    earlier,
  });
  return fitted.prompt;
}

test('defaults that work: nothing but messages is needed', async () => {
  const messages = [user('hello'), assistant('hi')];
  const { messages: wire, compacted, fits } = await createBobbin().fit(messages);
  assert.deepEqual([wire, compacted, fits], [messages, false, true]);
});

test('C21 every part of createBobbin can be replaced, and the replacement is used', async () => {
  const used = new Set<string>();
  const spy = <T extends object>(name: string, part: T): T =>
    new Proxy(part, {
      get(target, key, receiver) {
        used.add(name);
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
  const watched = await WatchedThread.open({
    preset: spy('preset', slidingWindow(2, turnCount(2))),
    counter: spy('counter', chars4()),
    summarizer: spy('summarizer', scriptedSummarizer()),
    store: spy('store', memoryStore()),
    artifacts: spy('artifacts', memoryArtifacts()),
    tools: spy('tools', {}),
    rules: spy('rules', STRICT_RULES),
    cacheLimits: spy('cacheLimits', { markers: 1, minimumTokens: 0 }),
    clock: spy('clock', { now: () => 7 }),
    budget: messagesOnly(600),
  });
  await watched.append(...many(1, 3), user('x'.repeat(4_000)));
  await watched.prompt();
  assert.deepEqual([...used].toSorted(), [
    'artifacts',
    'cacheLimits',
    'clock',
    'counter',
    'preset',
    'rules',
    'store',
    'summarizer',
    'tools',
  ]);
});

test('D1 the trigger first: strategy and write only if it fires', async () => {
  const store = watchedStore();
  const preset = slidingWindow(4, turnCount(2));
  const watched = await WatchedThread.open({ ...options, preset, store });
  await watched.append(...many(1, 2));
  const resting = await watched.prompt();
  assert.deepEqual([resting.compacted, resting.events, store.commits], [false, [], 0]);
  await watched.append(...turn('t3'));
  const { compacted, plan, prompt } = await watched.prompt();
  const archived = plan.records.flatMap(({ span }) => span.ids);
  assert.deepEqual([compacted, store.commits], [true, 1]);
  assert.equal(archived.length, 8, 'the removed events');
  assert.deepEqual(messagesOf(prompt), watched.thread.messages.slice(8), 'the kept events');
  assert.equal(
    plan.tokensBefore - plan.tokensAfter,
    chars4().request({ messages: watched.thread.messages.slice(0, 8) }),
    'the tokens saved',
  );
});

test('D2 a lost race is a silent no-op that takes the winner over', async () => {
  const store = watchedStore();
  const slow = await WatchedThread.open({
    ...options,
    store,
    preset: slidingWindow(8, tokenCount(1)),
  });
  await slow.append(...many(1, 4));
  const fast = await createBobbin({
    ...options,
    store,
    preset: slidingWindow(4, tokenCount(1)),
  }).thread('watched');
  store.race = async () => {
    assert.equal((await fast.prompt()).compacted, true);
  };
  const { plan, version, prompt } = await slow.prompt();
  assert.equal(version, 1);
  assert.deepEqual(plan, fast.plan, 'the other plan holds');
  assert.equal(prompt.messages.length, 4);
});

test('D2 a no-op writes nothing', async () => {
  const store = watchedStore();
  const watched = await WatchedThread.open({
    ...options,
    store,
    preset: slidingWindow(100, tokenCount(1)),
  });
  await watched.append(...many(1, 2));
  const { compacted, version } = await watched.prompt();
  assert.deepEqual([compacted, version, store.commits], [false, 0, 0]);
});

test('C15 a plan is committed only if the expected version holds, and of two exactly one wins', async () => {
  const store = memoryStore();
  const key = { tenant: 'a', thread: 'x' as ThreadId };
  const talk = thread(user('one'));
  const plan = { ...watchedPlan(talk.head?.id ?? null), thread: key.thread };
  assert.equal(await store.commit(key, plan, 0, []), false, 'there is no such thread');
  await store.append(key, talk.path());
  assert.equal(await store.commit(key, plan, 1, []), false);
  const both = await Promise.all([store.commit(key, plan, 0, []), store.commit(key, plan, 0, [])]);
  assert.deepEqual(new Set(both), new Set([true, false]));
  assert.deepEqual(await store.plan(key, 1), { plan, version: 1 });
  assert.equal(await store.plan(key, 2), undefined);
  assert.equal(await store.plan({ ...key, tenant: 'b' }, 1), undefined, 'tenants never meet');
});

function watchedPlan(head: MessageId | null): Plan {
  return {
    format: 1,
    thread: 'x' as ThreadId,
    head,
    threadVersion: 1,
    createdAt: 0,
    policy: 'test',
    style: { summaryRole: 'assistant', summaryPrefix: '', summaryAt: 'first' },
    start: 0,
    carried: [],
    records: [],
    hides: [],
    pins: [],
    signedFrom: 0,
    tokensBefore: 0,
    tokensAfter: 0,
    warnings: [],
  };
}

test('C1 any past prompt can be rendered again', async () => {
  const watched = await WatchedThread.open(options);
  const past: { version: number; length: number; prompt: Prompt }[] = [];
  for (let i = 1; i <= 12; i++) {
    await watched.append(...turn(`t${i}`));
    const { version, prompt } = await watched.prompt();
    past.push({ version, length: watched.thread.length, prompt });
  }
  assert.ok((past.at(-1)?.version ?? 0) >= 2, 'compacted more than once');
  await watched.reopen();
  for (const { version, length, prompt } of past)
    assert.deepEqual(await watched.handle.promptAt(version, length), prompt);
  await assert.rejects(watched.handle.promptAt(99), /no plan of version 99/);
});

test('E12 a resumed thread holds what follows its latest summary, and the store holds the rest', async () => {
  const watched = await WatchedThread.open(options);
  await watched.append(system('terse'), ...many(1, 8));
  const before = await watched.prompt();
  await watched.reopen();
  const { handle } = watched;
  assert.equal(handle.length, 33);
  assert.equal(handle.at(1), undefined, 'behind the summary');
  assert.deepEqual(await watched.prompt(), { ...before, compacted: false, events: [] });
  assert.equal((await handle.promptAt(0)).messages.length, 33);
});

test('decision 7 undo takes the last compaction back, and the next waits until it must', async () => {
  const watched = await WatchedThread.open({
    ...options,
    budget: messagesOnly(5_000),
    preset: slidingWindow(4, turnCount(3)),
  });
  await watched.append(...many(1, 4));
  assert.equal((await watched.prompt()).compacted, true);
  assert.equal(await watched.handle.undo(), true);
  const undone = await watched.prompt();
  assert.deepEqual(messagesOf(undone.prompt), watched.thread.messages);
  assert.deepEqual([undone.compacted, undone.version], [false, 2], 'the log of plans only grows');
  assert.equal(await watched.handle.undo(), false, 'there is nothing more to take back');
  await watched.append(...many(5, 30));
  assert.equal((await watched.prompt()).compacted, true, 'now it no longer fits');
});

test('decision 7 undo after undo goes further back', async () => {
  const watched = await WatchedThread.open({
    ...options,
    budget: messagesOnly(9_000),
    preset: slidingWindow(4, turnCount(2)),
  });
  await watched.append(...many(1, 3));
  await watched.prompt();
  await watched.append(...many(4, 6));
  await watched.prompt();
  const shown = async (): Promise<number> => (await watched.prompt()).prompt.messages.length;
  assert.equal(await shown(), 4);
  await watched.handle.undo();
  assert.equal(await shown(), 16, 'as after the first compaction');
  await watched.handle.undo();
  assert.equal(await shown(), 24, 'everything');
});

test('decision 7 a pin brings a compacted message back whole, with what belongs to it', async () => {
  const watched = await WatchedThread.open({ ...options, preset: slidingWindow(4, turnCount(2)) });
  await watched.append(...many(1, 5));
  await watched.prompt();
  const resultId = watched.thread.at(2)?.id ?? assert.fail();
  await watched.handle.pin(resultId);
  const { prompt, plan } = await watched.prompt();
  assert.deepEqual(
    messagesOf(prompt).slice(1, 3),
    watched.thread.messages.slice(1, 3),
    'call and result',
  );
  assert.deepEqual(new Set(plan.pins), new Set([watched.thread.at(1)?.id, resultId]));
  await watched.append(...many(6, 9));
  const later = messagesOf((await watched.prompt()).prompt);
  assert.ok(later.includes(watched.thread.at(2)?.message ?? assert.fail()), 'and it stays');
  await assert.rejects(watched.handle.pin('nothing' as MessageId), /has no message nothing/);
});

test('decision 7 undo takes a compaction back, also if messages were pinned or unpinned since', async () => {
  const preset = slidingWindow(4, turnCount(2));
  for (const unpins of [false, true]) {
    const watched = await WatchedThread.open({ ...options, budget: messagesOnly(9_000), preset });
    await watched.append(...many(1, 5));
    await watched.prompt();
    const old = watched.thread.at(2)?.id ?? assert.fail();
    await watched.handle.pin(old);
    if (unpins) await watched.handle.unpin(old);
    await watched.reopen();
    assert.ok(await watched.handle.undo());
    assert.deepEqual(messagesOf((await watched.prompt()).prompt), watched.thread.messages);
    assert.equal(watched.handle.plan.pins.length, unpins ? 0 : 2);
    assert.equal(await watched.handle.undo(), false, 'there was one compaction');
  }
});

test('decision 7 undo after a later compaction does not bring back what was undone before', async () => {
  const watched = await WatchedThread.open({
    ...options,
    budget: messagesOnly(9_000),
    preset: slidingWindow(4, turnCount(2)),
  });
  await watched.append(...many(1, 5));
  await watched.prompt();
  assert.ok(await watched.handle.undo());
  await watched.compact();
  assert.ok(await watched.handle.undo());
  assert.equal(await watched.handle.undo(), false);
  assert.deepEqual(messagesOf((await watched.prompt()).prompt), watched.thread.messages);
});

test('decision 7 undo is refused if pins already show all that a compaction took', async () => {
  const watched = await WatchedThread.open({
    ...options,
    budget: messagesOnly(9_000),
    preset: {
      ...slidingWindow(4, turnCount(2)),
      ladder: [externalize({ overTokens: 200 })],
      targetShare: 0.1,
    },
  });
  await watched.append(
    user('go'),
    ...round('read', {}, 'line of text\n'.repeat(100)),
    ...many(1, 3),
  );
  const { plan } = await watched.prompt();
  assert.deepEqual(
    plan.records.map(({ kind }) => kind),
    ['externalize'],
  );
  await watched.handle.pin(watched.thread.at(2)?.id ?? assert.fail());
  assert.deepEqual(messagesOf((await watched.prompt()).prompt), watched.thread.messages);
  assert.equal(await watched.handle.undo(), false);
});

test('decision 7 what was unpinned can be compacted by hand, though the cut would keep all that is left', async () => {
  const watched = await WatchedThread.open({
    ...options,
    preset: softLadder,
    budget: messagesOnly(5_000),
  });
  for (let i = 0; i < 20; i++) {
    const lines = Array.from(
      { length: 30 },
      (_, j) => `export const handler${i}_${j} = KEY_${i * j};`,
    );
    await watched.append(
      user(`Look at src/module_${i}.ts`),
      ...round('read', { path: `src/module_${i}.ts` }, lines.join('\n')),
      assistant(`module_${i} is sound.`),
    );
  }
  const before = currentSummary((await watched.prompt()).plan)?.summary ?? assert.fail();
  const pinned = watched.thread.at(3) ?? assert.fail();
  await watched.handle.pin(pinned.id);
  assert.ok(messagesOf((await watched.prompt()).prompt).includes(pinned.message));
  await watched.handle.unpin(pinned.id);
  const { compacted, prompt, plan } = await watched.compact();
  assert.ok(compacted);
  assert.ok(!messagesOf(prompt).includes(pinned.message));
  const { lastTurn } = currentSummary(plan)?.summary ?? assert.fail();
  assert.ok(lastTurn >= before.lastTurn, 'what is said of the newest is not taken from the oldest');
  await assert.rejects(watched.handle.unpin('nothing' as MessageId), /has no message nothing/);
});

test('E15 a hook that fails, at once or later, has failed for its host only', async () => {
  const watched = await WatchedThread.open({
    ...options,
    onEvent: () => Promise.reject(new Error('the log is down')),
    onBeforeCompaction: () => Promise.reject(new Error('the log is down')),
    onAfterCompaction: () => {
      throw new Error('the log is down');
    },
  });
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', hear);
  await watched.append(...many(1, 9));
  assert.ok((await watched.prompt()).compacted);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', hear);
  assert.deepEqual(unheard, []);
});

test('decision 7 an unpinned message stays until the next compaction, which may take it; undo brings no pin back', async () => {
  const watched = await WatchedThread.open({ ...options, preset: slidingWindow(4, turnCount(2)) });
  await watched.append(...many(1, 5));
  const callId = watched.thread.at(1)?.id ?? assert.fail();
  const pinned = watched.thread.at(2) ?? assert.fail();
  await watched.handle.pin(callId);
  await watched.prompt();
  const before = messagesOf((await watched.prompt()).prompt);
  await watched.handle.unpin(pinned.id);
  assert.deepEqual(watched.handle.plan.pins, [], 'with the call that belongs to it');
  assert.deepEqual(messagesOf((await watched.prompt()).prompt), before);
  const { version } = watched.handle;
  await watched.handle.unpin(pinned.id);
  assert.equal(watched.handle.version, version, 'what is no pin is left alone');
  await watched.append(...many(6, 9));
  assert.ok(!messagesOf((await watched.prompt()).prompt).includes(pinned.message));
  assert.ok(await watched.handle.undo());
  assert.deepEqual(watched.handle.plan.pins, []);
});

test('a thread is resumed with its pins and its place among other forks', async () => {
  const watched = await WatchedThread.open({ ...options, preset: slidingWindow(4, turnCount(2)) });
  const [first] = await watched.append(...many(1, 3));
  await watched.handle.pin(first ?? assert.fail());
  await watched.prompt();
  await watched.reopen();
  await watched.append(...many(4, 6));
  assert.equal(messagesOf((await watched.prompt()).prompt)[0], watched.thread.at(0)?.message);
});

test('decision 1 a stateless host is recognised by its longest known prefix', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' }, { kind: 'good' });
  const bobbin = createBobbin({ ...options, summarizer });
  const all = [system('terse'), ...many(1, 14)];
  const first = await bobbin.fit(all.slice(0, 33));
  checked(first, all.slice(0, 33));
  assert.equal(first.version, 1);
  const next = await bobbin.fit(all.slice(0, 34));
  assert.deepEqual(next.prompt.messages.slice(0, -1), first.prompt.messages, 'the plan goes on');
  const resent = JSON.parse(JSON.stringify(all.slice(0, 35))) as Message[];
  const copies = await bobbin.fit(resent);
  assert.deepEqual([copies.version, copies.plan.thread], [1, first.plan.thread]);
  assert.equal(summarizer.requests.length, 1, 'recognised by content, not by objects');
});

test('decision 1 a conversation that turns off keeps the plan that both share', async () => {
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const bobbin = createBobbin({ ...options, summarizer });
  const all = [system('terse'), ...many(1, 9)];
  const first = await bobbin.fit(all);
  const forked = [...all, user('another way')];
  await bobbin.fit([...all, user('one way'), assistant('ok')]);
  const other = await bobbin.fit(forked);
  checked(other, forked, [first.plan]);
  assert.notEqual(other.plan.thread, first.plan.thread);
  assert.deepEqual(other.prompt.messages.slice(0, -1), first.prompt.messages);
  const before = await bobbin.fit(all.slice(0, 4));
  assert.deepEqual(
    messagesOf(before.prompt),
    all.slice(0, 4),
    'a fork before the compaction undoes it',
  );
  summarizer.expectDone();
});

test('two conversations of one host do not meet', async () => {
  const bobbin = createBobbin(options);
  const [a, b] = [[user('a')], [user('b')]];
  await bobbin.fit(a);
  await bobbin.fit(b);
  const longer = [...a, assistant('x')];
  assert.deepEqual((await bobbin.fit(longer)).messages, longer);
});

test('calls of one thread are carried out one after another', async () => {
  const watched = await WatchedThread.open(options);
  const work = [
    watched.handle.append(...many(1, 3)),
    watched.handle.prompt(),
    watched.handle.append(...many(4, 6)),
    watched.handle.prompt(),
  ];
  const [, first, , second] = (await Promise.all(work)) as [
    unknown,
    Fitted<Message>,
    unknown,
    Fitted<Message>,
  ];
  assert.equal(first.prompt.messages.length, 12);
  assert.ok(second.version >= first.version);
  assert.equal(watched.handle.length, 24);
});

test('appending what is there already changes nothing', async () => {
  const store = memoryStore();
  const watched = await WatchedThread.open({ ...options, store });
  const ids = await watched.append(user('one'), assistant('two'));
  await store.append(watched.handle.key, watched.thread.path());
  await watched.reopen();
  assert.equal(watched.handle.length, 2);
  assert.equal(watched.handle.head, ids[1]);
});

test('B4 the trigger of a reserve sees what the provider reported', async () => {
  const reported = {
    inputTokens: 90_000,
    outputTokens: 1_000,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  const watched = await WatchedThread.open({ preset: 'pi', counter: chars4(), window: 100_000 });
  await watched.append(user('go'), withMeta(assistant('small'), { usage: reported }));
  const { events } = await watched.prompt();
  const [started] = events;
  assert.ok(started?.kind === 'check-started');
  assert.equal(started.reason, 'context 91000 > window - reserve (83616)');
});

test('signed reasoning is sent only after the prompt that it was written for', async () => {
  const read = call('read', {});
  const watched = await WatchedThread.open({ ...options, preset: slidingWindow(6, turnCount(2)) });
  await watched.append(
    user('1'),
    assistant('a'),
    user('2'),
    assistant(reasoning('hm', 'sig'), read),
    result(read, 'x'),
  );
  assert.match((await watched.lines()).join('\n'), /thinks "hm" signed/);
  await watched.append(assistant('b'), user('3'));
  const lines = await watched.lines();
  assert.equal(currentSummary(watched.handle.plan), undefined);
  assert.doesNotMatch(lines.join('\n'), /thinks/, 'what stood before it is gone');
  await watched.append(assistant(reasoning('so', 'sig2'), 'c'));
  assert.match(
    (await watched.lines()).join('\n'),
    /thinks "so" signed/,
    'written for the new prompt',
  );
});

test('events of a compaction are stored with its plan', async () => {
  const watched = await WatchedThread.open({ ...options, preset: slidingWindow(4, turnCount(2)) });
  await watched.append(...many(1, 5));
  const { events } = await watched.prompt();
  const stored = await watched.store.events(watched.handle.key);
  assert.deepEqual(
    stored.map(({ event, version }): [CompactionEvent, number] => [event, version]),
    events.map((event) => [event, 1]),
  );
});

test('pressure says how full the prompt is', async () => {
  const watched = await WatchedThread.open({ counter: chars4(), budget: messagesOnly(1_000) });
  await watched.append(user('x'.repeat(1_992)));
  assert.equal(watched.handle.pressure, 0.5);
  assert.deepEqual(promptLines((await watched.prompt()).prompt).length, 1);
});

test('D2 a handle that loses a race on its own fork compacts again, and its prompt fits', async () => {
  const store = memoryStore();
  const bobbin = createBobbin({ store, window: 8_000, counter: chars4() });
  const first = await bobbin.thread('retryOnConflict');
  const [fork] = await first.append(user('go'), assistant('x'.repeat(4_000)));
  const second = await bobbin.thread('retryOnConflict', fork);
  await first.append(...Array.from({ length: 12 }, (_, i) => user(`a${i} ${'y'.repeat(4_000)}`)));
  await second.append(...Array.from({ length: 12 }, (_, i) => user(`b${i} ${'z'.repeat(4_000)}`)));
  const [a, b] = [await first.prompt(), await second.prompt()];
  for (const { fits, compacted, prompt, limitTokens } of [a, b]) {
    assert.deepEqual([fits, compacted], [true, true]);
    assert.ok(prompt.tokens <= limitTokens);
  }
});

test('C15 a pin that loses a race is made on the winner of it', async () => {
  const store = memoryStore();
  const bobbin = createBobbin({ store, window: 8_000, counter: chars4() });
  const first = await bobbin.thread('pinned');
  const [rule] = await first.append(
    user('never delete'),
    assistant('x'.repeat(30_000)),
    user('go on'),
  );
  const second = await bobbin.thread('pinned');
  await first.prompt();
  assert.ok(rule !== undefined);
  await second.pin(rule);
  assert.deepEqual(second.plan.pins, [rule]);
  assert.deepEqual((await store.plan(second.key, second.version))?.plan.pins, [rule]);
});

test('A10 a store that cannot commit costs the record of a plan, not the prompt', async () => {
  const store = {
    ...memoryStore(),
    commit: () => Promise.reject(new Error('the database is gone')),
  };
  const handle = await createBobbin({ store, window: 8_000, counter: chars4() }).thread('lonely');
  await handle.append(user('go'), assistant('x'.repeat(60_000)), user('on'));
  const { fits, events } = await handle.prompt();
  assert.equal(fits, true);
  assert.ok(
    events.some(
      (event) => event.kind === 'warning' && event.message.includes('the database is gone'),
    ),
  );
});

test('C20 a hook that throws does not stop the thread', async () => {
  const handle = await createBobbin({ window: 8_000, counter: chars4(), onEvent: failing }).thread(
    'hooked',
  );
  await handle.append(user('go'), assistant('x'.repeat(60_000)), user('on'));
  assert.equal((await handle.prompt()).compacted, true);
});

test('A10 a summarizer that never answers is overtaken by the extract', async () => {
  const summarizer = { id: 'silent', summarize: () => new Promise<never>(() => undefined) };
  const clock = {
    now: () => 0,
    deadline: () => ({ signal: AbortSignal.timeout(20), clear: () => undefined }),
  };
  const handle = await createBobbin({ window: 8_000, counter: chars4(), summarizer, clock }).thread(
    'late',
  );
  await handle.append(
    user('go'),
    assistant('x'.repeat(60_000)),
    assistant('y'.repeat(2_000)),
    user('on'),
  );
  const { fits, events } = await handle.prompt();
  assert.equal(fits, true);
  assert.ok(events.some(isLate));
});

test('A10 a host says how long a summarizer may take', async () => {
  const summarizer = { id: 'silent', summarize: () => new Promise<never>(() => undefined) };
  const bobbin = createBobbin({ ...options, summarizer, summaryDeadlineMs: 20 });
  const { fits, events } = await bobbin.fit(many(1, 9));
  assert.equal(fits, true);
  assert.ok(events.some(isLate));
});

function failing(): never {
  throw new Error('a bug of the host');
}

function isLate(event: CompactionEvent): boolean {
  return event.kind === 'warning' && event.message.includes('no answer in time');
}

test('17 very many messages are taken in parts, and are seen all at once', async () => {
  const seen: number[] = [];
  const clock = {
    now: () => 0,
    pause: () => {
      seen.push(session.length);
      return Promise.resolve();
    },
  };
  const said = Array.from({ length: 2_300 }, (_, i) =>
    i % 2 === 0 ? user(`question ${i}`) : assistant(`answer ${i}`),
  );
  const session = await createBobbin({ clock, window: 1_000_000 }).thread('long');
  const ids = await session.append(...said);
  // Five parts: four pauses while ids are made, four while the messages are counted.
  assert.deepEqual(seen, [0, 0, 0, 0, 0, 0, 0, 0]);
  const one = await createBobbin({ window: 1_000_000 }).thread('long');
  const each: string[] = [];
  for (const message of said) each.push(...(await one.append(message)));
  assert.deepEqual(ids, each);
  assert.deepEqual((await session.prompt()).prompt, (await one.prompt()).prompt);
});
