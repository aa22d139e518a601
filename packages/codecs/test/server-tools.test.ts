import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, type Message } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import {
  aiSdk,
  aiSdkProblems,
  anthropic,
  anthropicProblems,
  openaiResponses,
  openaiResponsesProblems,
  type AnthropicMessage,
} from '@bobbin/codecs';
import { bare, changed, cleared, lossless } from './lossless.ts';
import { checkedFit } from './fit-check.ts';

const SCREENSHOT = `data:image/png;base64,${'iVBORw0K'.repeat(19_000)}`;

function click(id: string): object {
  return {
    type: 'computer_call',
    id: `cu_${id}`,
    call_id: id,
    action: { type: 'click', button: 'left', x: 10, y: 20 },
    pending_safety_checks: [],
    status: 'completed',
  };
}

function screenshot(id: string, image_url: string = SCREENSHOT): object {
  const output = { type: 'computer_screenshot', image_url };
  return { type: 'computer_call_output', call_id: id, output };
}

test('H2 OpenAI Responses: a computer call and its screenshot are a pair, and the screenshot is an image', () => {
  const wire = [{ role: 'user', content: 'Go' }, click('c1'), screenshot('c1')];
  const messages = lossless(openaiResponses, wire);
  assert.deepEqual(messages.slice(1).map(bare), [
    {
      role: 'assistant',
      parts: [
        {
          kind: 'call',
          callId: 'c1',
          tool: 'computer',
          args: '{"action":{"type":"click","button":"left","x":10,"y":20}}',
        },
      ],
      extra: { type: 'computer_call', pending_safety_checks: [] },
    },
    {
      role: 'tool',
      parts: [
        {
          kind: 'result',
          callId: 'c1',
          tool: 'computer',
          content: [{ kind: 'image', source: SCREENSHOT, mediaType: 'image/png' }],
        },
      ],
      extra: { type: 'computer_call_output' },
    },
  ]);
  assert.ok(chars4('openai').message(messages[2] as Message) < 1_500);
});

test('H2 OpenAI Responses: a computer call that was changed keeps the shape of the API', () => {
  const actions = [{ type: 'click', button: 'left', x: 1, y: 2 }, { type: 'screenshot' }];
  const { action: _, ...head } = click('c2') as { action: unknown };
  const wire = [
    click('c1'),
    screenshot('c1', 'https://a/b.png'),
    { ...head, actions },
    { ...screenshot('c2'), output: { type: 'computer_screenshot', file_id: 'file-1' } },
  ];
  const messages = openaiResponses.decode(wire);
  const { id: __, ...bareCall } = click('c1') as { id: string };
  const { id: ___, ...bareSecond } = { ...head, actions } as unknown as { id: string };
  assert.deepEqual(openaiResponses.encode(changed(messages)), [
    bareCall,
    wire[1],
    bareSecond,
    wire[3],
  ]);
  const without = openaiResponses.encode(messages.map(cleared));
  assert.deepEqual(openaiResponsesProblems(without), []);
  assert.deepEqual(
    without.map(({ type }) => type),
    [
      'computer_call',
      'computer_call_output',
      'message',
      'computer_call',
      'computer_call_output',
      'message',
    ],
  );
  assert.deepEqual(without[2], { type: 'message', role: 'user', content: '[cleared]' });
});

test('H2 OpenAI Responses: calls of built-in tools that nobody answered have an output of their kind', async () => {
  const shell = { type: 'shell_call', call_id: 'c2', action: { commands: ['ls'] } };
  const wire = [
    { role: 'user', content: 'Go' },
    click('c1'),
    shell,
    { role: 'user', content: 'Stop' },
  ];
  const { messages } = await createBobbin({ codec: openaiResponses }).fit(wire);
  assert.deepEqual(openaiResponsesProblems(messages), []);
  assert.deepEqual(
    messages.map((item) => (item as { type?: string }).type).filter((type) => type !== undefined),
    ['computer_call', 'shell_call', 'computer_call_output', 'message', 'shell_call_output'],
  );
});

test('H2 OpenAI Responses: 60 screenshots in a window of 32k stay pairs', async () => {
  const wire: object[] = [{ role: 'user', content: 'Fill in the form.' }];
  for (let i = 0; i < 60; i++) wire.push(click(`c${i}`), screenshot(`c${i}`));
  await checkedFit(openaiResponses, wire, 32_000, openaiResponsesProblems);
});

test('H2 images and files in what a provider’s tools gave are images and files', () => {
  const png = { type: 'image', url: SCREENSHOT };
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x'.repeat(20_000) };
  const [, code] = openaiResponses.decode([
    { role: 'user', content: 'Go' },
    { type: 'code_interpreter_call', id: 'ci_1', code: 'plot()', outputs: [png] },
  ]);
  const [fetched] = anthropic.decode([
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 's1', name: 'web_fetch', input: { url: 'u' } },
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 's1',
          content: { type: 'web_fetch_result', content: { type: 'document', source: pdf } },
        },
      ],
    },
  ]);
  assert.deepEqual(code?.parts[1], {
    kind: 'result',
    callId: 'ci_1',
    tool: 'code_interpreter',
    content: [
      { kind: 'text', text: '[{"type":"image","url":"[image/png]"}]' },
      { kind: 'image', source: SCREENSHOT, mediaType: 'image/png' },
    ],
  });
  assert.deepEqual(fetched?.parts[1], {
    kind: 'result',
    callId: 's1',
    content: [
      {
        kind: 'text',
        text: '{"type":"web_fetch_result","content":{"type":"document","source":"[application/pdf]"}}',
      },
      {
        kind: 'file',
        source: `data:application/pdf;base64,${pdf.data}`,
        mediaType: 'application/pdf',
      },
    ],
  });
});

test('H2 images inside the structured result of a host’s tool are images', () => {
  const value = {
    signature: 'kept',
    content: [{ type: 'image', data: SCREENSHOT.slice(22), mimeType: 'image/png' }],
  };
  const [, result] = aiSdk.decode([
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'shot', input: {} }],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'c', toolName: 'shot', output: { type: 'json', value } },
      ],
    },
  ]);
  assert.deepEqual(result?.parts, [
    {
      kind: 'result',
      callId: 'c',
      tool: 'shot',
      content: [
        { kind: 'text', text: '{"signature":"kept","content":["[image/png]"]}' },
        { kind: 'image', source: SCREENSHOT, mediaType: 'image/png' },
      ],
    },
  ]);
});

test('H2 images in what no codec reads are counted as images', () => {
  const [unknown] = anthropic.decode([
    {
      role: 'user',
      content: [
        {
          type: 'canvas',
          layers: [{ type: 'base64', media_type: 'image/png', data: SCREENSHOT.slice(22) }],
          preview: SCREENSHOT,
        },
      ],
    },
  ]);
  const tokens = chars4('anthropic').message(unknown as Message);
  assert.ok(tokens > 3_200 && tokens < 3_400, `${tokens} tokens for two images`);
});

const CODE = 'for region in regions: query(region)';

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One programmatic loop: code that calls the host's tool three times before it gives its result. */
function loop(n: number, chars = 40): readonly AnthropicMessage[] {
  const id = `srvtoolu_${n}`;
  const caller = { type: 'code_execution_20250825', tool_id: id };
  const use = (k: number): Block => ({
    type: 'tool_use',
    id: `toolu_${n}_${k}`,
    name: 'query',
    input: { region: k },
    caller,
  });
  const code = { type: 'server_tool_use', id, name: 'code_execution', input: { code: CODE } };
  const done = {
    type: 'code_execution_tool_result',
    tool_use_id: id,
    content: { type: 'code_execution_result', stdout: 'x'.repeat(chars), stderr: '' },
  };
  const given = (k: number): AnthropicMessage => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: `toolu_${n}_${k}`, content: 'y'.repeat(chars) }],
  });
  return [
    { role: 'user', content: `Compare the regions, round ${n}.` },
    { role: 'assistant', content: [{ type: 'text', text: 'I run code.' }, code, use(1)] },
    given(1),
    { role: 'assistant', content: [use(2)] },
    given(2),
    { role: 'assistant', content: [done, { type: 'text', text: `Round ${n} is done.` }] },
  ];
}

test('H2 Anthropic: code that calls tools is one pair over several messages', () => {
  const wire = loop(1);
  const messages = lossless(anthropic, wire);
  assert.deepEqual(anthropicProblems({ messages: wire }), []);
  assert.deepEqual(messages.at(-1)?.parts, [
    {
      kind: 'call',
      callId: 'srvtoolu_1',
      tool: 'code_execution',
      args: `{"code":"${CODE}"}`,
    },
    {
      kind: 'result',
      callId: 'srvtoolu_1',
      content: [
        {
          kind: 'text',
          text: `{"type":"code_execution_result","stdout":"${'x'.repeat(40)}","stderr":""}`,
        },
      ],
    },
    { kind: 'text', text: 'Round 1 is done.' },
  ]);
  const step = [...wire.keys()].flatMap((i) =>
    anthropic.decode(wire.slice(i, i + 1), messages.slice(0, i)),
  );
  assert.deepEqual(step, messages, 'decoded message by message');
});

test('H2 Anthropic: a changed message of a whole pair keeps its code and its callers', () => {
  const wire = loop(1);
  const [go, called, ...rest] = anthropic.decode(wire);
  assert.ok(go && called);
  assert.deepEqual(anthropic.encode([go, ...changed([called]), ...rest]), wire);
});

test('H2 Anthropic: a pair that lost a half becomes text', () => {
  const wire = loop(1);
  const messages = anthropic.decode(wire);
  const [go, called, first, second, third, done] = messages as [
    Message,
    Message,
    Message,
    Message,
    Message,
    Message,
  ];
  const withoutCode = anthropic.encode([go, second, third, done]);
  assert.deepEqual(anthropicProblems({ messages: withoutCode }), []);
  assert.deepEqual(withoutCode[1]?.content, [
    { type: 'tool_use', id: 'toolu_1_2', name: 'query', input: { region: 2 } },
  ]);
  const withoutResult = anthropic.encode([go, called, first, { ...go }]);
  assert.deepEqual(anthropicProblems({ messages: withoutResult }), []);
  const resultCleared = anthropic.encode([go, called, first, second, third, cleared(done)]);
  assert.deepEqual(anthropicProblems({ messages: resultCleared }), []);
  assert.equal(JSON.stringify(resultCleared).includes('server_tool_use'), false);
  const running = anthropic.encode([go, called, first]);
  assert.deepEqual(running, wire.slice(0, 3), 'code that still runs stays');
  assert.deepEqual(anthropicProblems({ messages: running }), []);
});

test('H2 Anthropic: the validity check names halves of pairs and callers that are gone', () => {
  const wire = loop(1);
  assert.deepEqual(anthropicProblems({ messages: [wire[0], ...wire.slice(3)] as object[] }), [
    'messages[1].content[0].caller: there is no server_tool_use srvtoolu_1',
    'messages[3].content[0]: a result without its call (srvtoolu_1)',
  ]);
  assert.deepEqual(
    anthropicProblems({
      messages: [...wire.slice(0, 3), { role: 'user', content: 'Stop' }] as object[],
    }),
    ['messages[1].content[1]: a call without its result (srvtoolu_1)'],
  );
});

function refusedByAnthropic(messages: readonly object[]): readonly string[] {
  return anthropicProblems({ messages });
}

for (const windowTokens of [4_000, 8_000, 24_000])
  test(`H2 Anthropic: seven programmatic loops are valid in a window of ${windowTokens}`, async () => {
    const wire = Array.from({ length: 7 }, (_, n) => loop(n, 6_000)).flat();
    await checkedFit(anthropic, wire, windowTokens, refusedByAnthropic);
  });

function answer(id: string, text: string): object {
  return {
    type: 'tool-result',
    toolCallId: id,
    toolName: id.startsWith('s') ? 'code_execution' : 'query',
    output: { type: 'text', value: text },
  };
}

/** The same loop as the AI SDK has it. */
function modelLoop(n: number, chars = 40): readonly object[] {
  const code = {
    type: 'tool-call',
    toolCallId: `s${n}`,
    toolName: 'code_execution',
    input: { code: CODE },
    providerExecuted: true,
  };
  const call = (k: number): object => ({
    type: 'tool-call',
    toolCallId: `t${n}_${k}`,
    toolName: 'query',
    input: { region: k },
    providerOptions: { anthropic: { caller: { type: 'code_execution', toolId: `s${n}` } } },
  });
  return [
    { role: 'user', content: `Compare the regions, round ${n}.` },
    { role: 'assistant', content: [code, call(1)] },
    { role: 'tool', content: [answer(`t${n}_1`, 'y'.repeat(chars))] },
    { role: 'assistant', content: [call(2)] },
    { role: 'tool', content: [answer(`t${n}_2`, 'y'.repeat(chars))] },
    {
      role: 'assistant',
      content: [answer(`s${n}`, 'x'.repeat(chars)), { type: 'text', text: 'Done.' }],
    },
  ];
}

test('H2 AI SDK: code that calls tools is one pair over several messages', () => {
  const wire = modelLoop(1);
  const messages = lossless(aiSdk, wire);
  assert.deepEqual(aiSdkProblems(wire), []);
  assert.deepEqual(
    messages.at(-1)?.parts.map(({ kind }) => kind),
    ['call', 'result', 'text'],
  );
  const [go, called, ...rest] = messages;
  assert.ok(go && called);
  assert.deepEqual(aiSdk.encode([go, ...changed([called]), ...rest]), wire);
  const halves = [
    aiSdk.encode([go, ...rest.slice(1)]),
    aiSdk.encode([go, called, rest[0] as Message, go]),
  ];
  for (const half of halves) assert.deepEqual(aiSdkProblems(half), []);
});

for (const windowTokens of [4_000, 8_000, 24_000])
  test(`H2 AI SDK: seven programmatic loops are valid in a window of ${windowTokens}`, async () => {
    const wire = Array.from({ length: 7 }, (_, n) => modelLoop(n, 6_000)).flat();
    await checkedFit(aiSdk, wire, windowTokens, aiSdkProblems);
  });
