import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createBobbin, textMessage, type BobbinOptions, type Message } from '@bobbin/core';
import { call, result, user } from '@bobbin/testing';

/** What is written to the console while a task runs. */
function written(t: TestContext): readonly string[] {
  const lines: string[] = [];
  t.mock.method(console, 'warn', (line: string) => lines.push(line));
  return lines;
}

function talk(count: number): Message[] {
  return Array.from({ length: count }, (_, i) =>
    textMessage(i % 2 === 0 ? 'user' : 'assistant', `Step ${i}: ${'it goes on. '.repeat(40)}`),
  );
}

const FAILING = { id: 'down', summarize: () => Promise.reject(new Error('no such key')) };

test('warnings are written once each: an unknown model, a summarizer that fails', async (t) => {
  const lines = written(t);
  const bobbin = createBobbin({ model: 'llama-9', summarizer: FAILING, preset: 'claude-code' });
  const history = talk(30);
  for (let round = 0; round < 3; round++) {
    history.push(textMessage('user', `Round ${round}`));
    await bobbin.fit(history);
    await bobbin.compact(history);
  }
  assert.deepEqual(lines, [
    'bobbin: nothing is known of the model "llama-9": a window of 128000 tokens is assumed; say yours with window',
    'bobbin: down: no such key; the extract is used instead',
  ]);
});

test('a new result that was shortened is written once', async (t) => {
  const lines = written(t);
  const bobbin = createBobbin({ window: 6_000 });
  const history: Message[] = [user('Read it.')];
  for (let round = 0; round < 3; round++) {
    const read = call('read', { round });
    history.push({ role: 'assistant', parts: [read] }, result(read, 'line of it\n'.repeat(4_000)));
    await bobbin.fit(history);
  }
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? '',
    /^bobbin: a new tool result was shortened by \d+ tokens to fit the window; with bobbin\.tools the model could read all of it$/,
  );
});

test('onEvent replaces what is written', async (t) => {
  const lines = written(t);
  const heard: string[] = [];
  const onEvent: NonNullable<BobbinOptions['onEvent']> = (event) =>
    event.kind === 'warning' && heard.push(event.message);
  await createBobbin({ model: 'llama-9', onEvent }).fit(talk(2));
  assert.deepEqual([lines.length, heard.length], [0, 1]);
});

test('a preset that was mistyped and a window of nothing are reported in a line', () => {
  assert.throws(() => createBobbin({ preset: 'lader' as 'ladder' }), {
    name: 'RangeError',
    message: /^there is no preset "lader" \(did you mean ladder\?\); choose one of ladder, /,
  });
  for (const options of [{ window: 0 }, { budget: { windowTokens: 0 } }])
    assert.throws(() => createBobbin(options), {
      name: 'TypeError',
      message: /^(window|budget\.windowTokens) must be a number of at least 1, not 0$/,
    });
});
