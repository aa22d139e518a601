/** The same short session as each harness writes it: a request, a command with its output, an answer. */

const TIME = '2026-01-01T00:00:00.000Z';
const OUTPUT = 'export const parse = (text) => text;';

function lines(...objects: readonly object[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('');
}

const pi = (id: string, parentId: string | null, message: object): object => ({
  type: 'message',
  id,
  parentId,
  timestamp: TIME,
  message: { timestamp: 7, ...message },
});

export const piFile: string = lines(
  { type: 'session', version: 3, id: 's1', timestamp: TIME, cwd: '/work' },
  pi('1', null, { role: 'user', content: 'Fix the bug in parser.ts' }),
  pi('2', '1', {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'look first', thinkingSignature: 'sig' },
      { type: 'toolCall', id: 'c1', name: 'bash', arguments: { command: 'cat parser.ts' } },
    ],
    model: 'm',
    usage: { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 12 },
    stopReason: 'toolUse',
  }),
  pi('3', '2', {
    role: 'toolResult',
    toolCallId: 'c1',
    toolName: 'bash',
    content: [{ type: 'text', text: OUTPUT }],
    isError: false,
  }),
  pi('4', '3', {
    role: 'assistant',
    content: [{ type: 'text', text: 'I see the bug.' }],
    model: 'm',
    usage: { input: 20, output: 4, cacheRead: 0, cacheWrite: 0, totalTokens: 24 },
    stopReason: 'stop',
  }),
);

const claude = (
  uuid: string,
  parentUuid: string | null,
  type: string,
  message: object,
): object => ({
  uuid,
  parentUuid,
  isSidechain: false,
  sessionId: 's1',
  cwd: '/work',
  version: '2.1',
  timestamp: TIME,
  type,
  message: { role: type, ...message },
});

export const claudeFile: string = lines(
  claude('u1', null, 'user', { content: 'Fix the bug in parser.ts' }),
  claude('a1', 'u1', 'assistant', {
    id: 'm1',
    model: 'claude',
    content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'cat parser.ts' } }],
    usage: { input_tokens: 10, output_tokens: 2 },
  }),
  claude('r1', 'a1', 'user', {
    content: [{ type: 'tool_result', tool_use_id: 't1', content: OUTPUT }],
  }),
  claude('a2', 'r1', 'assistant', {
    id: 'm2',
    model: 'claude',
    content: [{ type: 'text', text: 'I see the bug.' }],
    usage: { input_tokens: 20, output_tokens: 4 },
  }),
);

const codex = (type: string, payload: object): object => ({ timestamp: TIME, type, payload });
const message = (role: string, text: string): object =>
  codex('response_item', {
    type: 'message',
    role,
    content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  });

export const codexFile: string = lines(
  codex('session_meta', { id: 's1', cwd: '/work', timestamp: TIME, cli_version: '0.1' }),
  message('developer', 'You may write anywhere below the folder.'),
  message('user', 'Fix the bug in parser.ts'),
  codex('response_item', {
    type: 'function_call',
    call_id: 'c1',
    name: 'shell',
    arguments: '{"command":["cat parser.ts"]}',
  }),
  codex('response_item', { type: 'function_call_output', call_id: 'c1', output: OUTPUT }),
  message('developer', 'The mode is now: plan.'),
  message('assistant', 'I see the bug.'),
);

const opencode = (id: string, role: string, ...parts: readonly object[]): object => ({
  info: { id, role, time: { created: 5 } },
  parts,
});

export const opencodeFile: string = JSON.stringify({
  info: { id: 's1', directory: '/work', version: '1.2', time: { created: 5 } },
  messages: [
    opencode('m1', 'user', { type: 'text', text: 'Fix the bug in parser.ts' }),
    opencode(
      'm2',
      'assistant',
      { type: 'step-start' },
      {
        type: 'tool',
        callID: 'c1',
        tool: 'bash',
        state: { status: 'completed', input: { command: 'cat parser.ts' }, output: OUTPUT },
      },
      { type: 'step-finish' },
      { type: 'step-start' },
      { type: 'text', text: 'I see the bug.' },
    ),
  ],
});

const bobbin = (id: string, parent: string | null, role: string, ...parts: object[]): object => ({
  type: 'message',
  id,
  parent,
  message: { role, parts },
});

export const bobbinFile: string = lines(
  { type: 'session', format: 1, thread: 's1' },
  bobbin('0', null, 'system', { kind: 'text', text: 'You work for another host.' }),
  bobbin('1', '0', 'user', { kind: 'text', text: 'Fix the bug in parser.ts' }),
  bobbin('2', '1', 'assistant', {
    kind: 'call',
    callId: 'c1',
    tool: 'bash',
    args: '{"command":"cat parser.ts"}',
  }),
  bobbin('3', '2', 'tool', {
    kind: 'result',
    callId: 'c1',
    content: [{ kind: 'text', text: OUTPUT }],
  }),
  bobbin('4', '3', 'assistant', { kind: 'text', text: 'I see the bug.' }),
);
