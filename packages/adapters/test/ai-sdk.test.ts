import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ai7 from 'ai';
import * as ai6 from 'ai6';
import { aiSdkBobbin, withPolicy } from '@bobbin/adapters/ai-sdk';
import type { AiSdkMessage } from '@bobbin/codecs';
import { clear, memoryStore, textOf, type CompactionEvent, type MessageId } from '@bobbin/core';
import { isSummary, ladder } from '@bobbin/core/internal';
import { isSoak } from '@bobbin/testing/volume';
import { finishesOnAiSdk, INSTRUCTIONS, modelOf, modelOf6, tools6, tools7 } from './ai-sdk-task.ts';
import { nameOf, SHORT, Task } from './task.ts';
import { taskProvider } from './task-provider.ts';
import { KEY, misled, said, streaming7, user, type StreamingAgent } from './ai-sdk-hosts.ts';

for (const [major, dialect, job] of [
  [7, 'openai-chat', SHORT],
  [7, 'openai-responses', SHORT],
  [7, 'anthropic', SHORT],
  [6, 'openai-chat', SHORT],
  [6, 'openai-responses', SHORT],
  [6, 'anthropic', SHORT],
] as const) {
  test(`C23 an agent on AI SDK ${major} finishes ${nameOf(job)}, ${dialect}`, (t) =>
    finishesOnAiSdk(t, major, dialect, job));
}

for (const major of [6, 7] as const)
  test(`H1 an agent on AI SDK ${major} with thinking enabled is never refused, 60 steps in a window of 8k`, (t) =>
    finishesOnAiSdk(
      t,
      major,
      'anthropic',
      { steps: 60, windowTokens: 8_000, compactions: 3 },
      { thinking: 'enabled' },
    ));

for (const dialect of ['openai-chat', 'openai-responses'] as const)
  test(`H4 an agent on the AI SDK that does not take Bobbin's tools reads of none, ${dialect}`, (t) =>
    finishesOnAiSdk(t, 7, dialect, SHORT, { memory: 'not taken' }));

const streaming6: StreamingAgent = (task, url, dialect, bobbin) => {
  const { prepareStep, onStepFinish, middleware } = bobbin;
  return ai6.streamText({
    model: ai6.wrapLanguageModel({ model: modelOf6(dialect, url), middleware }),
    system: INSTRUCTIONS,
    prompt: task.assignment,
    tools: { ...tools6(task), ...bobbin.tools },
    stopWhen: ai6.stepCountIs(task.steps),
    prepareStep,
    onStepFinish,
    maxOutputTokens: 500,
    maxRetries: 0,
  }).text;
};

const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic'] as const;

for (const [major, agent] of [
  [7, streaming7],
  [6, streaming6],
] as const) {
  for (const dialect of isSoak() ? DIALECTS : [DIALECTS[8 - major] ?? 'anthropic']) {
    test(`C23 three agents on AI SDK ${major} stream at once on one object, two calls a step, ${dialect}`, async (t) => {
      const store = memoryStore();
      const bobbin = aiSdkBobbin({
        window: 8_000,
        budget: { outputTokens: 500 },
        instructions: INSTRUCTIONS,
        toolSet: tools7(new Task()),
        store,
      });
      const names = ['HERON-7731', 'STORK-1204', 'EGRET-5518'];
      await Promise.all(
        names.map(async (name) => {
          const task = new Task(30, name, 2);
          const provider = await taskProvider(dialect, task, 8_000);
          t.after(() => provider.close());
          const text = await agent(task, provider.url, dialect, bobbin);
          assert.deepEqual([text, provider.faults], [`DONE 30 steps as ${name}`, []]);
          assert.equal(task.done.length, 30);
          assert.ok(provider.shrunk >= 2, `${provider.shrunk} compactions`);
        }),
      );
      const threads = await store.threads('default', 10);
      assert.deepEqual(
        threads.map(({ length }) => length),
        names.map(() => 1 + 2 * 15 + 1),
      );
      for (const { thread, head } of threads) {
        const path = await store.path({ tenant: 'default', thread }, head);
        assert.equal(path.filter(({ message }) => isSummary(message)).length, 0);
        assert.equal(path.filter(({ message }) => message.meta?.usage !== undefined).length, 16);
        const text = JSON.stringify(path);
        assert.equal(names.filter((name) => text.includes(name)).length, 1, 'nobody else’s words');
      }
    });
  }
}

for (const inLoop of [true, false]) {
  const beside = inLoop ? 'beside prepareStep' : 'alone';
  test(`E3 a refused prompt is compacted and sent once more, the middleware ${beside}`, async (t) => {
    const task = new Task(40);
    const provider = await taskProvider('anthropic', task, 8_000);
    t.after(() => provider.close());
    const refusals: CompactionEvent[] = [];
    const bobbin = misled((event) => {
      if (event.kind === 'refused') refusals.push(event);
    });
    const { generateText, isStepCount, wrapLanguageModel } = ai7;
    const { text } = await generateText({
      model: wrapLanguageModel({
        model: modelOf('anthropic', provider.url),
        middleware: bobbin.middleware,
      }),
      instructions: INSTRUCTIONS,
      prompt: task.assignment,
      tools: tools7(task),
      stopWhen: isStepCount(50),
      maxOutputTokens: 100,
      maxRetries: 0,
      ...(inLoop ? { prepareStep: bobbin.prepareStep, onStepFinish: bobbin.onStepFinish } : {}),
    });
    assert.equal(text, 'DONE 40 steps as HERON-7731');
    assert.equal(provider.faults.length, 1, provider.faults.join('\n'));
    const [refusal] = refusals;
    assert.ok(refusal?.kind === 'refused' && refusals.length === 1);
    assert.equal(refusal.limitTokens, 8_000);
    assert.ok((refusal.requestTokens ?? 0) > 8_000);
  });
}

test('C10 a tool declares beside itself what its results are worth', async () => {
  const { jsonSchema, tool } = ai7;
  const read = withPolicy(tool({ inputSchema: jsonSchema({ type: 'object' }) }), {
    durability: 'ephemeral',
    preserveFields: ['rows'],
  });
  const cleared: CompactionEvent[] = [];
  const bobbin = aiSdkBobbin({
    window: 3_500,
    toolSet: { read },
    preset: { ...ladder(), ladder: [clear()] },
    budget: { rehydrationTokens: 0 },
    onEvent: (event) => {
      if (event.kind === 'cleared') cleared.push(event);
    },
  });
  const messages: AiSdkMessage[] = [{ role: 'user', content: 'read it all' }];
  for (let i = 0; i < 12; i++)
    messages.push(...roundOf(`c${i}`, { rows: i, log: 'line '.repeat(200) }));
  const { messages: fitted } = await bobbin.prepareStep({ messages, steps: [] });
  assert.ok(cleared.length > 0);
  assert.match(JSON.stringify(fitted), /\\"rows\\":0/);
});

test('C10 a policy that is none, and tools without names, are reported in a line', () => {
  assert.throws(() => withPolicy({}, { durability: 'replaceable' as 'replayable' }), {
    name: 'TypeError',
    message:
      'policy.durability must be one of ephemeral, anchoring, replayable, non-replayable, not "replaceable" (did you mean replayable?)',
  });
  assert.throws(() => aiSdkBobbin({ toolSet: [{ name: 'read' }] as never }), {
    name: 'TypeError',
    message: 'toolSet must be an object of tools by their names, not a list',
  });
});

function roundOf(toolCallId: string, value: object): AiSdkMessage[] {
  const call = { type: 'tool-call', toolCallId, toolName: 'read', input: {} };
  const result = {
    type: 'tool-result',
    toolCallId,
    toolName: 'read',
    output: { type: 'json', value },
  };
  return [
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [result] },
  ];
}

test('C11 C26 the agent reads back what was moved out, and recalls what was said', async () => {
  const bobbin = aiSdkBobbin({ window: 4_000, budget: { rehydrationTokens: 0 } });
  const messages: AiSdkMessage[] = [
    { role: 'user', content: 'begin' },
    ...roundOf('c0', { log: `${'line '.repeat(3_000)} the vault code is 4471` }),
  ];
  for (let i = 1; i < 20; i++) {
    messages.push({
      role: 'assistant',
      content: `the heron number ${i} was seen at noon ${'x '.repeat(150)}`,
    });
    messages.push({ role: 'user', content: `go on ${i}` });
  }
  const early = await bobbin.prepareStep({ messages: messages.slice(0, 3), steps: [] });
  const [, id = ''] = /artifact:([0-9a-z]+)/.exec(JSON.stringify(early)) ?? [];
  const { messages: fitted } = await bobbin.prepareStep({ messages, steps: [] });
  const { read_artifact: read, recall } = bobbin.tools;
  assert.match(
    await read.execute({ id, search: 'vault' }, { messages: fitted }),
    /the vault code is 4471/,
  );
  assert.match(
    await recall.execute({ query: 'heron number 1' }, { messages: fitted }),
    /the heron number 1 was seen/,
  );
  assert.equal(await read.execute({ id: 7 }, { messages }), 'id: must be the id of an artifact');
});

test('A14 a session is resumed from its store, by what was shown last', async () => {
  const store = memoryStore();
  const options = { store, thread: KEY.thread, window: 1_500, budget: { rehydrationTokens: 0 } };
  const before = aiSdkBobbin(options);
  const messages: AiSdkMessage[] = [{ role: 'user', content: 'remember: the code is 4471' }];
  for (let i = 0; i < 30; i++) messages.push(...roundOf(`c${i}`, { log: 'line '.repeat(100) }));
  await before.prepareStep({ messages, steps: [] });
  const after = aiSdkBobbin(options);
  const active = await after.loadActiveMessages();
  assert.ok(active.length < messages.length);
  const next: AiSdkMessage = { role: 'user', content: 'which code?' };
  const { messages: fitted } = await after.prepareStep({ messages: [...active, next], steps: [] });
  assert.deepEqual(fitted.at(-1)?.content, 'which code?');
  const [head] = await store.heads(KEY);
  const path = await store.path(KEY, head as MessageId);
  assert.deepEqual([path.length, path.filter(({ message }) => isSummary(message)).length], [62, 0]);
  // The same host in a third process, which kept everything that was said.
  const third = aiSdkBobbin(options);
  await third.prepareStep({ messages: [...messages, next], steps: [] });
  assert.deepEqual(await store.heads(KEY), [head]);
});

test('A14 a session without a name cannot be resumed', async () => {
  await assert.rejects(aiSdkBobbin().loadActiveMessages(), /a session is resumed by its name/);
});

test('conversations on one object do not meet, and an edited one is apart from what it was', async () => {
  const store = memoryStore();
  const bobbin = aiSdkBobbin({ store });
  const sent = async (messages: AiSdkMessage[]): Promise<readonly unknown[]> =>
    (await bobbin.prepareStep({ messages, steps: [] })).messages.map(({ content }) => content);
  assert.deepEqual(await sent([user('a')]), ['a']);
  assert.deepEqual(await sent([user('b')]), ['b']);
  assert.deepEqual(await sent([user('a'), said('A'), user('a2')]), ['a', 'A', 'a2']);
  assert.deepEqual(await sent([user('b'), said('B'), user('b2')]), ['b', 'B', 'b2']);
  assert.deepEqual(await sent([user('a'), said('A'), user('other')]), ['a', 'A', 'other']);
  assert.deepEqual(await sent([user('a'), said('A'), user('a2'), said('A2')]), [
    'a',
    'A',
    'a2',
    'A2',
  ]);
  const threads = await store.threads('default', 10);
  const paths = await Promise.all(
    threads.map(async ({ thread }) => {
      const key = { tenant: 'default', thread };
      const heads = await store.heads(key);
      assert.equal(heads.length, 1, 'a thread is one path');
      const path = await store.path(key, heads[0] as MessageId);
      return path.map(({ message }) => textOf(message)).join(' ');
    }),
  );
  assert.deepEqual(paths.toSorted(), ['a A a2 A2', 'a A other', 'b B b2']);
});
