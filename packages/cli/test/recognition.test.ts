import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { anthropic, anthropicProblems, type AnthropicMessage } from '@bobbin/codecs';
import { createBobbin } from '@bobbin/core';
import { jsonlStore } from '@bobbin/stores';
import { folder, here } from './run.ts';

const prose = 'What the tool has read from the file, line by line. '.repeat(40);

/** A session file as the store writes it, with compactions inside. */
async function sessionFile(home: string): Promise<string> {
  const store = jsonlStore(home);
  const handle = await createBobbin({ codec: anthropic, store, window: 4_000 }).thread('work');
  await handle.append({ role: 'user', content: 'Read all parts.' });
  for (let i = 0; i < 30; i++) {
    const input = { path: `part-${i}.ts` };
    const call = { type: 'tool_use', id: `t${i}`, name: 'read', input };
    const result = { type: 'tool_result', tool_use_id: `t${i}`, content: prose };
    await handle.append({ role: 'assistant', content: [call] });
    await handle.append({ role: 'user', content: [result] });
    await handle.prompt();
  }
  await store.close();
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' });
  return join(home, files.find((name) => name.endsWith('.jsonl')) ?? '');
}

test('B8 a session file of Bobbin is recognised: its compactions are shown, and it is compacted for its provider', async (t) => {
  const file = await sessionFile(folder(t));
  const shown = await here(['inspect', file]);
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stdout, /\n {2}bobbin · 1 turn · 30 rounds · 61 messages · 30 pairs ·/);
  assert.match(shown.stdout, /\n {2}Compacted by its harness after m\d+: \d+ messages of /);
  assert.doesNotMatch(shown.stdout, /: 0 messages of /);
  const result = await here(['compact', file, '--budget', '3000', '--counter', 'chars4']);
  assert.equal(result.status, 0, result.stderr);
  const messages = JSON.parse(result.stdout) as AnthropicMessage[];
  assert.deepEqual(anthropicProblems({ messages }), []);
  assert.ok(messages.length < 61);
});

test('a list is taken for what its first telling message is, as the codecs judge it', async () => {
  const lists = {
    'ai-sdk': [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }] },
      { role: 'user', content: [{ type: 'image', image: 'https://a.test/b.png' }] },
    ],
    'openai-responses': [
      { type: 'message', role: 'user', content: 'Go.' },
      { type: 'web_search_call', id: 'w1', status: 'completed', action: { type: 'search' } },
    ],
    gemini: {
      contents: [
        { role: 'user', parts: [{ text: 'Go.' }] },
        { role: 'model', parts: [{ text: 'Yes.' }] },
      ],
    },
    bedrock: { messages: [{ role: 'user', content: [{ text: 'Go.' }] }] },
  };
  for (const [format, messages] of Object.entries(lists)) {
    const { stdout } = await here(['inspect'], { stdin: JSON.stringify(messages) });
    assert.match(stdout, new RegExp(`\\n {2}${format} · `));
  }
});

test('H6 a list that no codec of the command reads is named, with what reads it', async () => {
  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }];
  const { status, stderr } = await here(['inspect'], { stdin: JSON.stringify(messages) });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /are messages of the AI SDK \(UIMessage\): use `convertToModelMessages` of `ai` first/,
  );
  const given = await here(['inspect', '--format', 'openai'], { stdin: JSON.stringify(messages) });
  assert.equal(given.status, 2);
  assert.match(
    given.stderr,
    /must be a message of OpenAI Chat Completions, is one of the AI SDK \(UIMessage\)/,
  );
});
