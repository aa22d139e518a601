import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { anthropicProblems, type AnthropicMessage } from '@bobbin/codecs';
import { RECORDED, withoutRecorded } from '@bobbin/testing/recorded';
import { bobbin, folder, here } from './run.ts';

const SESSION_FILES = fileURLToPath(new URL('session-files', RECORDED));
const prose = 'What the tool has read from the file, line by line. '.repeat(40);

const anthropicRound = (i: number): readonly object[] => [
  {
    role: 'assistant',
    content: [
      { type: 'text', text: `Part ${i}.` },
      { type: 'tool_use', id: `t${i}`, name: 'read', input: { path: `part-${i}.ts` } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: prose }] },
];

test('a list of Anthropic messages is recognised and comes out as one', async () => {
  const messages = [
    { role: 'user', content: 'Read all parts.' },
    ...Array.from({ length: 20 }, (_, i) => anthropicRound(i)).flat(),
  ];
  const stdin = JSON.stringify({ model: 'claude-opus-5', system: 'Be brief.', messages });
  const { status, stdout } = await here(['compact', '--budget', '2000', '--counter', 'chars4'], {
    stdin,
  });
  assert.equal(status, 0);
  const result = JSON.parse(stdout) as { system: string; messages: AnthropicMessage[] };
  assert.equal(result.system, 'Be brief.');
  assert.deepEqual(anthropicProblems({ messages: result.messages }), []);
  assert.ok(result.messages.length < messages.length);
  assert.ok(stdout.includes(JSON.stringify(messages.at(-2))));
});

test('items of the Responses API are recognised, in a request that calls them input', async (t) => {
  const home = folder(t);
  const input = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Read it.' }] },
    { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{"path":"a.ts"}' },
    { type: 'function_call_output', call_id: 'c1', output: prose },
  ];
  writeFileSync(join(home, 'request.json'), JSON.stringify({ model: 'gpt-6-sol', input }));
  const { stdout } = await here(['inspect', 'request.json'], { cwd: home });
  assert.match(
    stdout,
    /\n {2}openai-responses · gpt-6-sol · 1 turn · 1 round · 3 messages · 1 pair ·/,
  );
});

const SESSIONS: Readonly<Record<string, readonly object[]>> = {
  pi: [
    {
      type: 'session',
      version: 3,
      id: 's1',
      timestamp: '2026-11-01T10:00:00.000Z',
      cwd: '/home/dev',
    },
    {
      type: 'message',
      id: 'a',
      parentId: null,
      timestamp: '2026-11-01T10:00:01.000Z',
      message: { role: 'user', content: 'Hello' },
    },
  ],
  'claude-code': [
    {
      type: 'user',
      uuid: 'u1',
      parentUuid: null,
      sessionId: 's1',
      isSidechain: false,
      version: '2.1.0',
      cwd: '/home/dev',
      timestamp: '2026-11-01T10:00:00.000Z',
      message: { role: 'user', content: 'Hello' },
    },
  ],
};

for (const [format, lines] of Object.entries(SESSIONS)) {
  test(`a session file of ${format} is recognised, and comes out as messages`, async (t) => {
    const home = folder(t);
    writeFileSync(join(home, 's.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const shown = await here(['inspect', 's.jsonl'], { cwd: home });
    assert.match(shown.stdout, new RegExp(`\n  ${format} · 1 turn · 0 rounds · 1 message · `));
    const { status, stdout } = await here(['compact', 's.jsonl'], { cwd: home });
    assert.deepEqual(
      { status, messages: JSON.parse(stdout) as unknown },
      { status: 0, messages: [{ role: 'user', content: 'Hello' }] },
    );
  });
}

test('import takes a session over from a file or from stdin; what cannot be read is a failure', async (t) => {
  const home = folder(t);
  const around = { cwd: home, env: { XDG_DATA_HOME: home, XDG_CONFIG_HOME: home } };
  const stdin = (SESSIONS['pi'] ?? []).map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(join(home, 's.jsonl'), stdin);
  for (const args of [['s.jsonl'], ['-'], []]) {
    const { status, stdout, stderr } = await bobbin(['import', ...args], { ...around, stdin });
    assert.deepEqual([args, status, stderr], [args, 0, '']);
    assert.match(stdout, /^Imported 1 messages? of pi as session /);
  }
  writeFileSync(join(home, 'other.json'), '{}');
  writeFileSync(join(home, 'broken.jsonl'), `${stdin}{"type":"mess\n{}\n`);
  for (const [file, problem] of [
    ['none.jsonl', ': no such file or directory'],
    ['other.json', ': is no session file that is known'],
    ['broken.jsonl', ':3:1: line 3: must be a JSON object'],
  ] as const)
    assert.deepEqual(await bobbin(['import', file], around), {
      status: 2,
      stdout: '',
      stderr: `bobbin: ${file}${problem}\n`,
    });
});

test('a session file that breaks off is reported with its line', async (t) => {
  const home = folder(t);
  const [header] = SESSIONS['pi'] ?? [];
  writeFileSync(join(home, 's.jsonl'), `${JSON.stringify(header)}\n{"type":"mess\n{}\n`);
  assert.deepEqual(await here(['inspect', 's.jsonl'], { cwd: home }), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: s.jsonl:2:1: line 2: must be a JSON object\n',
  });
});

const skip = withoutRecorded('session-files');

test('a recorded session file of each harness is recognised and inspected', { skip }, async (t) => {
  const home = folder(t);
  const files = readdirSync(SESSION_FILES)
    .map((file) => ({ file, bytes: gunzipSync(readFileSync(join(SESSION_FILES, file))) }))
    .toSorted((a, b) => a.bytes.length - b.bytes.length);
  // Every file is decoded by the tests of the codecs.
  for (const format of ['pi', 'claude-code', 'codex', 'opencode']) {
    const { file, bytes } = files.find((each) => each.file.startsWith(format)) ?? {};
    assert.ok(file !== undefined && bytes !== undefined, format);
    const name = file.replace('.gz', '');
    writeFileSync(join(home, name), bytes);
    const { status, stdout, stderr } = await here(['inspect', name], { cwd: home });
    assert.deepEqual([file, status, stderr], [file, 0, '']);
    assert.ok(stdout.startsWith(`${name}\n  ${format} · `), stdout.slice(0, 200));
  }
});
