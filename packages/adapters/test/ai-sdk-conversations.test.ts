import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as ai7 from 'ai';
import * as ai6 from 'ai6';
import { MockLanguageModelV3 } from 'ai6/test';
import { MockLanguageModelV4 } from 'ai/test';
import * as z4 from 'zod';
import * as z3 from 'zod/v3';
import {
  aiSdkBobbin,
  type AiSdkBobbin,
  type AiSdkOptions,
  type FinishedStep,
} from '@bobbin/adapters/ai-sdk';
import type { AiSdkMessage } from '@bobbin/codecs';
import {
  memoryStore,
  textOf,
  type Message,
  type MessageId,
  type Store,
  type ThreadId,
} from '@bobbin/core';
import { isSummary } from '@bobbin/core/internal';

const user = (content: string): AiSdkMessage => ({ role: 'user', content });
const said = (content: string): AiSdkMessage => ({ role: 'assistant', content });
const LONG = 'lorem ipsum dolor sit '.repeat(60);

/** What each thread of a store holds: every one is a single path. */
async function threadsOf(store: Store): Promise<readonly (readonly Message[])[]> {
  const threads = await store.threads('default', 100);
  return Promise.all(
    threads.map(async ({ thread }) => {
      const key = { tenant: 'default', thread };
      const heads = await store.heads(key);
      assert.equal(heads.length, 1, 'a thread that no host named is one path');
      return (await store.path(key, heads[0] as MessageId)).map(({ message }) => message);
    }),
  );
}

async function textsOf(store: Store): Promise<readonly string[]> {
  const threads = await threadsOf(store);
  return threads.map((messages) => messages.map(textOf).join(' | ')).toSorted();
}

/** A long talk of somebody, whose every message names them. */
function talkOf(who: string, beginning: string = `I am ${who}`): AiSdkMessage[] {
  const rounds = Array.from({ length: 25 }, (_, i) => [
    said(`${who} answer ${i} ${LONG}`),
    user(`${who} question ${i} ${LONG}`),
  ]);
  return [user(beginning), ...rounds.flat()];
}

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const STOP = { unified: 'stop', raw: 'stop' } as const;
const CALL = { type: 'tool-call', toolCallId: 'c1', toolName: 'remove', input: '{}' } as const;
const CALLS = { unified: 'tool-calls', raw: 'tool-calls' } as const;
const TOO_LONG = Object.assign(new Error('prompt is too long: 9000 tokens > 8000 maximum'), {
  status: 400,
});

type Generate = ConstructorParameters<typeof MockLanguageModelV4>[0];
/** What a model of either major answers. */
interface Answer {
  content: ({ type: 'text'; text: string } | typeof CALL)[];
  finishReason: typeof STOP | typeof CALLS;
  usage: typeof USAGE;
  warnings: [];
}
const answer = (text: string): Answer => ({
  content: [{ type: 'text', text }],
  finishReason: STOP,
  usage: USAGE,
  warnings: [],
});

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

test('E3 what a stranger says behind the same words is not sent again with a refused request', async () => {
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

/** A step as the SDK takes it: listed with its run, then told of. */
async function step(
  bobbin: AiSdkBobbin,
  messages: AiSdkMessage[],
  ...answers: AiSdkMessage[]
): Promise<void> {
  const steps: FinishedStep[] = [];
  await bobbin.prepareStep({ messages, steps });
  const finished = { usage: {}, response: { messages: answers } };
  steps.push(finished);
  await bobbin.onStepFinish(finished);
}

const KEY = { tenant: 'default', thread: 'session' as ThreadId };

/** A stored session of 61 messages, resumed; what a head of it says, and what nobody said. */
async function resumed(options: AiSdkOptions = {}): Promise<{
  readonly bobbin: AiSdkBobbin;
  readonly active: AiSdkMessage[];
  readonly path: () => Promise<readonly string[]>;
}> {
  const store = memoryStore();
  const setting = { store, thread: KEY.thread, window: 8_000, ...options };
  const messages = talkOf('alice', 'Hi').concat(
    Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? said(`a${i}`) : user(`q${i}`))),
  );
  await aiSdkBobbin(setting).prepareStep({ messages, steps: [] });
  const bobbin = aiSdkBobbin(setting);
  const active = await bobbin.loadActiveMessages();
  assert.ok(active.length < messages.length);
  return {
    bobbin,
    active,
    async path() {
      const [head] = await store.heads(KEY);
      const path = (await store.path(KEY, head as MessageId)).map(({ message }) => message);
      assert.deepEqual(path.filter(isSummary), []);
      assert.deepEqual(
        (await store.threads('default', 9)).map(({ thread }) => thread),
        [KEY.thread],
      );
      return path.map(textOf).slice(57);
    },
  };
}

test('A14 on a resumed session an edited question is a fork without what nobody said', async () => {
  const { bobbin, active, path } = await resumed();
  const first = [...active, said('ok'), user('one')];
  await step(bobbin, first, said('1'));
  assert.deepEqual(await path(), ['a6', 'q7', 'a8', 'q9', 'ok', 'one', '1']);
  await bobbin.prepareStep({ messages: [...active, said('ok'), user('two')], steps: [] });
  assert.deepEqual(await path(), ['a6', 'q7', 'a8', 'q9', 'ok', 'two']);
  await bobbin.prepareStep({ messages: [...first, said('1'), user('on')], steps: [] });
  assert.deepEqual(await path(), ['a6', 'q7', 'a8', 'q9', 'ok', 'one', '1', 'on']);
});

test('A14 on a resumed session what was loaded can be edited and answered anew', async () => {
  const { bobbin, active, path } = await resumed();
  await bobbin.prepareStep({ messages: [...active.slice(0, -1), user('Q9')], steps: [] });
  assert.deepEqual(await path(), ['a6', 'q7', 'a8', 'Q9']);
  await bobbin.prepareStep({ messages: [...active, said('a10'), user('q11')], steps: [] });
  assert.deepEqual(await path(), ['a6', 'q7', 'a8', 'q9', 'a10', 'q11']);
  await step(bobbin, active.slice(0, -2), said('A8'));
  assert.deepEqual(await path(), ['a6', 'q7', 'A8']);
});

test('A14 what was loaded is known for as long as the host goes on from it', async () => {
  let compactions = 0;
  const { bobbin, active, path } = await resumed({ onAfterCompaction: () => (compactions += 1) });
  compactions = 0;
  const list = [...active];
  for (let i = 0; i < 30; i++) {
    // In the middle the user edits: the conversation turns off.
    if (i === 15) list.splice(-2);
    list.push(said(`A${i} ${LONG}`), user(`Q${i} ${LONG}`));
    await bobbin.prepareStep({ messages: list, steps: [] });
  }
  assert.ok(compactions >= 2, `${compactions} compactions`);
  assert.equal((await path()).length, 4 + 2 * 29);
});

interface Approving {
  readonly removed: () => number;
  /** Runs an agent whose tool waits for an approval. */
  readonly run: (bobbin: AiSdkBobbin, messages: AiSdkMessage[]) => Promise<string>;
}

/** First calls the tool, then says that it is done. */
const approving: Readonly<Record<'6' | '7', () => Approving>> = {
  7: () => {
    let [removed, asked] = [0, 0];
    const remove = ai7.tool({
      inputSchema: ai7.jsonSchema({ type: 'object' }),
      needsApproval: true,
      execute: () => `removed ${(removed += 1)}`,
    });
    const doGenerate = async (): Promise<Answer> =>
      (asked += 1) === 1 ? { ...answer(''), content: [CALL], finishReason: CALLS } : answer('done');
    return {
      removed: () => removed,
      async run({ prepareStep, onStepFinish }, messages) {
        const { text } = await ai7.generateText({
          model: new MockLanguageModelV4({ doGenerate }),
          messages: messages as ai7.ModelMessage[],
          tools: { remove },
          stopWhen: ai7.isStepCount(5),
          prepareStep,
          onStepFinish,
        });
        return text;
      },
    };
  },
  6: () => {
    let [removed, asked] = [0, 0];
    const remove = ai6.tool({
      inputSchema: ai6.jsonSchema({ type: 'object' }),
      needsApproval: true,
      execute: () => `removed ${(removed += 1)}`,
    });
    const doGenerate = async (): Promise<Answer> =>
      (asked += 1) === 1 ? { ...answer(''), content: [CALL], finishReason: CALLS } : answer('done');
    return {
      removed: () => removed,
      async run({ prepareStep, onStepFinish }, messages) {
        const { text } = await ai6.generateText({
          model: new MockLanguageModelV3({ doGenerate }),
          messages: messages as ai6.ModelMessage[],
          tools: { remove },
          stopWhen: ai6.stepCountIs(5),
          prepareStep,
          onStepFinish,
        });
        return text;
      },
    };
  },
};

for (const major of ['7', '6'] as const) {
  test(`A14 a session on AI SDK ${major} that waits for an approval is resumed and approved`, async () => {
    const store = memoryStore();
    const session = (): AiSdkBobbin => aiSdkBobbin({ store, thread: KEY.thread });
    const { run, removed } = approving[major]();
    assert.equal(await run(session(), [user('remove it')]), '');
    const bobbin = session();
    const active = await bobbin.loadActiveMessages();
    assert.deepEqual(
      active.map(({ role }) => role),
      ['user', 'assistant'],
    );
    const parts = active.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const request = parts.find(({ type }) => type === 'tool-approval-request') as {
      readonly approvalId?: string;
    };
    const { approvalId } = request;
    const approval = { type: 'tool-approval-response', approvalId, approved: true };
    const approved: AiSdkMessage = { role: 'tool', content: [approval] };
    assert.equal(await run(bobbin, [...active, approved]), 'done');
    assert.equal(removed(), 1);
    const [head] = await store.heads(KEY);
    const path = await store.path(KEY, head as MessageId);
    assert.deepEqual(
      path.map(({ message }) => message.role),
      ['user', 'assistant', 'tool', 'tool', 'assistant'],
    );
  });
}

/** One run of a major, streamed or not. */
type Run = (
  bobbin: AiSdkBobbin,
  prompt: string,
  reply: (signal?: AbortSignal) => Promise<string>,
  abortSignal?: AbortSignal,
) => Promise<string>;

type StreamPart =
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'finish'; usage: typeof USAGE; finishReason: typeof STOP };

const streamOf = (text: string): ReadableStream<StreamPart> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue({ type: 'text-start', id: '1' });
      controller.enqueue({ type: 'text-delta', id: '1', delta: text });
      controller.enqueue({ type: 'text-end', id: '1' });
      controller.enqueue({ type: 'finish', usage: USAGE, finishReason: STOP });
      controller.close();
    },
  });

const runs: Readonly<Record<string, Run>> = {
  'generateText of AI SDK 7': async (bobbin, prompt, reply, abortSignal) => {
    const { prepareStep, onStepFinish } = bobbin;
    const model = new MockLanguageModelV4({
      doGenerate: async (options) => answer(await reply(options.abortSignal)),
    });
    const signal = abortSignal === undefined ? {} : { abortSignal };
    return (await ai7.generateText({ model, prompt, prepareStep, onStepFinish, ...signal })).text;
  },
  'generateText of AI SDK 6': async (bobbin, prompt, reply, abortSignal) => {
    const { prepareStep, onStepFinish } = bobbin;
    const model = new MockLanguageModelV3({
      doGenerate: async (options) => answer(await reply(options.abortSignal)),
    });
    const signal = abortSignal === undefined ? {} : { abortSignal };
    return (await ai6.generateText({ model, prompt, prepareStep, onStepFinish, ...signal })).text;
  },
  'streamText of AI SDK 7': async (bobbin, prompt, reply, abortSignal) => {
    const { prepareStep, onStepFinish } = bobbin;
    const model = new MockLanguageModelV4({
      doStream: async (options) => ({ stream: streamOf(await reply(options.abortSignal)) }),
    });
    const signal = abortSignal === undefined ? {} : { abortSignal };
    return ai7.streamText({ model, prompt, prepareStep, onStepFinish, ...signal }).text;
  },
  'streamText of AI SDK 6': async (bobbin, prompt, reply, abortSignal) => {
    const { prepareStep, onStepFinish } = bobbin;
    const model = new MockLanguageModelV3({
      doStream: async (options) => ({ stream: streamOf(await reply(options.abortSignal)) }),
    });
    const signal = abortSignal === undefined ? {} : { abortSignal };
    return ai6.streamText({ model, prompt, prepareStep, onStepFinish, ...signal }).text;
  },
};

for (const [kind, run] of Object.entries(runs)) {
  test(`A14 behind an aborted step of ${kind} every other is kept, also of several at once`, async () => {
    const store = memoryStore();
    const bobbin = aiSdkBobbin({ store });
    const abort = new AbortController();
    const hanging = run(
      bobbin,
      'aborted',
      (signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
          abort.abort();
        }),
      abort.signal,
    );
    await assert.rejects(hanging);
    const gate = Promise.withResolvers<void>();
    const slow = run(bobbin, 'slow', () => gate.promise.then(() => 'SLOW'));
    for (const each of ['x', 'y'])
      assert.equal(await run(bobbin, each, async () => each.toUpperCase()), each.toUpperCase());
    gate.resolve();
    assert.equal(await slow, 'SLOW');
    assert.deepEqual(await textsOf(store), ['aborted', 'slow | SLOW', 'x | X', 'y | Y']);
    const answers = (await threadsOf(store)).flat().filter(({ role }) => role === 'assistant');
    assert.ok(answers.every(({ meta }) => meta?.usage?.inputTokens === 10));
  });
}

const count = (value: unknown): number => JSON.stringify(value).split('"cacheControl"').length - 1;
const MARKED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

for (const how of ['prepareStep', 'prepareStep without its tools told', 'the middleware']) {
  test(`E13 the host’s markers in instructions and tools are counted too, by ${how}`, async () => {
    const tools = {
      look: ai7.tool({
        description: 'looks',
        inputSchema: ai7.jsonSchema({ type: 'object' }),
        execute: () => 'seen',
        providerOptions: MARKED,
      }),
    };
    const bobbin = aiSdkBobbin({
      model: 'claude-sonnet-4-5',
      window: 200_000,
      ...(how === 'prepareStep' ? { toolSet: tools } : {}),
    });
    const inner = new MockLanguageModelV4({ doGenerate: async () => answer('ok') });
    const isMiddleware = how === 'the middleware';
    await ai7.generateText({
      model: isMiddleware
        ? ai7.wrapLanguageModel({ model: inner, middleware: bobbin.middleware })
        : inner,
      instructions: { role: 'system', content: 'You help.', providerOptions: MARKED },
      messages: talkOf('alice') as ai7.ModelMessage[],
      tools,
      ...(isMiddleware ? {} : { prepareStep: bobbin.prepareStep }),
    });
    const [{ prompt, tools: sent } = { prompt: [], tools: [] }] = inner.doGenerateCalls;
    assert.deepEqual([count(prompt[0]), count(sent)], [1, 1], 'the host’s own');
    assert.equal(count(prompt) + count(sent), 4);
    assert.equal(count(prompt.at(-1)), 1, 'the end is marked');
  });
}

const size = (list: readonly AiSdkMessage[] = []): number => JSON.stringify(list).length;

test('C14 the schemas of tools are counted whatever they are written in', async () => {
  const described = 'what to look for: '.repeat(250);
  const schemas = [
    z4.object({ query: z4.string().describe(described) }),
    z3.object({ query: z3.string().describe(described) }),
    ai7.jsonSchema(
      z4.toJSONSchema(z4.object({ query: z4.string().describe(described) })) as object,
    ),
    () => ai7.zodSchema(z4.object({ query: z4.string().describe(described) })),
  ];
  const fitted = await Promise.all(
    schemas.map(async (inputSchema) => {
      const bobbin = aiSdkBobbin({ window: 8_000, toolSet: { look: { inputSchema } } });
      return (await bobbin.prepareStep({ messages: talkOf('alice'), steps: [] })).messages;
    }),
  );
  const without = aiSdkBobbin({ window: 8_000, toolSet: { look: {} } });
  const { messages } = await without.prepareStep({ messages: talkOf('alice'), steps: [] });
  const sizes = fitted.map(size);
  // JSON Schema names its dialect, which costs a few tokens.
  assert.ok(Math.max(...sizes) - Math.min(...sizes) < 20, sizes.join(' '));
  assert.ok(Math.max(...sizes) < size(messages) - 200, `${sizes.join(' ')} ${size(messages)}`);
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
