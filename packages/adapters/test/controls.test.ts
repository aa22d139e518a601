import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import type { AgentInputItem } from '@openai/agents';
import { generateText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { AiSdkMessage } from '@bobbin/codecs';
import { aiSdkBobbin } from '@bobbin/adapters/ai-sdk';
import { langchainBobbin } from '@bobbin/adapters/langchain';
import { mastraBobbin } from '@bobbin/adapters/mastra';
import { openaiAgentsBobbin } from '@bobbin/adapters/openai-agents';
import { memoryStore, type BobbinOptions, type CompactionEvent } from '@bobbin/core';
import type { Controls } from '@bobbin/core/internal';

type Options = Pick<BobbinOptions, 'window' | 'onEvent'>;

/** A host with Bobbin: its own messages, and what a model would be sent of them. */
interface Host<Wire> {
  readonly name: string;
  readonly say: (role: 'user' | 'assistant', text: string) => Wire;
  readonly start: (options: Options) => Controls<Wire> & {
    readonly shown: (history: readonly Wire[]) => Promise<readonly Wire[]>;
  };
}

const AI_SDK: Host<AiSdkMessage> = {
  name: 'AI SDK',
  say: (role, content) => ({ role, content }),
  start(options) {
    const bobbin = aiSdkBobbin(options);
    const shown = async (history: readonly AiSdkMessage[]): Promise<readonly AiSdkMessage[]> =>
      (await bobbin.prepareStep({ messages: [...history], steps: [] })).messages;
    return { ...bobbin, shown };
  },
};

const MASTRA: Host<AiSdkMessage> = {
  name: 'Mastra',
  say: (role, text) => ({ role, content: [{ type: 'text', text }] }),
  start(options) {
    const bobbin = mastraBobbin(options);
    let run = 0;
    const stamped = (message: AiSdkMessage): AiSdkMessage => ({
      ...message,
      providerOptions: { mastra: { createdAt: run } },
      content: (message.content as { type: string }[]).map((part) => ({
        ...part,
        providerOptions: { mastra: { createdAt: run } },
      })),
    });
    return {
      ...bobbin,
      async shown(history) {
        run += 1;
        const prompt = history.map(stamped);
        return (await bobbin.processLLMRequest({ prompt, steps: [], state: {} })).prompt;
      },
    };
  },
};

const LANGCHAIN: Host<BaseMessage> = {
  name: 'LangChain',
  say: (role, text) => (role === 'user' ? new HumanMessage(text) : new AIMessage(text)),
  start(options) {
    const bobbin = langchainBobbin(options);
    const echo = { invoke: (messages: BaseMessage[]) => Promise.resolve(messages) };
    return { ...bobbin, shown: (history) => bobbin.invoke(echo, history) };
  },
};

const AGENTS: Host<AgentInputItem> = {
  name: 'OpenAI Agents',
  say: (role, text) =>
    role === 'user'
      ? { role, content: text }
      : { role, status: 'completed', content: [{ type: 'output_text', text }] },
  start(options) {
    const bobbin = openaiAgentsBobbin({ ...options, thread: 's1' });
    let added = 0;
    return {
      ...bobbin,
      async shown(history) {
        await bobbin.session.addItems(history.slice(added));
        added = history.length;
        return bobbin.session.getItems();
      },
    };
  },
};

function checkControls<Wire>(host: Host<Wire>): void {
  test(`${host.name}: pin, unpin, compact, undo, recall and onEvent work on a conversation`, async () => {
    const kinds = new Set<CompactionEvent['kind']>();
    const bobbin = host.start({ window: 6_000, onEvent: ({ kind }) => kinds.add(kind) });
    const where = host === (AGENTS as Host<unknown>) ? undefined : ([] as Wire[]);
    const history: Wire[] = where ?? [];
    const text = `The vault code is 4471. ${'It is in the safe. '.repeat(20)}`;
    const rule = host.say('user', text);
    history.push(host.say('user', 'Begin.'), host.say('assistant', 'Yes.'), rule);
    const isRule = (wire: Wire): boolean => JSON.stringify(wire).includes(text);
    await bobbin.shown(history);
    await bobbin.pin(rule, where);
    for (let step = 0; step < 50; step++) {
      history.push(host.say('assistant', `Step ${step}: ${'looked at a host. '.repeat(30)}`));
      history.push(host.say('user', `Go on with ${step}.`));
      const shown = await bobbin.shown(history);
      assert.equal(shown.filter(isRule).length, 1, `the pinned message is whole at step ${step}`);
    }
    assert.match(await bobbin.recall('Step 3', where), /Step 3: looked/);

    const before = await bobbin.shown(history);
    const { messages } = await bobbin.compact(where, { instructions: 'keep the hosts' });
    assert.ok(messages.length <= before.length);
    assert.equal(messages.filter(isRule).length, 1);
    assert.equal(await bobbin.undo(where), true);

    await bobbin.unpin(rule, where);
    const unpinned = await bobbin.compact(where);
    assert.equal(unpinned.messages.filter(isRule).length, 0);
    assert.ok(kinds.has('completed'), [...kinds].join(' '));
    await assert.rejects(
      bobbin.pin(host.say('user', 'Never said.'), where),
      /pin: thread .+ has no such message; pass it as it was sent/,
    );
  });
}

checkControls(AI_SDK);
checkControls(MASTRA);
checkControls(LANGCHAIN);
checkControls(AGENTS);

test('tools are policies of tools in every adapter, and the agent’s own tools are refused with a word', () => {
  const tools = { read: { durability: 'ephemeral' } } as const;
  for (const make of [aiSdkBobbin, langchainBobbin]) {
    make({ tools });
    assert.throws(() => make({ tools: { read: { durability: 'short' } } as never }), {
      name: 'TypeError',
      message: /^tools\.read\.durability must be one of ephemeral/,
    });
  }
  assert.throws(() => aiSdkBobbin({ tools: { read: { inputSchema: {} } } as never }), {
    name: 'TypeError',
    message:
      "tools.read is a tool, tools takes policies such as { read: { durability: 'replayable' } }: pass the agent's tools as toolSet",
  });
});

test('openaiAgentsBobbin says that it needs the name of a session', () => {
  for (const options of [{}, undefined, { thread: '' }])
    assert.throws(() => openaiAgentsBobbin(options as never), {
      name: 'TypeError',
      message:
        "thread: openaiAgentsBobbin needs the name of the session, as in openaiAgentsBobbin({ thread: 'session-1' })",
    });
});

for (const names of [['onStepEnd'], ['onStepFinish'], ['onStepEnd', 'onStepFinish']] as const)
  test(`AI SDK 7: ${names.join(' and ')} keep what the last step said, once`, async () => {
    const store = memoryStore();
    const bobbin = aiSdkBobbin({ store, thread: 's1' });
    const model = new MockLanguageModelV4({
      doGenerate: {
        content: [{ type: 'text', text: 'Hello' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage: {
          inputTokens: { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      },
    });
    await generateText({
      model,
      prompt: 'Hi',
      prepareStep: bobbin.prepareStep,
      ...(names.some((name) => name === 'onStepEnd') ? { onStepEnd: bobbin.onStepEnd } : {}),
      ...(names.some((name) => name === 'onStepFinish')
        ? { onStepFinish: bobbin.onStepFinish }
        : {}),
    });
    const said = (await bobbin.loadActiveMessages()).map(({ role }) => role);
    assert.deepEqual(said, ['user', 'assistant']);
  });
