import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counterOf, type Message, type Usage } from '@bobbin/core';
import {
  budget,
  BUDGET_DEFAULTS,
  calibrate,
  chars4,
  contextLimit,
  contextSize,
  estimateMessagesTokens,
  estimateTokens,
  estimator,
  messageLimit,
  scaled,
  softLimit,
  startCalibration,
  STEP_DEFAULTS,
  stepThreshold,
  usageTokens,
  validUsage,
} from '@bobbin/core/internal';
import {
  assistant,
  call,
  file,
  image,
  opaque,
  reasoning,
  result,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';

const factor = (model?: string): number => startCalibration(model).factor;
const usage: Usage = {
  inputTokens: 1_000,
  outputTokens: 200,
  cacheReadTokens: 30_000,
  cacheWriteTokens: 4,
};

test('A1 four characters a token, rounded up; nothing for no text', () => {
  const texts = ['', 'a', 'abcd', 'abcde', 'x'.repeat(400)];
  assert.deepEqual(texts.map(estimateTokens), [0, 1, 1, 2, 100]);
  assert.deepEqual([undefined, null, 7, {}].map(estimateTokens), [0, 0, 0, 0]);
});

test('A2 two tokens a role and every kind of part counted', () => {
  const read = call('read', '{"path":"/a"}');
  const cases: readonly (readonly [Message, number])[] = [
    [user('12345678'), 2 + 2],
    [assistant(reasoning('1234', '12345678')), 2 + 1 + 2],
    [assistant('1234', read), 2 + 1 + 1 + 4],
    [result(read, '1234567'), 2 + 2],
    [result(read, [{ kind: 'text', text: '1234' }, image('a.png')]), 2 + 1 + 1_200],
    [user(file('a.pdf')), 2 + 2_500],
    [user(opaque('mystery', { of: 1 })), 2 + 2],
    [user(), 2],
  ];
  for (const [message, tokens] of cases) assert.equal(estimateMessagesTokens([message]), tokens);
  const all = cases.map(([message]) => message);
  assert.equal(
    estimateMessagesTokens(all),
    cases.reduce((sum, [, tokens]) => sum + tokens, 0),
  );
});

test('A3 the step layer compacts at 93 600 tokens by default', () => {
  assert.deepEqual(STEP_DEFAULTS, {
    modelContextLimit: 128_000,
    systemReserve: 2_000,
    outputReserve: 4_000,
    safetyBuffer: 5_000,
    thresholdPercent: 0.8,
    recentMessagesToKeep: 10,
  });
  assert.equal(stepThreshold(), 93_600);
  assert.equal(stepThreshold({ ...STEP_DEFAULTS, modelContextLimit: 200_001 }), 151_200);
});

test('A4 a window for each model, a fallback, and what the user adds', () => {
  assert.equal(contextLimit('gpt-4'), 8_192);
  assert.equal(contextLimit('gpt-4-turbo-2024-04-09'), 128_000);
  assert.equal(contextLimit('gpt-4o'), 128_000);
  assert.equal(contextLimit('claude-3-haiku-20240307'), 200_000);
  assert.equal(contextLimit('anthropic/claude-3-5-sonnet-20240620'), 200_000);
  assert.equal(contextLimit('a-model-of-my-own'), 128_000);
  assert.equal(contextLimit(undefined), 128_000);
  const own = { 'a-model': { windowTokens: 32_000 }, 'gpt-4o': { windowTokens: 64_000 } };
  assert.equal(contextLimit('a-model-of-my-own', own), 32_000);
  assert.equal(contextLimit('gpt-4o-mini', own), 64_000);
});

test('A15 a message is counted once, however often the prompt is asked for', async () => {
  const counted = new Map<string, number>();
  const counter = counterOf({
    name: 'witness',
    text: (text) => {
      counted.set(text, (counted.get(text) ?? 0) + 1);
      return estimateTokens(text);
    },
  });
  const watched = await WatchedThread.open({ counter });
  await watched.append(user('the first question'));
  // The laws count afresh, so the bare handle is asked here.
  await watched.handle.prompt();
  const once = counted.get('the first question');
  for (let i = 0; i < 20; i++) {
    await watched.handle.append(assistant(`answer ${i}`));
    await watched.handle.prompt();
  }
  assert.equal(once, 1);
  assert.deepEqual(new Set(counted.values()), new Set([1]));
});

test('B4 the size of a context is what the provider reported last, the rest estimated', () => {
  assert.equal(usageTokens(usage), 31_204);
  const reported = withMeta(assistant('done'), { usage });
  const later = [user('12345678'), assistant('1234')];
  assert.deepEqual(contextSize([user('old'), reported, ...later], chars4()), {
    tokens: 31_204 + 4 + 3,
    reportedTokens: 31_204,
  });
  assert.deepEqual(contextSize(later, chars4()), { tokens: 7, reportedTokens: 0 });
});

test('B4 usage of an aborted or failed message says nothing', () => {
  for (const status of ['aborted', 'error'] as const) {
    const broken = withMeta(assistant('1234'), { usage, status });
    assert.equal(validUsage(broken), undefined);
    const before = withMeta(assistant('x'), { usage: { ...usage, inputTokens: 1 } });
    assert.deepEqual(contextSize([before, broken], chars4()), {
      tokens: 30_205 + 3,
      reportedTokens: 30_205,
    });
  }
  assert.equal(validUsage(withMeta(user('hello'), { usage })), undefined);
  const nothing = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  assert.equal(validUsage(withMeta(assistant('1234'), { usage: nothing })), undefined);
});

test('in a small window less is kept free, so that messages have at least half of it', () => {
  assert.equal(messageLimit(budget({ windowTokens: 5_000 })), 2_500);
  assert.equal(messageLimit(budget({ windowTokens: 2_500 })), 1_250);
  assert.equal(messageLimit(budget({ windowTokens: 2_500, rehydrationTokens: 0 })), 2_250);
});

test('C13 a budget counts all that is sent with the messages', () => {
  assert.equal(BUDGET_DEFAULTS.softShare, 0.85);
  assert.equal(BUDGET_DEFAULTS.safetyTokens, 500);
  assert.equal(BUDGET_DEFAULTS.rehydrationTokens, 2_000);
  const whole = budget({
    windowTokens: 100_000,
    systemTokens: 3_000,
    toolTokens: 12_000,
    formattingTokens: 300,
    outputTokens: 8_000,
  });
  assert.equal(messageLimit(whole), 100_000 - (3_000 + 12_000 + 300 + 8_000 + 500 + 2_000));
  assert.equal(softLimit(whole), 85_000 - 25_800);
  assert.equal(messageLimit(budget({ windowTokens: 1_000, outputTokens: 600 })), 0);
});

test('C13 a budget that cannot be is refused by name', () => {
  assert.throws(() => budget({ toolTokens: -1 }), /budget\.toolTokens must be .* not -1/);
  assert.throws(() => budget({ windowTokens: Number.NaN }), /budget\.windowTokens/);
  assert.throws(() => budget({ softShare: 1.5 }), /budget\.softShare must be at most 1, not 1\.5/);
});

test('C14 a counter knows text, messages, tool schemas and the whole request', () => {
  const counter = chars4();
  const tools = [{ name: 'read', parameters: { type: 'object' } }];
  const messages = [user('12345678'), assistant('1234')];
  assert.equal(counter.text('12345'), 2);
  assert.equal(counter.message(user('12345678')), 4);
  assert.equal(counter.tools(tools), Math.ceil(JSON.stringify(tools).length / 4));
  assert.equal(
    counter.request({ system: '1234', tools, messages }),
    1 + counter.tools(tools) + 4 + 3,
  );
});

test('C14 pictures and documents cost what their provider charges', () => {
  const picture = user(image('a.png', { widthPx: 1_000, heightPx: 750 }));
  const unknown = user(image('a.png'));
  const document = user(file('a.pdf', { pages: 4 }));
  const prices = (provider?: 'anthropic' | 'openai' | 'google'): readonly number[] =>
    [picture, unknown, document].map((message) => chars4(provider).message(message) - 2);
  assert.deepEqual(prices(), [1_200, 1_200, 2_500]);
  assert.deepEqual(prices('anthropic'), [1_000, 1_600, 12_000]);
  assert.deepEqual(prices('openai'), [765, 1_445, 10_000]);
  assert.deepEqual(prices('google'), [516, 1_032, 1_032]);
});

test('C14 the estimator weighs what characters are: an ideograph costs several letters, letters without sense more than words', () => {
  const counter = estimator();
  const costs = ['word ', '会', 'qjxzv', '{', '\t', 'ዛ', '=', ' '].map((text) =>
    counter.text(text.repeat(1_000 / text.length)),
  );
  assert.deepEqual(costs, [207, 1_000, 635, 850, 301, 2_801, 25, 15]);
  assert.equal(counter.text(''), 0);
});

test('C14 letters between digits cost the same in both cases, more than those of a word', () => {
  const { text } = estimator();
  assert.deepEqual(
    ['a1b2c3d4e5f6a7b8', 'A1B2C3D4E5F6A7B8', 'abcdefabcdefabcd'].map((each) => text(each)),
    [18, 18, 5],
  );
});

test('C14 a calibration starts with its family and learns from what was reported', () => {
  assert.equal(startCalibration('gpt-5').samples, 0);
  assert.ok(factor('claude-opus-5') > factor('claude-3-5-sonnet'), 'newer models have more tokens');
  assert.ok(factor('claude-3-5-sonnet') > factor('gpt-5'));
  assert.ok(factor() >= factor('claude-3-5-sonnet'), 'an unknown model is no cheaper than a known');
  const first = calibrate({ factor: 1, samples: 0 }, 10_000, 15_000);
  assert.deepEqual(first, { factor: 1.5, samples: 1 });
  assert.deepEqual(calibrate(first, 100, 900), first, 'a small request teaches nothing');
});

test('C14 a calibration errs on the safe side: up at once, down half-way, within bounds', () => {
  const known = { factor: 1.5, samples: 3 };
  assert.deepEqual(calibrate(known, 10_000, 12_000), { factor: 1.8, samples: 4 });
  assert.deepEqual(calibrate(known, 10_000, 5_000), { factor: 1.125, samples: 4 });
  assert.equal(calibrate(known, 1_000, 100_000).factor, 4);
  let falling = known;
  for (let i = 0; i < 100; i++) falling = calibrate(falling, 10_000, 100);
  assert.equal(falling.factor, 0.5);
});

test('C14 a scaled counter rounds up and leaves the unscaled one alone', () => {
  const base = chars4();
  const more = scaled(base, { factor: 1.5, samples: 1 });
  assert.equal(more.text('12345678'), 3);
  assert.equal(more.message(user('1234')), 5);
  assert.equal(base.message(user('1234')), 3);
  assert.equal(scaled(base, { factor: 1, samples: 1 }), base);
});

test('C14 fields that no codec reads are sent all the same, and counted', () => {
  const plain = user('hello');
  const annotated = { ...plain, extra: { annotations: 'x'.repeat(4_000) } };
  assert.ok(chars4().message(annotated) >= chars4().message(plain) + 1_000);
  assert.ok(estimator().message(annotated) > estimator().message(plain));
});
