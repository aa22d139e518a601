import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, type Codec, type Fitted } from '@bobbin/core';
import {
  aiSdk,
  aiSdkCacheMarkers,
  anthropic,
  anthropicCacheMarkers,
  anthropicProblems,
  openaiCacheMarkers,
  openaiChat,
  openaiResponses,
} from '@bobbin/codecs';
import type { RecordedMessage } from './recordings.ts';
import { WIRE_FORMS } from './wire-forms.ts';

const LONG = 'some words of a file '.repeat(60);

/** Two turns: a longer one with six rounds, and the next that has just begun. */
const TALK: readonly RecordedMessage[] = [
  { role: 'user', content: `Read all of it. ${LONG}` },
  ...Array.from({ length: 6 }, (_, i): RecordedMessage[] => [
    { role: 'assistant', content: '', toolCalls: [{ id: `c${i}`, name: 'read', args: { i } }] },
    { role: 'tool', toolCallId: `c${i}`, toolName: 'read', content: LONG },
  ]).flat(),
  { role: 'user', content: 'Now write.' },
];

async function fitted(codec: Codec<object>): Promise<Fitted<object>> {
  const wire = WIRE_FORMS.find((form) => form.codec === codec)?.wire(TALK) ?? [];
  const fit = await createBobbin({
    codec,
    window: 200_000,
    cacheLimits: { markers: 3, minimumTokens: 512 },
  }).fit(wire);
  assert.deepEqual(fit.prompt.cachePoints.length, 3);
  return fit;
}

/** Where markers are: `message` or `message.block`. */
function places(list: readonly object[], field: string): readonly string[] {
  return list.flatMap((message, i) => {
    const { content, output } = message as { content?: unknown; output?: unknown };
    const blocks = [content, output].find(Array.isArray) as object[] | undefined;
    return (blocks ?? []).flatMap((block, j) => (field in block ? [`${i}.${j}`] : []));
  });
}

test('E13 cache points become cache_control, the end of results apart from the words after them', async () => {
  const { messages, prompt } = await fitted(anthropic);
  const request = anthropicCacheMarkers({ model: 'm', messages }, prompt);
  // The last user message holds the results of the turn before and the words of this one.
  assert.equal(messages.length, 13);
  assert.deepEqual(places(request.messages, 'cache_control'), ['4.0', '12.0', '12.1']);
  assert.deepEqual(anthropicProblems(request), []);
  assert.deepEqual(strip(request.messages), strip(messages));
});

/** Without markers, and with every string content as a list: what a provider makes of it. */
function strip(messages: readonly object[]): unknown {
  const text = JSON.stringify(messages, (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  );
  return JSON.parse(text) as unknown;
}

test('E13 the host\u2019s markers are counted and stay, wherever they are', async () => {
  const { messages, prompt } = await fitted(anthropic);
  const cache_control = { type: 'ephemeral' };
  const tools = [{ name: 'read', cache_control }];
  const system = [{ type: 'text', text: 'Rules', cache_control }];
  const two = anthropicCacheMarkers({ tools, system, messages }, prompt);
  assert.deepEqual(places(two.messages, 'cache_control'), ['12.0', '12.1']);
  assert.deepEqual([two.tools, two.system], [tools, system]);
  const automatic = anthropicCacheMarkers({ tools, system, cache_control, messages }, prompt);
  assert.deepEqual(places(automatic.messages, 'cache_control'), ['12.1']);
  const own = two.messages.map((message, i) =>
    i === 2 ? { ...message, content: [{ type: 'text', text: 'x', cache_control }] } : message,
  );
  assert.deepEqual(
    anthropicCacheMarkers({ tools, messages: own }, prompt).messages,
    own,
    'four are there already',
  );
});

test('E13 a marker before one of the host that lives for an hour lives as long', async () => {
  const { messages, prompt } = await fitted(anthropic);
  const hour = { type: 'ephemeral', ttl: '1h' };
  const marked = messages.map((message, i) => {
    const { content } = message as { content: object[] };
    return i === 6 ? { ...message, content: [{ ...content[0], cache_control: hour }] } : message;
  });
  const request = anthropicCacheMarkers({ messages: marked }, prompt);
  const ttls = request.messages.flatMap((message) =>
    (message as { content: { cache_control?: { ttl?: string } }[] }).content.flatMap(
      ({ cache_control: own }) => (own === undefined ? [] : [own.ttl]),
    ),
  );
  assert.deepEqual(ttls, ['1h', '1h', undefined, undefined]);
});

test('E13 thinking cannot be marked: the block before it is', () => {
  const thinking = { type: 'thinking', thinking: 'a', signature: 's' };
  const wire = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [{ type: 'text', text: 'a' }, thinking] },
  ];
  const messages = anthropic.decode(wire as Parameters<typeof anthropic.decode>[0]);
  const prompt = {
    messages: messages.map((message) => ({ message, source: { kind: 'bridge' as const } })),
    tokens: 0,
    cachePoints: [0, 1],
  };
  assert.deepEqual(anthropicCacheMarkers({ messages: wire }, prompt).messages, [
    { role: 'user', content: [{ type: 'text', text: 'Go', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }, thinking],
    },
  ]);
});

test('E13 OpenAI gets a key, and breakpoints where the model takes them', async () => {
  const chat = await fitted(openaiChat);
  const request = { model: 'gpt', messages: chat.messages };
  assert.deepEqual(openaiCacheMarkers(request, chat.prompt, { key: 'thread-1', markers: 0 }), {
    ...request,
    prompt_cache_key: 'thread-1',
  });
  const marked = openaiCacheMarkers(request, chat.prompt, { key: 'thread-1', markers: 4 });
  assert.deepEqual(places(marked.messages, 'prompt_cache_breakpoint'), ['4.0', '12.0', '13.0']);
  assert.deepEqual(
    openaiChat.decode(marked.messages as never).map(({ parts }) => parts),
    openaiChat.decode(chat.messages as never).map(({ parts }) => parts),
  );
  const own = { ...request, prompt_cache_key: 'mine' };
  assert.deepEqual(openaiCacheMarkers(own, chat.prompt, { key: 'x', markers: 0 }), own);

  const responses = await fitted(openaiResponses);
  const items = openaiCacheMarkers({ input: responses.messages }, responses.prompt, {
    key: 'thread-1',
    markers: 4,
  });
  assert.deepEqual(places(items.input, 'prompt_cache_breakpoint'), ['4.0', '12.0', '13.0']);
  assert.deepEqual(items.input[12], {
    type: 'function_call_output',
    call_id: 'c5',
    output: [{ type: 'input_text', text: LONG, prompt_cache_breakpoint: { mode: 'explicit' } }],
  });
  const again = openaiCacheMarkers(items, responses.prompt, { key: 'x', markers: 4 });
  assert.deepEqual(again, items, 'what is marked is marked once');
});

test('E13 the AI SDK gets Anthropic\u2019s marker in the provider options', async () => {
  const { messages, prompt } = await fitted(aiSdk);
  const marked = aiSdkCacheMarkers(messages, prompt);
  const positions = marked.flatMap((message, i) => ('providerOptions' in message ? [i] : []));
  assert.deepEqual(positions, [4, 12, 13]);
  assert.deepEqual(marked[13], {
    role: 'user',
    content: 'Now write.',
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  });
  assert.deepEqual(aiSdkCacheMarkers(marked, prompt), marked);
});
