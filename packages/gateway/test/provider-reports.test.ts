import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bareUpstream, runningGateway } from './running-gateway.ts';

const EDITS = {
  applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_input_tokens: 50_000 }],
};
const MESSAGE = {
  id: 'msg',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Nine tons.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 70, output_tokens: 4 },
};

function stream(): string {
  const events = [
    { type: 'message_start', message: { ...MESSAGE, content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Nine tons.' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 4 },
      context_management: EDITS,
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

for (const isStream of [false, true])
  test(`what a provider left out of a prompt itself is an event${isStream ? ', stream' : ''}`, async (t) => {
    const upstream = await bareUpstream(t, (_, outgoing) =>
      isStream
        ? outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream())
        : outgoing
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ ...MESSAGE, context_management: EDITS })),
    );
    const gateway = await runningGateway(t, { upstreams: { anthropic: upstream.url } });
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({
        model: 'claude-sonnet-4-5',
        max_tokens: 100,
        stream: isStream,
        context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
        messages: [{ role: 'user', content: 'How heavy is it?' }],
      }),
    });
    await response.text();
    assert.equal(response.headers.get('x-bobbin-action'), 'unchanged');
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assert.match(metrics, /bobbin_events_total\{kind="provider-edited"\} 1/);
  });
