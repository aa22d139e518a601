import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  memoryStore,
  textMessage,
  textOf,
  type BobbinOptions,
  type Codec,
  type Message,
  type Role,
} from '@bobbin/core';
import { chars4, messagesOnly } from '@bobbin/core/internal';
import { assistant, call, result, round, thread, user } from '@bobbin/testing';

/** A host's own messages: flat, and its own to write into. */
interface Said {
  readonly role: Role;
  content: string;
}

const said: Codec<Said> = {
  name: 'said',
  decode: (wire) =>
    wire.map((original) => ({ ...textMessage(original.role, original.content), original })),
  encode: (messages) => messages.map((message) => message.original as Said),
};
const options: BobbinOptions = { counter: chars4(), budget: messagesOnly(2_000) };

test('C1 a host that writes into an earlier message gets a prompt of what it says now, within the budget', async () => {
  const store = memoryStore();
  const bobbin = createBobbin({
    codec: said,
    counter: chars4(),
    budget: messagesOnly(2_000),
    store,
  });
  const rules: Said = { role: 'system', content: 'Be terse.' };
  const history: Said[] = [rules, { role: 'user', content: 'one' }];
  const first = await bobbin.fit(history);
  rules.content = 'Be polite. '.repeat(2_000);
  history.push({ role: 'assistant', content: 'two' }, { role: 'user', content: 'three' });
  const second = await bobbin.fit(history);

  assert.notEqual(second.plan.thread, first.plan.thread, 'another conversation');
  assert.equal(second.fits, true);
  assert.match(second.events.map((e) => ('message' in e ? e.message : '')).join(), /shortened/);
  const key = { tenant: 'default', thread: first.plan.thread };
  const [head] = await store.heads(key);
  assert.deepEqual(
    (await store.path(key, head ?? assert.fail())).map(({ message }) => message.original),
    [
      { role: 'system', content: 'Be terse.' },
      { role: 'user', content: 'one' },
    ],
    'what was said stays said',
  );
});

test('C1 a part that a host writes into is seen, however deep it lies', async () => {
  const bobbin = createBobbin(options);
  const part = { kind: 'text' as const, text: 'one' };
  const history: Message[] = [{ role: 'user', parts: [part] }, assistant('two'), user('three')];
  await bobbin.fit(history);
  part.text = 'uno';
  const { prompt } = await bobbin.fit(history);
  assert.deepEqual(
    prompt.messages.map(({ message, source }) => [message, source]),
    thread(user('uno'), assistant('two'), user('three'))
      .path()
      .map(({ id, message }) => [message, { kind: 'kept', id }]),
  );
});

test('decision 1 a host that sends equal messages again goes on with its thread, as does one that sends the same', async () => {
  const bobbin = createBobbin(options);
  const history: Message[] = [user('one'), assistant('two'), user('three')];
  const first = await bobbin.fit(history);
  const more = [...structuredClone(history), assistant('four'), user('five')];
  const second = await bobbin.fit(more);
  const third = await bobbin.fit([...more, assistant('six'), user('seven')]);
  assert.deepEqual([second.plan.thread, third.plan.thread], [first.plan.thread, first.plan.thread]);
  assert.equal(third.prompt.messages.length, 7);
});

test('decision 2 what is kept comes back as the very object that the host sent, unless it was written into', async () => {
  const bobbin = createBobbin({ codec: said, counter: chars4() });
  const history: Said[] = [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ];
  const fitted = await bobbin.fit(history);
  const [first, second] = history;
  if (second !== undefined) second.content = 'another two';
  assert.deepEqual(
    fitted.messages.map((message, i) => message === history[i]),
    [true, false, true],
  );
  assert.equal(fitted.messages[1]?.content, 'two', 'what was fitted is what was counted');
  assert.equal((await bobbin.fit(history)).messages[0], first);
});

test('a fork shows its newest request whole, although the conversation that it left has hidden it since', async () => {
  let now = 0;
  const bobbin = createBobbin({
    window: 8_000,
    clock: { now: () => now },
    onEvent: () => undefined,
  });
  const asked = { ...user('The code of the day is 4711.'), meta: { time: 0, ttlMs: 1_000 } };
  const whole = [asked, assistant('Noted.'), user('What is next?'), assistant('The tide.')];
  await bobbin.fit(whole.slice(0, 3));
  now = 60_000;
  const later = await bobbin.fit([...whole, user('And then?')]);
  assert.equal(textOf(later.messages[0] as Message), '[Hidden: no longer current]');
  const fork = await bobbin.fit([asked, assistant('Which day?')]);
  assert.equal(textOf(fork.messages[0] as Message), 'The code of the day is 4711.');
});

/** The same message as a host sends it that notes other things about it now. */
const noted = (message: Message): Message => ({ ...message, meta: { time: 7 } });

test('decision 1 a round that waits is taken once, although the host sends an earlier message in another form', async () => {
  const bobbin = createBobbin(options);
  const history = [user('one'), noted(user('two'))];
  await bobbin.fit([user('one'), user('two')]);
  await bobbin.fit(history);
  const asked = call('read', { path: 'a' });
  await bobbin.fit([...history, assistant(asked)]);
  const whole = [...history, assistant(asked), result(asked, 'text')];
  const { prompt } = await bobbin.fit(whole);
  assert.deepEqual(
    prompt.messages.map(({ source }) => source),
    thread(...whole)
      .path()
      .map(({ id }) => ({ kind: 'kept', id })),
  );
});

test('decision 1 a host that takes back all but what its last prompt shows begins again there', async () => {
  const bobbin = createBobbin({ ...options, budget: messagesOnly(40), onEvent: () => undefined });
  const rounds = Array.from({ length: 4 }, (_, i) => round('read', { i }, 'line '.repeat(80)));
  const first = await bobbin.fit([user('Go.'), ...rounds.flat()]);
  assert.deepEqual(first.messages, [user('Go.')]);
  const { plan } = await bobbin.fit([noted(user('Go.'))]);
  assert.notEqual(plan.thread, first.plan.thread);
  assert.deepEqual(plan.records, []);
});

test('decision 1 a fork goes on although the host changed the form of a message that both share', async () => {
  let now = 0;
  const bobbin = createBobbin({ ...options, clock: { now: () => now } });
  const expiring = { ...user('zero'), meta: { time: 0, ttlMs: 1_000 } };
  const shared = [expiring, assistant('one'), user('two')];
  await bobbin.fit(shared);
  await bobbin.fit([...shared, assistant('three'), user('four')]);
  now = 60_000;
  const fork = [expiring, assistant('one'), noted(user('two')), assistant('five'), user('six')];
  const { plan } = await bobbin.fit(fork);
  for (let i = 0; i < 6; i++) {
    fork.push(assistant(`answer ${i}`), user(`question ${i}`));
    assert.equal((await bobbin.fit(fork)).plan.thread, plan.thread);
  }
});
