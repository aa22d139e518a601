import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, step, textMessage, type Message, type Policy } from '../src/index.ts';

const TAKEN: readonly (readonly [what: string, message: unknown, problem: string])[] = [
  ['OpenAI Chat', { role: 'user', content: 'Hello' }, 'has no parts'],
  [
    'the AI SDK',
    { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    'has a part without a kind',
  ],
  ['a text', 'Hello', 'has no parts'],
  ['nothing', undefined, 'has no parts'],
  [
    'another role',
    { role: 'developer', parts: [] },
    'has the role "developer", not system, user, assistant or tool',
  ],
];

for (const [what, message, problem] of TAKEN) {
  test(`a message of ${what} without a codec is told with its place and what to pass`, async () => {
    const wanted = {
      name: 'TypeError',
      message: `messages[1] is not one of Bobbin's own, it ${problem}: pass the codec of your format, such as codec: openaiChat of @bobbin/codecs`,
    };
    const messages = [textMessage('user', 'Hi'), message as Message];
    const bobbin = createBobbin();
    await assert.rejects(bobbin.fit(messages), wanted);
    await bobbin.fit(messages.slice(0, 1));
    await assert.rejects(bobbin.fit(messages), wanted, 'what is new is looked at');
    const thread = await bobbin.thread('t');
    await thread.append(textMessage('user', 'Hi'));
    await assert.rejects(thread.append(message as Message), wanted);
    assert.equal(thread.length, 1);
  });
}

test('a preset that was not called, or is no policy, is told in a line', () => {
  assert.throws(() => createBobbin({ preset: step as unknown as Policy }), {
    name: 'TypeError',
    message: 'preset: step is a function that makes a policy: call it, as in preset: step()',
  });
  assert.throws(() => createBobbin({ preset: { name: 'mine' } as Policy }), {
    name: 'TypeError',
    message: 'preset must be a policy with trigger, cut, ladder and style, or the name of a preset',
  });
});
