// A runtime that has nothing newer than ES2022: what came later is taken away before any source is loaded.
import assert from 'node:assert/strict';

const NEWER: readonly (readonly [object, readonly string[]])[] = [
  [Array, ['fromAsync']],
  [Array.prototype, ['findLast', 'findLastIndex', 'toReversed', 'toSorted', 'toSpliced', 'with']],
  [
    Object.getPrototypeOf(Uint8Array.prototype) as object,
    ['findLast', 'findLastIndex', 'toReversed', 'toSorted', 'with'],
  ],
  [Uint8Array, ['fromBase64', 'fromHex']],
  [Map, ['groupBy']],
  [Object, ['groupBy']],
  [Promise, ['withResolvers', 'try']],
  [String.prototype, ['isWellFormed', 'toWellFormed']],
  [Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf']],
];
for (const [holder, names] of NEWER)
  for (const name of names) assert.ok(Reflect.deleteProperty(holder, name), name);
for (const name of ['Buffer', 'process', 'setImmediate'])
  Object.defineProperty(globalThis, name, { value: undefined, configurable: true });

const { WIRE_FORMS } = await import('./wire-forms.ts');
const { portable, recogniseMessages, recogniseSession } = await import('@bobbin/codecs');
const { withParts } = await import('@bobbin/core/internal');

const TALK = [
  { role: 'user', content: 'Look at a.ts and b.ts.' },
  {
    role: 'assistant',
    content: 'I look.',
    toolCalls: [
      { id: 'c1', name: 'look', args: { path: 'a.ts' } },
      { id: 'c2', name: 'look', args: { path: 'b.ts' } },
    ],
  },
  { role: 'tool', toolCallId: 'c1', toolName: 'look', content: 'a' },
  { role: 'tool', toolCallId: 'c2', toolName: 'look', content: 'b' },
  { role: 'user', content: 'And now?' },
] as const;

for (const { codec, wire, problems } of WIRE_FORMS) {
  const came = wire(TALK);
  const messages = codec.decode(came);
  assert.deepEqual(codec.encode(messages), came);
  const changed = codec.encode(messages.map((message) => withParts(message, message.parts)));
  assert.deepEqual(problems(changed), [], codec.name);
  portable(messages);
  recogniseMessages(came);
}

const SESSIONS = [
  '{"type":"session","id":"s1","cwd":"/w","timestamp":"2026-01-01T00:00:00Z"}\n{"type":"message","message":{"role":"user","content":"Hi"}}\n',
  '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Hi"},"timestamp":"2026-01-01T00:00:00Z"}\n',
  '{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}\n{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}}\n',
];
for (const text of SESSIONS) {
  const format = recogniseSession(text);
  assert.equal(format?.encode(format.decode(text)), text);
}

// Core compacts on it too.
const { createBobbin } = await import('@bobbin/core');
const { openaiChat } = await import('@bobbin/codecs');
const bobbin = createBobbin({ codec: openaiChat, window: 6_000 });
const said = Array.from({ length: 80 }, (_, i) =>
  i % 2 === 0
    ? ({ role: 'user', content: `Question ${i}: which port?` } as const)
    : ({ role: 'assistant', content: `Port ${8_000 + i}. ${'I looked. '.repeat(60)}` } as const),
);
const fitted = await bobbin.fit(said);
assert.ok(fitted.compacted && fitted.messages.length < said.length);
assert.match(await bobbin.recall('port 8001', said), /8001/);
