import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bareUpstream, runningGateway } from './running-gateway.ts';
import { anthropicClient } from './tool-clients.ts';

const streamOf = (index: number, ...blocks: readonly object[]): string =>
  [
    {
      type: 'message_start',
      message: {
        id: `m${index}`,
        type: 'message',
        role: 'assistant',
        content: [],
        model: 'm',
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    },
    ...blocks,
    {
      type: 'message_delta',
      delta: { stop_reason: index === 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ]
    .map(
      (event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join('');
const thinkingEvents = (index: number, text: string): readonly object[] => [
  {
    type: 'content_block_start',
    index,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: text } },
  {
    type: 'content_block_delta',
    index,
    delta: { type: 'signature_delta', signature: `signed ${text}` },
  },
  { type: 'content_block_stop', index },
];
const callEvents = (index: number): readonly object[] => [
  {
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: 't1', name: 'recall', input: {} },
  },
  {
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: '{"que' },
  },
  {
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: 'ry":"x"}' },
  },
  { type: 'content_block_stop', index },
];
const textEvents = (index: number, text: string): readonly object[] => [
  { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index },
];

test('thinking of rounds that the client has not seen goes back to the provider as it was signed', async (t) => {
  const streams = [
    streamOf(0, ...thinkingEvents(0, 'first'), ...callEvents(1)),
    streamOf(1, ...thinkingEvents(0, 'second'), ...textEvents(1, 'Here.')),
    streamOf(2, ...textEvents(0, 'Bye.')),
  ];
  const upstream = await bareUpstream(t, (_, outgoing) =>
    outgoing
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(streams[upstream.seen.length - 1]),
  );
  const gateway = await runningGateway(t, { upstreams: { anthropic: upstream.url }, tools: 'on' });
  const client = anthropicClient(gateway.url, true);
  client.say('Where?');
  const seen = await client.ask();
  assert.deepEqual(seen, {
    text: 'Here.',
    calls: [],
    stop: 'end_turn',
    inputTokens: 20,
    outputTokens: 10,
  });
  client.say('Thanks.');
  await client.ask();
  const last = JSON.parse(upstream.seen[2]?.text ?? '') as { messages: unknown[] };
  assert.deepEqual(last.messages, [
    { role: 'user', content: 'Where?' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'first', signature: 'signed first' },
        { type: 'tool_use', id: 't1', name: 'recall', input: { query: 'x' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't1',
          content: 'Nothing that was compacted holds these words.',
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'second', signature: 'signed second' },
        { type: 'text', text: 'Here.' },
      ],
    },
    { role: 'user', content: 'Thanks.' },
  ]);
});
