/** The same short session as three harnesses write it: a request, a command with its output, an answer. */

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
  message('user', 'Fix the bug in parser.ts'),
  codex('response_item', {
    type: 'function_call',
    call_id: 'c1',
    name: 'shell',
    arguments: '{"command":["cat parser.ts"]}',
  }),
  codex('response_item', { type: 'function_call_output', call_id: 'c1', output: OUTPUT }),
  message('assistant', 'I see the bug.'),
);
