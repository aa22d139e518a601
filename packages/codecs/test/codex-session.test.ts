import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiResponses } from '@bobbin/codecs';
import { decoded, linesOf, shortLines } from './session-text.ts';

const line = (type: string, payload: object): object => ({ timestamp: 1_000, type, payload });
const item = (payload: object): object => line('response_item', payload);
const said = (role: string, text: string): object => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});

test('B8 Codex: usage and breaks from events, and both kinds of compaction', () => {
  const head = line('session_meta', { id: 's1', cwd: '/w', timestamp: 500, cli_version: '0.1' });
  const before = [
    head,
    line('turn_context', { model: 'gpt' }),
    item(said('user', 'Go')),
    item({ type: 'reasoning', summary: [], content: null }),
    item(said('assistant', 'Going')),
    line('event_msg', {
      type: 'token_count',
      info: { last_token_usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2 } },
    }),
    line('event_msg', { type: 'turn_aborted' }),
    line('event_msg', { type: 'token_count', info: null }),
    item(said('assistant', 'Done')),
    item(said('user', 'Again')),
    line('event_msg', { type: 'turn_aborted' }),
  ];
  const later = item(said('user', 'And?'));
  const old = decoded(linesOf(...before, line('compacted', { message: 'S' }), later), 'codex');
  assert.deepEqual(old.header, { id: 's1', time: 500, cwd: '/w', version: '0.1', model: 'gpt' });
  assert.deepEqual(shortLines(old.messages), [
    'user text:Go',
    'assistant reasoning:',
    'assistant text:Going',
    'assistant text:Done',
    'user text:Again',
    'user text:And?',
  ]);
  assert.deepEqual(old.messages[2]?.meta, {
    time: 1_000,
    model: 'gpt',
    status: 'aborted',
    usage: { inputTokens: 6, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 0 },
  });
  assert.deepEqual(old.messages[3]?.meta, { time: 1_000, model: 'gpt' });
  const received = old.context.slice(0, 3);
  assert.deepEqual(old.compactions, [
    { summary: 'S', after: 5, firstKept: 5, received, time: 1_000 },
  ]);
  assert.deepEqual(shortLines(old.context), [
    'user text:Go',
    'user text:Again',
    'user text:S (synthetic)',
    'user text:And?',
  ]);

  const items = [said('user', 'Go'), { type: 'compaction', encrypted_content: 'x' }];
  const compacted = line('compacted', { message: '', replacement_history: items });
  const recent = decoded(linesOf(...before, compacted, later), 'codex');
  assert.deepEqual(shortLines(recent.context), ['user text:Go', 'system opaque', 'user text:And?']);
  assert.deepEqual(openaiResponses.encode(recent.context), [...items, said('user', 'And?')]);
});
