import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { isOpaque, OPENAI_RULES, unitStarts } from '@bobbin/core/internal';
import { openaiResponses, openaiResponsesProblems } from '@bobbin/codecs';
import { bare, changed, cleared, lossless } from './lossless.ts';

test('OpenAI Responses: messages with and without a type, in every kind of content', () => {
  const wire = [
    { role: 'developer', content: 'Rules' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look' },
        { type: 'input_image', detail: 'auto', image_url: 'https://a/b.png' },
        { type: 'input_image', detail: 'auto', file_id: 'file-1' },
        { type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' },
        { type: 'input_file', file_url: 'https://a/c.pdf' },
        { type: 'input_audio', input_audio: { data: 'BB', format: 'mp3' } },
        { type: 'input_smell', strength: 1 },
      ],
    },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      phase: 'commentary',
      content: [
        { type: 'output_text', text: 'I see', annotations: [], logprobs: [] },
        { type: 'refusal', refusal: 'not that' },
      ],
    },
  ];
  const messages = lossless(openaiResponses, wire);
  assert.deepEqual(messages.map(bare), [
    { role: 'system', parts: [{ kind: 'text', text: 'Rules' }], extra: { role: 'developer' } },
    {
      role: 'user',
      parts: [
        { kind: 'text', text: 'Look' },
        { kind: 'image', source: 'https://a/b.png' },
        { kind: 'image', source: 'file-1' },
        {
          kind: 'file',
          source: 'data:application/pdf;base64,AA',
          name: 'a.pdf',
          mediaType: 'application/pdf',
        },
        { kind: 'file', source: 'https://a/c.pdf' },
        { kind: 'file', source: 'data:audio/mp3;base64,BB', mediaType: 'audio/mp3' },
        { kind: 'opaque', type: 'input_smell', value: { type: 'input_smell', strength: 1 } },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { kind: 'text', text: 'I see' },
        { kind: 'text', text: 'not that' },
      ],
      extra: { phase: 'commentary' },
    },
  ]);
  assert.deepEqual(openaiResponses.encode(changed(messages)), [
    { type: 'message', role: 'developer', content: 'Rules' },
    wire[1],
    {
      type: 'message',
      role: 'assistant',
      phase: 'commentary',
      content: [
        { type: 'output_text', text: 'I see', annotations: [] },
        { type: 'output_text', text: 'not that', annotations: [] },
      ],
    },
  ]);
});

const FUNCTION = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'read',
  arguments: '{}',
};

test('OpenAI Responses: every call that the host answers, and its output', () => {
  const wire = [
    FUNCTION,
    { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'r1' }] },
    { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '*** Begin', id: 'ctc_1' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'r2' },
    {
      type: 'shell_call',
      call_id: 'c3',
      action: { commands: ['ls', 'pwd'], timeout_ms: 10 },
      status: 'completed',
    },
    {
      type: 'shell_call_output',
      call_id: 'c3',
      output: [{ stdout: 'a', stderr: 'b', outcome: { type: 'exit', exit_code: 0 } }],
    },
    {
      type: 'local_shell_call',
      id: 'lsc_1',
      call_id: 'c4',
      status: 'completed',
      action: { type: 'exec', command: ['ls'], env: {} },
    },
    { type: 'local_shell_call_output', call_id: 'c4', output: 'r4' },
    {
      type: 'apply_patch_call',
      call_id: 'c5',
      status: 'completed',
      operation: { type: 'update_file', path: 'a.ts', diff: '+x' },
    },
    { type: 'apply_patch_call_output', call_id: 'c5', status: 'failed', output: 'no such file' },
  ];
  const messages = lossless(openaiResponses, wire);
  assert.deepEqual(
    messages.map(({ role, parts }) => [role, ...parts]),
    [
      ['assistant', { kind: 'call', callId: 'c1', tool: 'read', args: '{}' }],
      ['tool', result('c1', 'read', 'r1')],
      ['assistant', { kind: 'call', callId: 'c2', tool: 'patch', args: '*** Begin' }],
      ['tool', result('c2', 'patch', 'r2')],
      [
        'assistant',
        {
          kind: 'call',
          callId: 'c3',
          tool: 'shell',
          args: '{"commands":["ls","pwd"],"timeout_ms":10}',
        },
      ],
      ['tool', result('c3', 'shell', 'a\nb\n{"type":"exit","exit_code":0}')],
      [
        'assistant',
        {
          kind: 'call',
          callId: 'c4',
          tool: 'local_shell',
          args: '{"type":"exec","command":["ls"],"env":{}}',
        },
      ],
      ['tool', result('c4', 'local_shell', 'r4')],
      [
        'assistant',
        {
          kind: 'call',
          callId: 'c5',
          tool: 'apply_patch',
          args: '{"type":"update_file","path":"a.ts","diff":"+x"}',
        },
      ],
      ['tool', { ...result('c5', 'apply_patch', 'no such file'), outcome: 'failure' }],
    ],
  );
  const compacted = openaiResponses.encode(messages.map(cleared));
  assert.deepEqual(openaiResponsesProblems(compacted), []);
  assert.deepEqual(compacted, [
    { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: '[cleared]' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '*** Begin' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: '[cleared]' },
    wire[4],
    {
      type: 'shell_call_output',
      call_id: 'c3',
      output: [{ stdout: '[cleared]', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    },
    {
      type: 'local_shell_call',
      call_id: 'c4',
      status: 'completed',
      action: { type: 'exec', command: ['ls'], env: {} },
    },
    { type: 'local_shell_call_output', call_id: 'c4', output: '[cleared]' },
    wire[8],
    { type: 'apply_patch_call_output', call_id: 'c5', status: 'failed', output: '[cleared]' },
  ]);
});

function result(callId: string, tool: string, text: string): object {
  return { kind: 'result', callId, tool, content: [{ kind: 'text', text }] };
}

test('OpenAI Responses: a built-in call whose long values were cut keeps the shape of the API', () => {
  const args = { externalized: 'artifact:a1', commands: 'ls … pwd', timeout_ms: 10 };
  assert.deepEqual(
    openaiResponses.encode([
      {
        role: 'assistant',
        parts: [{ kind: 'call', callId: 'c3', tool: 'shell', args: JSON.stringify(args) }],
        extra: { type: 'shell_call' },
      },
    ]),
    [
      {
        type: 'shell_call',
        call_id: 'c3',
        status: 'completed',
        action: { commands: ['ls … pwd'], timeout_ms: 10 },
      },
    ],
  );
});

const REASONING = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Plan' }],
  content: [{ type: 'reasoning_text', text: 'First' }],
  encrypted_content: 'gAAA',
};

test('OpenAI Responses: reasoning stays with the answer that it led to', () => {
  const wire = [
    { role: 'user', content: 'Go' },
    REASONING,
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
    FUNCTION,
    { type: 'function_call_output', call_id: 'c1', output: 'r' },
  ];
  const messages = lossless(openaiResponses, wire);
  assert.deepEqual(messages[1]?.parts, [
    { kind: 'reasoning', text: 'Plan\nFirst', signature: 'gAAA' },
  ]);
  assert.deepEqual(unitStarts(messages), [0, 1]);
});

test('OpenAI Responses: reasoning is left out before an answer that was changed', () => {
  const wire = [REASONING, FUNCTION, { type: 'function_call_output', call_id: 'c1', output: 'r' }];
  const [reasoning, call, output] = openaiResponses.decode(wire);
  assert.ok(reasoning && call && output);
  const encoded = openaiResponses.encode([reasoning, ...changed([call]), output]);
  assert.deepEqual(encoded, [
    { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
    wire[2],
  ]);
  assert.deepEqual(openaiResponsesProblems(encoded), []);
});

test('OpenAI Responses: what is left of an answer without its reasoning is no stored item', () => {
  const second = { ...FUNCTION, id: 'fc_2', call_id: 'c2' };
  const outputs = ['c1', 'c2'].map((call_id) => ({
    type: 'function_call_output',
    call_id,
    output: 'r',
  }));
  const later = { ...FUNCTION, id: 'fc_3', call_id: 'c3' };
  const wire = [REASONING, FUNCTION, second, ...outputs, later];
  const [reasoning, first, ...rest] = openaiResponses.decode(wire);
  assert.ok(reasoning && first);
  const { id: _, ...bareSecond } = second;
  assert.deepEqual(openaiResponses.encode([reasoning, ...changed([first]), ...rest]), [
    { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
    bareSecond,
    ...outputs,
    later,
  ]);
});

test('OpenAI Responses: tools that OpenAI ran are a call and its result, and are text once changed', () => {
  const wire = [
    {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'q' },
    },
    { type: 'mcp_call', id: 'mcp_1', server_label: 's', name: 'n', arguments: '{}', output: 'big' },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
    { type: 'web_search_call', status: 'completed', action: { type: 'open_page', url: 'u' } },
  ];
  const messages = lossless(openaiResponses, wire);
  assert.deepEqual(messages.slice(0, 3).map(bare), [
    {
      role: 'assistant',
      parts: [
        {
          kind: 'call',
          callId: 'ws_1',
          tool: 'web_search',
          args: '{"action":{"type":"search","query":"q"}}',
        },
        { kind: 'result', callId: 'ws_1', tool: 'web_search', content: [] },
      ],
    },
    {
      role: 'assistant',
      parts: [
        {
          kind: 'call',
          callId: 'mcp_1',
          tool: 'mcp',
          args: '{"server_label":"s","name":"n","arguments":"{}"}',
        },
        result('mcp_1', 'mcp', 'big'),
      ],
    },
    {
      role: 'assistant',
      parts: [
        { kind: 'call', callId: 'ig_1', tool: 'image_generation', args: '{}' },
        {
          kind: 'result',
          callId: 'ig_1',
          tool: 'image_generation',
          content: [
            { kind: 'image', source: 'data:image/png;base64,AAAA', mediaType: 'image/png' },
          ],
        },
      ],
    },
  ]);
  assert.deepEqual(openaiResponses.encode(messages.slice(1, 2).map(cleared)), [
    {
      type: 'message',
      role: 'assistant',
      content:
        '[The provider ran mcp with {"server_label":"s","name":"n","arguments":"{}"}]\n[cleared]',
    },
  ]);
});

test('OpenAI Responses: compactions, references and kinds that are not known are carried untouched', () => {
  const wire = [
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' },
    { id: 'msg_7' },
    { type: 'item_reference', id: 'msg_8' },
    { type: 'program', call_id: 'c1', id: 'pr_1', code: 'ls()', fingerprint: 'f' },
    { type: 'program_output', call_id: 'c1', id: 'po_1', result: 'a', status: 'completed' },
    { type: 'function_call_output', output: 'whose?' },
    { type: 'message', role: 'discriminator', content: 'hm' },
    { type: 'dream', depth: 2 },
  ];
  const messages = lossless(openaiResponses, wire);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'system', 'system', 'assistant', 'tool', 'tool', 'system', 'system'],
  );
  assert.ok(messages.every(isOpaque));
  assert.deepEqual(bare(messages[0] as Message), {
    role: 'system',
    parts: [
      { kind: 'opaque', type: 'compaction', value: { type: 'compaction' }, compaction: true },
    ],
    extra: { compaction: [wire[0]] },
  });
});

test('OpenAI Responses: ids and states do not change what a message is', () => {
  const [answered] = openaiResponses.decode([FUNCTION]);
  const { id: _, ...sent } = FUNCTION;
  const [again] = openaiResponses.decode([{ ...sent, status: 'completed' }]);
  assert.ok(answered && again);
  assert.deepEqual(bare(again), bare(answered));
  assert.equal(openaiResponses.rules, OPENAI_RULES);
});

test('OpenAI Responses: what is malformed is refused with its place', () => {
  const cases: [object, string][] = [
    [{ type: 'function_call', name: 'f' }, 'input[0].call_id: must be a string, is absent'],
    [{ type: 'shell_call', call_id: 'c' }, 'input[0].action: must be an object, is absent'],
    [
      { role: 'user', content: {} },
      'input[0].content: must be a string or a list of parts, is an object',
    ],
    [
      { role: 'user', content: [{ type: 'input_image' }] },
      'input[0].content[0]: must have image_url or file_id, is an object',
    ],
    [{ type: 'reasoning', summary: 'x' }, 'input[0].summary: must be a list, is "x"'],
  ];
  for (const [item, message] of cases)
    assert.throws(() => openaiResponses.decode([item]), { name: 'DecodeError', message });
});
