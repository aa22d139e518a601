import { memoryArtifacts, memoryStore } from '@bobbin/core';
import { aiSdkBobbin } from '@bobbin/adapters/ai-sdk';
import { serveMcp } from '@bobbin/adapters/mcp';
import type { AiSdkMessage } from '@bobbin/codecs';

// A server as a client starts it, over a thread that was compacted. With an argument it is bound to that thread.
const [store, artifacts] = [memoryStore(), memoryArtifacts()];
const bobbin = aiSdkBobbin({
  store,
  artifacts,
  thread: 'birds',
  window: 4_000,
  budget: { rehydrationTokens: 0 },
  clock: { now: () => 0 },
});
const messages: AiSdkMessage[] = [{ role: 'user', content: 'begin' }];
for (let i = 1; i < 20; i++) {
  messages.push({ role: 'assistant', content: `heron ${i} was seen at noon ${'x '.repeat(150)}` });
  messages.push({ role: 'user', content: `go on ${i}` });
}
await bobbin.prepareStep({ messages, steps: [] });
const output = { type: 'text', value: `${'line '.repeat(3_000)} the vault code is 4471` };
const pair = { toolCallId: 'c0', toolName: 'read' };
messages.push(
  { role: 'assistant', content: [{ type: 'tool-call', ...pair, input: {} }] },
  { role: 'tool', content: [{ type: 'tool-result', ...pair, output }] },
);
await bobbin.prepareStep({ messages, steps: [] });
const [, , thread] = process.argv;
await serveMcp({ store, artifacts, ...(thread === undefined ? {} : { thread }) });
