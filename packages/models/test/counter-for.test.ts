import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, textMessage } from '@bobbin/core';
import { estimator, scaled, startCalibration } from '@bobbin/core/internal';
import { bpe, counterFor } from '@bobbin/models';

const message = textMessage(
  'user',
  'Wind the thread on the bobbin; the whole of it stays. 中文 🧵',
);

test('C14 a model whose tokenizer is public is counted exactly', async () => {
  for (const [model, encoding] of [
    ['gpt-6-sol', 'o200k'],
    ['openai/gpt-4o-mini', 'o200k'],
    ['gpt-4-0613', 'cl100k'],
  ] as const) {
    const counter = await counterFor(model);
    const exact = await bpe(encoding);
    assert.deepEqual([counter.name, counter.message(message)], [encoding, exact.message(message)]);
  }
});

test('C14 any other model has the estimate times the factor of its family', async () => {
  for (const model of ['claude-opus-5', 'gemini-3.8-flash', 'my-own-model', undefined]) {
    const counter = await counterFor(model);
    const expected = scaled(estimator(), startCalibration(model));
    assert.deepEqual(
      [counter.name, counter.message(message)],
      [expected.name, expected.message(message)],
    );
  }
});

test("C14 the user's own facts choose the tokenizer", async () => {
  const counter = await counterFor('corp-large', {
    'corp-': { windowTokens: 64_000, encoding: 'o200k' },
  });
  assert.equal(counter.name, 'o200k');
});

test('with a model whose tokenizer is installed, createBobbin counts exactly', async () => {
  const exact = await counterFor('gpt-5');
  const { prompt } = await createBobbin({ model: 'gpt-5' }).fit([message]);
  assert.equal(prompt.tokens, exact.message(message));
  assert.equal((await createBobbin({ model: 'gpt-5' }).thread('t')).counter.name, exact.name);
  const estimated = await createBobbin({ model: 'claude-opus-5' }).fit([message]);
  assert.notEqual(estimated.prompt.tokens, exact.message(message));
});
