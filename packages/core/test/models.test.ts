import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BobbinOptions, createBobbin, textMessage } from '@bobbin/core';
import { contextLimit, modelFacts } from '@bobbin/core/internal';

test('A4 the limit is found by the longest prefix of the model id', () => {
  const limits = {
    'claude-opus-4-1-20250805': 200_000,
    'claude-opus-4-5-20251101': 200_000,
    'claude-opus-4-8': 1_000_000,
    'claude-sonnet-5-5': 1_000_000,
    'claude-haiku-4-5-20251001': 200_000,
    'gpt-4': 8_192,
    'gpt-4-0613': 8_192,
    'gpt-4-1106-preview': 128_000,
    'gpt-4-turbo-2024-04-09': 128_000,
    'gpt-4o-mini': 128_000,
    'gpt-4.1-nano': 1_047_576,
    o3: 200_000,
    'o1-mini': 128_000,
    'gemini-3.8-flash': 1_048_576,
    'kimi-k3.1-pro': 1_048_576,
  };
  const found = Object.fromEntries(Object.keys(limits).map((id) => [id, contextLimit(id)]));
  assert.deepEqual(found, limits);
});

test('A4 where the input is bounded apart from the window, the bound is the limit', () => {
  assert.equal(contextLimit('gpt-5'), 400_000 - 128_000);
  assert.equal(contextLimit('gpt-6-sol'), 1_050_000 - 128_000);
});

test('A4 a gateway, a region and a vendor before the id change nothing', () => {
  const { windowTokens } = modelFacts('claude-opus-4-8');
  for (const id of [
    'anthropic/claude-opus-4.8',
    'openrouter/anthropic/claude-opus-4.8',
    'us.anthropic.claude-opus-4-8-v1:0',
    'Claude-Opus-4-8',
  ])
    assert.deepEqual([id, contextLimit(id)], [id, windowTokens]);
  assert.equal(contextLimit('gpt-5.4-mini'), contextLimit('openai/gpt-5.4-mini'));
});

test('A4 an unknown model, and no model, have the fallback', () => {
  assert.deepEqual(modelFacts('my-own-model'), { windowTokens: 128_000 });
  assert.deepEqual(modelFacts(undefined), { windowTokens: 128_000 });
});

/** The warnings of a thread's first two prompts. */
async function warningsWith(options: BobbinOptions): Promise<readonly string[]> {
  const thread = await createBobbin(options).thread('t');
  const warnings: string[] = [];
  for (const text of ['Hello', 'Still there?']) {
    await thread.append(textMessage('user', text));
    const { events } = await thread.prompt();
    for (const event of events) if (event.kind === 'warning') warnings.push(event.message);
  }
  return warnings;
}

test('A4 an assumed window is reported with the first prompt, once; a given or known one is not', async () => {
  const model = 'my-own-model';
  assert.deepEqual(await warningsWith({ model }), [
    'nothing is known of the model "my-own-model": a window of 128000 tokens is assumed; say yours with window',
  ]);
  assert.deepEqual(await warningsWith({ model: 'gpt5' }), [
    'nothing is known of the model "gpt5" (did you mean gpt-5?): a window of 128000 tokens is assumed; say yours with window',
  ]);
  assert.deepEqual(await warningsWith({ model, window: 32_000 }), []);
  assert.deepEqual(await warningsWith({ model, budget: { windowTokens: 32_000 } }), []);
  assert.deepEqual(await warningsWith({ model, models: { 'my-': { windowTokens: 32_000 } } }), []);
  assert.deepEqual(await warningsWith({ model: 'gpt-5' }), []);
  assert.deepEqual(await warningsWith({}), []);
});

test("A4 the user's own facts win, by full id or by bare id", () => {
  const own = {
    'my-': { windowTokens: 32_000 },
    'claude-opus': { windowTokens: 500_000 },
    'corp/gpt-5': { windowTokens: 90_000 },
  };
  assert.equal(contextLimit('my-own-model', own), 32_000);
  assert.equal(contextLimit('anthropic/claude-opus-5', own), 500_000);
  assert.equal(contextLimit('corp/gpt-5', own), 90_000);
  assert.equal(contextLimit('openai/gpt-5', own), 272_000);
});

test('A4 a row gives provider, tokenizer and cache', () => {
  assert.deepEqual(modelFacts('claude-fable-5-1'), {
    windowTokens: 1_000_000,
    provider: 'anthropic',
    cache: { writePrice: 1.25, readPrice: 0.025, ttlMs: 300_000, minimumTokens: 512, markers: 4 },
  });
  assert.deepEqual(modelFacts('gpt-5-mini'), {
    windowTokens: 272_000,
    provider: 'openai',
    encoding: 'o200k',
    cache: { writePrice: 1, readPrice: 0.1, ttlMs: 300_000, minimumTokens: 1024, markers: 0 },
  });
  assert.deepEqual(modelFacts('gpt-6.1-sol'), {
    windowTokens: 922_000,
    provider: 'openai',
    encoding: 'o200k',
    cache: { writePrice: 1.25, readPrice: 0.05, ttlMs: 1_800_000, minimumTokens: 1024, markers: 4 },
  });
  assert.deepEqual(modelFacts('gpt-3.5-turbo'), {
    windowTokens: 16_385,
    provider: 'openai',
    encoding: 'cl100k',
  });
});
