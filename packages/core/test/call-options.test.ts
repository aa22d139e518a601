import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, textMessage } from '../src/index.ts';
import { step } from '../src/internal.ts';

/** What is asked for with one prompt, and the line that a slip gets. */
const SLIPS_OF_CALLS: readonly (readonly [options: unknown, problem: string])[] = [
  [null, 'the options must be an object, not null'],
  ['x', 'the options must be an object, not "x"'],
  [{ bugdet: {} }, 'there is no option bugdet (did you mean budget?)'],
  [{ instruction: 'x' }, 'there is no option instruction (did you mean instructions?)'],
  [{ instructions: 5 }, 'instructions must be a string, not 5'],
  [{ signal: 5 }, 'signal must be an AbortSignal, not 5'],
];

for (const [options, problem] of SLIPS_OF_CALLS)
  test(`a call with ${JSON.stringify(options)} is reported in a line, and the thread goes on`, async () => {
    const bobbin = createBobbin();
    const thread = await bobbin.thread('t');
    await thread.append(textMessage('user', 'Hi'));
    for (const asked of [
      () => bobbin.fit([textMessage('user', 'Hi')], options as object),
      () => thread.prompt(options as object),
      () => thread.compact(options as object),
      () => thread.refused({}, options as object),
    ])
      await assert.rejects(asked, { name: 'TypeError', message: problem });
    const { signal } = new AbortController();
    assert.equal((await thread.prompt({ signal, instructions: '' })).messages.length, 1);
  });

test('a refusal is what contextLimitOf returns, or sizes', async () => {
  const thread = await createBobbin().thread('t');
  await thread.append(textMessage('user', 'Hi'));
  await assert.rejects(thread.refused(null as never), {
    name: 'TypeError',
    message: 'refusal must be an object, not null',
  });
  await assert.rejects(thread.refused({ limit: 5 } as object), {
    name: 'TypeError',
    message: 'there is no option refusal.limit (did you mean refusal.limitTokens?)',
  });
  const refusal = { provider: 'openai', limitTokens: 9_000 };
  assert.equal((await thread.refused(refusal)).messages.length, 1);
});

test('a thread without a name is refused at once: it would mix up strangers', async () => {
  const bobbin = createBobbin();
  for (const [name, shown] of [
    ['', '""'],
    [undefined, 'undefined'],
    [7, '7'],
  ] as const)
    await assert.rejects(bobbin.thread(name as string), {
      name: 'RangeError',
      message: `the name of a thread must be a string that is not empty, not ${shown}`,
    });
});

test('what is retuned twice in a row is retuned twice: the second call keeps what the first one changed', async () => {
  const thread = await createBobbin().thread('t');
  for (let i = 0; i < 30; i++)
    await thread.append(
      textMessage('user', `Question ${i}`),
      textMessage('assistant', `Answer ${i}: ${'word '.repeat(200)}`),
    );
  await Promise.all([
    thread.reconfigure({ policy: step() }),
    thread.reconfigure({ budget: { windowTokens: 9_000 } }),
  ]);
  assert.equal((await thread.compact()).plan.policy, step().name);
});
