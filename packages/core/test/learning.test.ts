import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, memoryStore, when, type Message } from '@bobbin/core';
import { chars4, ladder, type MessageMeta } from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread, withMeta } from '@bobbin/testing';

/** What a provider says of a request of so many tokens. */
const reported = (inputTokens: number): MessageMeta => ({
  usage: { inputTokens, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 },
});
const answer = (text: string, inputTokens: number): Message =>
  withMeta(assistant(text), reported(inputTokens));
const sizeOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + chars4().message(message), 0);
const long = (tokens: number): Message => user('x'.repeat(tokens * 4 - 8));
/** What a window of 60 000 tokens leaves to the messages where nothing else is in it. */
const SPACE = 60_000 - 500 - 2_000;

test('C14 a thread learns its factor from the usage of the answers it gets', async () => {
  const declared = { formattingTokens: 1 };
  const watched = await WatchedThread.open({
    counter: chars4(),
    window: 200_000,
    budget: declared,
  });
  await watched.append(user('x'.repeat(40_000)));
  assert.equal((await watched.prompt()).prompt.tokens, 10_002);
  await watched.append(answer('ok', 17_005));
  const factor = 17_004 / 10_002;
  assert.equal(
    (await watched.prompt()).prompt.tokens,
    Math.ceil(10_002 * factor) + Math.ceil(3 * factor),
  );
});

test('a count that is a tenth too high is corrected in small steps', async () => {
  const budget = { formattingTokens: 1 };
  const watched = await WatchedThread.open({ counter: chars4(), window: 200_000, budget });
  await watched.append(user('x'.repeat(40_000)));
  for (let i = 0; i < 12; i++) {
    await watched.prompt();
    const counted = sizeOf(watched.handle.messages);
    await watched.append(answer('ok', Math.round(counted * 0.9) + 1), user('And now?'));
  }
  const { tokens } = (await watched.prompt()).prompt;
  const share = tokens / sizeOf(watched.handle.messages);
  assert.ok(share > 0.9 && share < 0.955, `${share} of the count`);
});

test('a report about another request teaches nothing, and messages keep half of the window', async () => {
  const watched = await WatchedThread.open({ counter: chars4(), window: 60_000 });
  await watched.append(user('x'.repeat(4_000)));
  const { limitTokens } = await watched.prompt();
  await watched.append(answer('ok', 375_000));
  const after = await watched.prompt();
  assert.deepEqual([after.limitTokens, after.prompt.tokens], [limitTokens, 1_002 + 3]);
  await watched.append(user('x'.repeat(40)), answer('ok', 33_000));
  assert.ok((await watched.prompt()).limitTokens >= 60_000 / 2 - 2_500);
});

test('C14 an undeclared system prompt is measured by the first report', async () => {
  const watched = await WatchedThread.open({ counter: chars4(), window: 200_000 });
  await watched.append(user('x'.repeat(4_000)));
  const { tokens } = (await watched.prompt()).prompt;
  await watched.append(answer('ok', tokens + 9_000));
  const { prompt, limitTokens } = await watched.prompt();
  assert.equal(prompt.tokens, tokens + 3, 'the factor is as it was');
  assert.equal(limitTokens, 200_000 - 500 - 2_000 - 9_000, 'the rest is taken from the window');
});

test('B4 of several answers that come at once the first answers the prompt that was sent', async () => {
  const watched = await WatchedThread.open({ counter: chars4(), window: 60_000 });
  const first = long(1_000);
  await watched.append(first);
  await watched.prompt();
  const sent = sizeOf([first]) + 300;
  await watched.append(answer('a', sent), long(25_000), answer('b', sent + 25_003));
  const { limitTokens, compacted } = await watched.prompt();
  assert.deepEqual([limitTokens, compacted], [SPACE - 300, false]);
  assert.equal(watched.handle.counter.name, 'chars4');
});

test('B4 a host that fits once a turn teaches the size of the rest of its request, not what its rounds added', async () => {
  const bobbin = createBobbin({ counter: chars4(), window: 60_000 });
  const history: Message[] = [user('go')];
  await bobbin.fit(history);
  const limits: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    for (let i = 0; i < 8; i++) {
      const [calls, result] = round('read', { turn, i }, 'r'.repeat(4_000));
      history.push(withMeta(calls, reported(sizeOf(history) + 300)), result);
    }
    history.push(answer('done', sizeOf(history) + 300), user('next'));
    limits.push((await bobbin.fit(history)).limitTokens);
  }
  assert.deepEqual(limits, [SPACE - 300, SPACE - 300, SPACE - 300]);
});

test('B4 what was said between a prompt and its answer was sent with it', async () => {
  const watched = await WatchedThread.open({ counter: chars4(), window: 60_000 });
  await watched.append(user('go'));
  await watched.prompt();
  const asked = long(5_000);
  await watched.append(asked, answer('ok', sizeOf([user('go'), asked]) + 300));
  assert.equal((await watched.prompt()).limitTokens, SPACE - 300);
});

test('C14 the measured size of the rest of the request falls slowly, and at once if there are fewer messages', async () => {
  const watched = await WatchedThread.open({ counter: chars4(), window: 60_000 });
  const limit = async (beside: number, ...said: readonly Message[]): Promise<number> => {
    await watched.append(...said);
    const { prompt } = await watched.prompt();
    await watched.append(answer('ok', prompt.tokens + beside));
    return (await watched.prompt()).limitTokens;
  };
  assert.equal(await limit(9_000, long(20_000)), SPACE - 9_000, 'something was sent along');
  const later = await limit(300, long(1_000));
  assert.ok(later > SPACE - 9_000 && later < SPACE - 300, `${later}`);
  assert.ok((await limit(300, long(1_000))) > later);
  const { compacted } = await watched.handle.compact();
  assert.equal(compacted, true);
  assert.equal(await limit(300, user('on')), SPACE - 300);
});

test('C14 what is declared for the rest of the request is not scaled with the messages: the factor is up at once', async () => {
  const declared = { systemTokens: 40_000 };
  const watched = await WatchedThread.open({
    counter: chars4(),
    window: 200_000,
    budget: declared,
  });
  await watched.append(long(3_000));
  await watched.prompt();
  await watched.append(answer('ok', 46_000));
  assert.equal(watched.handle.counter.name, 'chars4', 'nothing is learnt from a small share');
  await watched.append(long(2_000));
  const { tokens } = (await watched.prompt()).prompt;
  await watched.append(answer('ok', 40_000 + Math.round(tokens * 1.5)));
  assert.equal(watched.handle.counter.name, 'chars4×1.500');
});

test('B4 a resumed thread learns from the last answer, so that every trigger sees what was reported', async () => {
  const options = { counter: chars4(), window: 40_000, store: memoryStore() };
  const watched = await WatchedThread.open(options);
  await watched.append(user('go'));
  for (let i = 0; i < 8; i++) await watched.append(assistant('work '.repeat(2_000)), user('next'));
  await watched.append(answer('and work', 39_000), user('next'));
  await watched.reopen();
  const { compacted, limitTokens } = await watched.prompt();
  assert.equal(compacted, true);
  assert.equal(
    limitTokens,
    40_000 - 500 - 2_000 - (39_000 - sizeOf(watched.thread.messages.slice(0, -2))),
  );
});

test('B4 what was reported before the plan was made, or under one that was undone, teaches a resumed thread nothing', async () => {
  const options = { counter: chars4(), window: 40_000, store: memoryStore() };
  const watched = await WatchedThread.open(options);
  await watched.append(user('go'), long(10_000), answer('ok', 39_000), user('next'));
  await watched.handle.compact();
  const limit = 40_000 - 500 - 2_000;
  await watched.reopen();
  assert.equal((await watched.prompt()).limitTokens, limit);
  await watched.append(answer('ok', 39_000), user('next'));
  await watched.handle.undo();
  await watched.reopen();
  assert.equal((await watched.prompt()).limitTokens, limit);
});

test('B4 a resumed thread learns from every report on its path, as one that stayed open', async () => {
  const options = { counter: chars4(), window: 200_000, store: memoryStore() };
  const declared = { ...options, budget: { formattingTokens: 1 } };
  const watched = await WatchedThread.open(declared);
  for (const factor of [1.6, 1.2, 1.2]) {
    await watched.append(long(4_000));
    const { tokens } = (await watched.prompt()).prompt;
    const units = sizeOf(watched.thread.messages);
    assert.ok(tokens >= units);
    await watched.append(answer('ok', Math.round(units * factor) + 1));
  }
  const { name } = watched.handle.counter;
  await watched.reopen();
  assert.notEqual(name, 'chars4×1.200', 'a factor falls slowly');
  assert.equal(watched.handle.counter.name, name);
});

test('B4 what was reported under a plan is forgotten when the plan is undone', async () => {
  const seen: number[] = [];
  const trigger = when('never', ({ contextTokens }) => {
    seen.push(contextTokens);
    return false;
  });
  const preset = { ...ladder(), trigger };
  const watched = await WatchedThread.open({ counter: chars4(), window: 60_000, preset });
  await watched.append(user('go'), assistant('work '.repeat(8_000)), user('next'));
  await watched.compact();
  await watched.append(answer('ok', 2_000), user('and?'));
  await watched.handle.undo();
  await watched.append(user('so?'));
  const { prompt } = await watched.prompt();
  assert.equal(seen.at(-1), prompt.tokens);
});
