import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as ai7 from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { aiSdkBobbin, type AiSdkBobbin } from '@bobbin/adapters/ai-sdk';
import type { AiSdkMessage } from '@bobbin/codecs';
import { memoryStore } from '@bobbin/core';
import {
  type Answer,
  type Generate,
  LONG,
  TOO_LONG,
  answer,
  said,
  talkOf,
  textsOf,
  threadsOf,
  user,
} from './ai-sdk-talk.ts';

/** A model with Bobbin's middleware; what it is asked with is kept. */
function watched(
  bobbin: AiSdkBobbin,
  doGenerate: (asked: string, times: number) => Promise<Answer>,
): { readonly model: ai7.LanguageModel; readonly asked: readonly string[] } {
  const asked: string[] = [];
  const script: Generate = {
    doGenerate: ({ prompt }) => {
      asked.push(JSON.stringify(prompt));
      return doGenerate(asked.at(-1) ?? '', asked.length);
    },
  };
  const model = ai7.wrapLanguageModel({
    model: new MockLanguageModelV4(script),
    middleware: bobbin.middleware,
  });
  return { model, asked };
}

/** Asks for an answer; something may happen between the preparation of the step and the call of the model. */
async function ask(
  bobbin: AiSdkBobbin,
  model: ai7.LanguageModel,
  messages: AiSdkMessage[],
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string> {
  const { text } = await ai7.generateText({
    model,
    messages: messages as ai7.ModelMessage[],
    async prepareStep(asked) {
      const prepared = await bobbin.prepareStep(asked);
      await meanwhile();
      return prepared;
    },
    onStepFinish: bobbin.onStepFinish,
    maxRetries: 0,
  });
  return text;
}

for (const [kind, talk] of [
  ['compacted', talkOf],
  ['that begin alike', (who: string) => [user('Hi'), said('Hello'), user(`I am ${who} ${LONG}`)]],
] as const) {
  test(`E3 of two conversations ${kind} the one that is refused is sent again with its own messages`, async () => {
    const bobbin = aiSdkBobbin({ window: 8_000 });
    const gate = Promise.withResolvers<void>();
    const alice = watched(bobbin, async () => {
      await gate.promise;
      return answer('for Alice');
    });
    const bob = watched(bobbin, (_, times) =>
      times === 1 ? Promise.reject(TOO_LONG) : Promise.resolve(answer('for Bob')),
    );
    let waiting: Promise<string> | undefined;
    const text = await ask(bobbin, bob.model, talk('BOB'), async () => {
      waiting = ask(bobbin, alice.model, talk('ALICE'));
      while (alice.asked.length === 0) await sleep(1);
    });
    gate.resolve();
    assert.deepEqual([text, await waiting], ['for Bob', 'for Alice']);
    assert.equal(bob.asked.length, 2);
    assert.match(bob.asked[1] ?? '', /BOB/);
    assert.doesNotMatch(bob.asked.join('\n'), /ALICE/);
    assert.doesNotMatch(alice.asked.join('\n'), /BOB/);
  });
}

test('E3 what a stranger says after the same words is not sent again with a refused request', async () => {
  const store = memoryStore();
  const bobbin = aiSdkBobbin({ window: 8_000, store });
  const hello = [user('Hi'), said('Hello'), user(`What is on? ${LONG}`)];
  const bob = watched(bobbin, async (_, times) => {
    if (times > 1) return answer('for Bob');
    // While Bob waits, Alice, who has said the same so far, goes on.
    await bobbin.prepareStep({ messages: [...hello, said('Much'), user('ALICE-1234')], steps: [] });
    throw TOO_LONG;
  });
  assert.equal(await ask(bobbin, bob.model, hello), 'for Bob');
  assert.doesNotMatch(bob.asked.join('\n'), /ALICE/);
  const texts = (await textsOf(store)).map((text) => text.replaceAll(LONG, '').trim());
  assert.deepEqual(texts, [
    'Hi | Hello | What is on?  | Much | ALICE-1234',
    'Hi | Hello | What is on?  | for Bob',
  ]);
});

test('A14 a prompt that is asked for while a stranger goes on holds nothing of theirs', async () => {
  const bobbin = aiSdkBobbin();
  await bobbin.prepareStep({ messages: [user('Hi')], steps: [] });
  const [mine] = await Promise.all([
    bobbin.prepareStep({ messages: [user('Hi')], steps: [] }),
    bobbin.prepareStep({ messages: [user('Hi'), said('Hello'), user('ALICE-1234')], steps: [] }),
  ]);
  assert.deepEqual(mine.messages, [user('Hi')]);
});

test('C26 who begins alike recalls nothing of the other', async () => {
  const store = memoryStore();
  const bobbin = aiSdkBobbin({ window: 8_000, store });
  const [alice, bob] = [talkOf('alice', 'Hi'), talkOf('bob', 'Hi')];
  alice[8] = user('alice: the passphrase is tangerine-horizon-88');
  for (const talk of [alice, bob])
    for (let length = 1; length <= talk.length; length += 2)
      await bobbin.prepareStep({ messages: talk.slice(0, length), steps: [] });
  const recalled = async (messages: AiSdkMessage[]): Promise<string> =>
    bobbin.tools.recall.execute({ query: 'passphrase tangerine' }, { messages });
  assert.match(await recalled(alice), /tangerine-horizon-88/);
  assert.equal(await recalled(bob), 'Nothing that was compacted holds these words.');
  assert.equal((await threadsOf(store)).length, 2);
});

test('C26 a conversation that turns off takes its plan along, and recalls what was said before', async () => {
  const bobbin = aiSdkBobbin({ window: 8_000 });
  const talk = talkOf('alice');
  talk[8] = user('the passphrase is tangerine-horizon-88');
  const { messages: before } = await bobbin.prepareStep({ messages: talk, steps: [] });
  await bobbin.prepareStep({ messages: [...talk, said('A'), user('B')], steps: [] });
  const edited = [...talk, said('A'), user('C')];
  const { messages: after } = await bobbin.prepareStep({ messages: edited, steps: [] });
  assert.deepEqual(after.slice(0, 2), before.slice(0, 2), 'the same summary');
  const query = { query: 'passphrase tangerine' };
  assert.match(
    await bobbin.tools.recall.execute(query, { messages: edited }),
    /tangerine-horizon-88/,
  );
});

/** How often messages of a list are looked into in a step, beside so many other conversations. */
async function looksBeside(others: number): Promise<number> {
  const bobbin = aiSdkBobbin({ window: 1_000_000 });
  for (let i = 0; i < others; i++)
    await bobbin.prepareStep({ messages: [user(`other ${i}`)], steps: [] });
  let looks = 0;
  const list = Array.from({ length: 101 }, (_, i): AiSdkMessage => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    get content() {
      looks += 1;
      return `message ${i}`;
    },
  }));
  await bobbin.prepareStep({ messages: list, steps: [] });
  looks = 0;
  await bobbin.prepareStep({ messages: [...list, said('a'), user('b')], steps: [] });
  return looks;
}

test('A14 a step looks into its messages no more often beside many conversations', async () => {
  assert.equal(await looksBeside(40), await looksBeside(0));
});
