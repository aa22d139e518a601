import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Codec } from '@bobbin/core';
import type { Json, JsonObject } from '@bobbin/core/internal';
import { seededRandom, type Random } from '@bobbin/testing';
import {
  aiSdk,
  anthropic,
  bedrock,
  gemini,
  DecodeError,
  openaiChat,
  openaiResponses,
  recogniseSession,
} from '@bobbin/codecs';
import { withParts } from '@bobbin/core/internal';
import { volume } from '@bobbin/testing/volume';

const SEED = Number(process.env['SEED'] ?? 1);
const CASES = volume(500, 30000);

/** One message of each kind, for damaging. */
const WHOLE: readonly [Codec<object>, readonly Json[]][] = [
  [
    gemini,
    [
      {
        role: 'user',
        parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AA' } }],
      },
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true, thoughtSignature: 's' },
          { executableCode: { code: 'x', language: 'PYTHON' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
          { functionCall: { id: 'c1', name: 'x', args: { a: 1 } }, thoughtSignature: 's' },
          { functionCall: { name: 'y', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'x', response: { output: 'r' } } },
          { functionResponse: { name: 'y', response: { error: 'e' } } },
          { fileData: { fileUri: 'gs://a', mimeType: 'video/mp4' } },
        ],
      },
    ],
  ],
  [
    bedrock,
    [
      {
        role: 'user',
        content: [
          { text: 'a' },
          { image: { format: 'png', source: { bytes: 'AA' } } },
          { document: { format: 'pdf', name: 'd', source: { s3Location: { uri: 's3://a' } } } },
          { guardContent: { text: { text: 'g' } } },
          { cachePoint: { type: 'default' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
          { toolUse: { toolUseId: 'c1', name: 'x', input: { a: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', status: 'error', content: [{ json: { a: 1 } }] } },
          { text: 'b' },
        ],
      },
    ],
  ],
  [
    openaiChat,
    [
      { role: 'developer', content: 'Rules', name: 'host' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
          { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
          { type: 'file', file: { file_id: 'f' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'x', arguments: '{}' } },
          { id: 'c2', type: 'custom', custom: { name: 'y', input: 'i' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'r' }] },
      { role: 'assistant', function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'r' },
    ],
  ],
  [
    openaiResponses,
    [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'u' },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }], encrypted_content: 'x' },
      { type: 'function_call', call_id: 'c1', name: 'x', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'r' }] },
      { type: 'shell_call', call_id: 'c2', action: { commands: ['ls'] } },
      {
        type: 'shell_call_output',
        call_id: 'c2',
        output: [{ stdout: 'a', outcome: { type: 'exit' } }],
      },
      { type: 'mcp_call', id: 'm', name: 'n', arguments: '{}', output: 'r', error: null },
      { type: 'compaction', encrypted_content: 'x' },
    ],
  ],
  [
    anthropic,
    [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'url', url: 'u' } },
          { type: 'text', text: 'a' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'a', signature: 's' },
          { type: 'server_tool_use', id: 's1', name: 'x', input: {} },
          {
            type: 'web_search_tool_result',
            tool_use_id: 's1',
            content: { type: 'e', error_code: 'x' },
          },
          { type: 'tool_use', id: 't1', name: 'x', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'r' }] },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a' }] } },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'b' }] },
    ],
  ],
  [
    aiSdk,
    [
      { role: 'system', content: 'a', providerOptions: { anthropic: { cacheControl: {} } } },
      {
        role: 'user',
        content: [{ type: 'file', data: { type: 'data', data: 'AA' }, mediaType: 'a/b' }],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'a', providerOptions: { a: { signature: 's' } } },
          {
            type: 'tool-call',
            toolCallId: 'c1',
            toolName: 'x',
            input: {},
            providerOptions: { g: { a: 1 } },
          },
          { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c1' },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'x',
            output: {
              type: 'content',
              value: [{ type: 'file', data: { type: 'url', url: 'https://a/' } }],
            },
          },
        ],
      },
    ],
  ],
];

const DAMAGE: readonly [Json | undefined, ...(Json | undefined)[]] = [
  undefined,
  null,
  0,
  true,
  '',
  'text',
  [],
  [null],
  ['a'],
  {},
  { type: null },
  [{ type: 'text' }],
];

/** A copy with one value, somewhere, replaced or taken away. */
function damaged(value: Json, random: Random): Json | undefined {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const [first, ...rest] = keys;
  if (first === undefined || random.chance(0.15)) return random.pick(DAMAGE);
  const key = random.pick([first, ...rest]);
  const inner = damaged((value as JsonObject)[key] ?? null, random);
  if (Array.isArray(value))
    return value.map((item: Json, i) => (String(i) === key ? (inner ?? null) : item));
  return { ...(value as JsonObject), [key]: inner };
}

/** Undefined where it was refused with its place; whatever else goes wrong is a bug. */
function refused<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    assert.match(error.message, /^(?:messages|input|contents|export|line \d+)[^\n]*: [^\n]+$/);
    return undefined;
  }
}

const HALF_PAIR = /\[The provider ran |\[A tool of the provider gave/;

for (const [codec, whole] of WHOLE) {
  test(`${codec.name}: what is damaged is carried as it is or refused with its place (seed ${SEED})`, () => {
    const random = seededRandom(SEED);
    let taken = 0;
    for (let i = 0; i < CASES; i++) {
      const text = JSON.stringify(damaged(whole, random) ?? null);
      const wire = JSON.parse(text) as object[];
      const messages = refused(() => codec.decode(wire));
      if (messages === undefined) continue;
      taken += 1;
      const encoded = JSON.stringify(codec.encode(messages));
      // Half a pair of a provider's tool is refused as it is: it becomes text.
      if (!HALF_PAIR.test(encoded)) assert.equal(encoded, text);
      codec.encode(messages.map((message) => withParts(message, message.parts)));
    }
    assert.ok(taken > CASES / 10 && taken < CASES, `${taken} of ${CASES} were taken`);
  });
}

const FILES: readonly (readonly Json[])[] = [
  [
    { type: 'session', format: 1, tenant: 't', thread: 's' },
    {
      type: 'message',
      id: 'a',
      parent: null,
      message: { role: 'user', parts: [{ kind: 'text', text: 'a' }], original: { role: 'user' } },
    },
    {
      type: 'message',
      id: 'b',
      parent: 'a',
      message: {
        role: 'assistant',
        parts: [{ kind: 'call', callId: 'c', tool: 'x', args: '{}' }],
        meta: { model: 'm' },
      },
    },
    {
      type: 'message',
      id: 'c',
      parent: 'b',
      message: {
        role: 'tool',
        parts: [
          { kind: 'result', callId: 'c', content: [{ kind: 'opaque', type: 'x', value: 1 }] },
        ],
      },
    },
    {
      type: 'compaction',
      summary: 'S',
      firstKeptId: 'b',
      timestamp: 1,
      tokensBefore: 1,
      plan: { head: 'c', records: [{ kind: 'drop' }] },
    },
    { type: 'head', id: 'b' },
  ],
  [
    { type: 'session', version: 3, id: 's', cwd: '/' },
    {
      type: 'message',
      id: 'a',
      parentId: null,
      message: { role: 'user', content: 'a', timestamp: 1 },
    },
    {
      type: 'message',
      id: 'b',
      parentId: 'a',
      message: {
        role: 'assistant',
        content: [{ type: 'toolCall', id: 'c', name: 'x', arguments: {} }],
        usage: { input: 1 },
      },
    },
    {
      type: 'compaction',
      id: 'c',
      parentId: 'b',
      summary: 'S',
      firstKeptEntryId: 'b',
      tokensBefore: 1,
    },
    { type: 'context_edit', id: 'd', parentId: 'c', targetId: 'a', replacement: { content: 'z' } },
  ],
  [
    {
      type: 'user',
      uuid: 'a',
      parentUuid: null,
      sessionId: 's',
      message: { role: 'user', content: 'a' },
    },
    {
      type: 'assistant',
      uuid: 'b',
      parentUuid: 'a',
      sessionId: 's',
      message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'a' }], usage: {} },
    },
    {
      type: 'system',
      subtype: 'compact_boundary',
      uuid: 'c',
      parentUuid: null,
      logicalParentUuid: 'b',
      sessionId: 's',
      compactMetadata: { preTokens: 1 },
    },
    {
      type: 'user',
      uuid: 'd',
      parentUuid: 'c',
      sessionId: 's',
      isCompactSummary: true,
      message: { role: 'user', content: 'S' },
    },
  ],
  [
    { type: 'session_meta', payload: { id: 's', cwd: '/' } },
    { type: 'response_item', payload: { type: 'message', role: 'assistant', content: 'a' } },
    {
      type: 'event_msg',
      payload: { type: 'token_count', info: { last_token_usage: { input_tokens: 1 } } },
    },
    {
      type: 'compacted',
      payload: { message: 'S', replacement_history: [{ role: 'user', content: 'a' }] },
    },
  ],
];

test(`session files: what is damaged is carried as it is or refused with its place (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  let taken = 0;
  for (let i = 0; i < CASES; i++) {
    const lines = FILES[i % FILES.length] ?? [];
    const at = random.int(0, lines.length - 1);
    const text = lines
      .map((line, j) => `${JSON.stringify((j === at ? damaged(line, random) : line) ?? null)}\n`)
      .join('');
    const format = recogniseSession(text);
    const session = format && refused(() => format.decode(text));
    if (format === undefined || session === undefined) continue;
    taken += 1;
    assert.equal(format.encode(session), text);
  }
  assert.ok(taken > CASES / 10 && taken < CASES, `${taken} of ${CASES} were taken`);
});
