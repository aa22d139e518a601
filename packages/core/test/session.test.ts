import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  memoryArtifacts,
  memoryStore,
  tokenCount,
  turnCount,
  type CompactionEvent,
  type Fitted,
  type Message,
  type Plan,
  type Prompt,
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
  scriptedSummarizer,
  system,
  thread,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';
import { many, messagesOf, options, turn, watchedStore } from './sample-session.ts';

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
