/** One step of an agent: what it says, what it calls, what comes back. */
interface Step {
  readonly says: string;
  readonly tool: string;
  readonly input: object;
  readonly output: string;
}

const listing = Array.from({ length: 60 }, (_, i) => `line ${i} of what was read, nothing more`);
const steps: readonly Step[] = [
  {
    says: 'I read it.',
    tool: 'read',
    input: { file_path: 'src/net/client.ts' },
    output: listing.join('\n'),
  },
  {
    says: 'I decided to use a retry with jitter instead of a longer timeout.',
    tool: 'edit',
    input: { file_path: 'src/net/client.ts', old_string: 'a', new_string: 'b' },
    output: 'The file was changed.',
  },
  { says: '', tool: 'bash', input: { command: 'npm run e2e' }, output: '12 passed' },
  {
    says: '',
    tool: 'todowrite',
    input: {
      todos: [
        { content: 'Add the retry', status: 'completed', priority: 'high' },
        { content: 'Document the retry for operators', status: 'pending', priority: 'low' },
      ],
    },
    output: 'Todos were saved.',
  },
];

const ASKED =
  'Fix the timeout of ticket NET-4711. Never change the public API. My key is sk-abcdefghijklmnopqrstuvwx: do not print sk-abcdefghijklmnopqrstuvwx anywhere.';
const AFTER = 'I run npm run e2e again for NET-4711.';
const filler = 'The work went on without anything that needs to be said here. '.repeat(20);

/** A summary that keeps the file and rewords the open item; everything else is lost. */
export const SUMMARY = `A timeout was fixed in \`src/net/client.ts\`. What is left: the retry must be documented, so operators know. ${filler}`;

const TIME = '2026-01-02T03:04:05.000Z';
const lines = (...all: readonly object[]): string =>
  all.map((line) => `${JSON.stringify(line)}\n`).join('');

const claudeUser = (content: unknown): object => ({
  type: 'user',
  message: { role: 'user', content },
});
const said = (role: string, text: string): object => ({
  type: 'message',
  role,
  content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
});
const info = (id: string, role: string, rest: object = {}): object => ({
  id,
  role,
  time: { created: Date.parse(TIME) },
  ...rest,
});
const text = (value: string): object => ({ type: 'text', text: value });

/** The same made-up session as each harness writes it; `summary` and `asked` may be replaced. */
export const SESSIONS: Readonly<Record<string, (summary?: string, asked?: string) => string>> = {
  'claude-code': (summary = SUMMARY, asked = ASKED) => {
    let parent: string | null = null;
    let count = 0;
    const line = (rest: object): object => {
      const uuid = `u${count++}`;
      const made = {
        uuid,
        parentUuid: parent,
        isSidechain: false,
        sessionId: 's',
        timestamp: TIME,
        ...rest,
      };
      parent = uuid;
      return made;
    };
    const answer = (content: unknown): object => ({
      type: 'assistant',
      message: { id: `a${count}`, role: 'assistant', model: 'claude-test', content },
    });
    return lines(
      line(claudeUser(asked)),
      ...steps.flatMap(({ says, tool, input, output }, i) => [
        line(
          answer([
            ...(says === '' ? [] : [{ type: 'text', text: says }]),
            { type: 'tool_use', id: `t${i}`, name: tool, input },
          ]),
        ),
        line(claudeUser([{ type: 'tool_result', tool_use_id: `t${i}`, content: output }])),
      ]),
      line({
        type: 'system',
        subtype: 'compact_boundary',
        parentUuid: null,
        logicalParentUuid: parent,
        compactMetadata: { trigger: 'auto', preTokens: 5000 },
      }),
      line({ isCompactSummary: true, ...claudeUser(summary) }),
      line(answer([{ type: 'text', text: AFTER }])),
    );
  },
  codex: (summary = SUMMARY, asked = ASKED) => {
    const line = (type: string, payload: object): object => ({ timestamp: TIME, type, payload });
    const item = (payload: object): object => line('response_item', payload);
    return lines(
      line('session_meta', { id: 's', timestamp: TIME, cwd: '/w', cli_version: '0.1' }),
      item(said('user', asked)),
      ...steps.flatMap(({ says, tool, input, output }, i) => [
        ...(says === '' ? [] : [item(said('assistant', says))]),
        item({
          type: 'function_call',
          call_id: `t${i}`,
          name: tool,
          arguments: JSON.stringify(input),
        }),
        item({ type: 'function_call_output', call_id: `t${i}`, output }),
      ]),
      line('compacted', { message: '', replacement_history: [said('user', summary)] }),
      item(said('assistant', AFTER)),
    );
  },
  pi: (summary = SUMMARY, asked = ASKED) => {
    let parent: string | null = null;
    let count = 0;
    const entry = (rest: object): object => {
      const made = { id: `${count}`, parentId: parent, timestamp: TIME, ...rest };
      parent = `${count++}`;
      return made;
    };
    const message = (role: string, rest: object): object =>
      entry({ type: 'message', message: { role, timestamp: 7, ...rest } });
    return lines(
      { type: 'session', version: 3, id: 's', timestamp: TIME, cwd: '/w' },
      message('user', { content: asked }),
      ...steps.flatMap(({ says, tool, input, output }, i) => [
        message('assistant', {
          model: 'claude-test',
          content: [
            ...(says === '' ? [] : [{ type: 'text', text: says }]),
            { type: 'toolCall', id: `t${i}`, name: tool, arguments: input },
          ],
        }),
        message('toolResult', {
          toolCallId: `t${i}`,
          toolName: tool,
          isError: false,
          content: [{ type: 'text', text: output }],
        }),
      ]),
      entry({ type: 'compaction', summary, firstKeptEntryId: '8', tokensBefore: 5000 }),
      message('assistant', { model: 'claude-test', content: [{ type: 'text', text: AFTER }] }),
    );
  },
  opencode: (summary = SUMMARY, asked = ASKED) => {
    const messages = [
      { info: info('m0', 'user'), parts: [text(asked)] },
      {
        info: info('m1', 'assistant', { modelID: 'claude-test' }),
        parts: steps.flatMap(({ says, tool, input, output }, i) => [
          { type: 'step-start' },
          ...(says === '' ? [] : [text(says)]),
          { type: 'tool', callID: `t${i}`, tool, state: { status: 'completed', input, output } },
        ]),
      },
      { info: info('m2', 'user'), parts: [{ type: 'compaction', auto: true }] },
      { info: info('m3', 'assistant', { summary: true }), parts: [text(summary)] },
      { info: info('m4', 'assistant', { modelID: 'claude-test' }), parts: [text(AFTER)] },
    ];
    return JSON.stringify({ info: { id: 's', directory: '/w', version: '1' }, messages });
  },
};
