import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ai7 from 'ai';
import * as ai6 from 'ai6';
import { MockLanguageModelV3 } from 'ai6/test';
import { MockLanguageModelV4 } from 'ai/test';
import * as z4 from 'zod';
import * as z3 from 'zod/v3';
import { aiSdkBobbin, type AiSdkBobbin, type AiSdkOptions } from '@bobbin/adapters/ai-sdk';
import type { AiSdkMessage } from '@bobbin/codecs';
import { memoryStore, textOf, type MessageId, type ThreadId } from '@bobbin/core';
import { isSummary } from '@bobbin/core/internal';
import {
  type Answer,
  CALL,
  CALLS,
  LONG,
  STOP,
  USAGE,
  answer,
  said,
  step,
  talkOf,
  textsOf,
  threadsOf,
  user,
} from './ai-sdk-talk.ts';

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
  test(`A14 after an aborted step of ${kind} every other is kept, also of several at once`, async () => {
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

for (const how of ['prepareStep', 'prepareStep without the names of its tools', 'the middleware']) {
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
