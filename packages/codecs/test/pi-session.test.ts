import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decoded, linesOf, shortLines } from './session-text.ts';

const entry = (id: string, parentId: string | null, rest: object): object => ({
  id,
  parentId,
  timestamp: '2026-01-01T00:00:00.000Z',
  ...rest,
});
const message = (id: string, parentId: string | null, role: string, rest: object): object =>
  entry(id, parentId, { type: 'message', message: { role, timestamp: 7, ...rest } });
const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10 };

test('B8 B24 a pi tree: the path to the head, its newest compaction, edits and summaries of branches', () => {
  const text = linesOf(
    { type: 'session', version: 3, id: 's1', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/w' },
    message('0', null, 'system', { content: '', sections: { a: 'Rules', b: null } }),
    message('1', '0', 'user', { content: 'first' }),
    message('2', '1', 'assistant', {
      content: [
        { type: 'thinking', thinking: 'hm', thinkingSignature: 'sig' },
        { type: 'toolCall', id: 'c1', name: 'read', arguments: { path: 'a' } },
        { type: 'dream' },
      ],
      model: 'm',
      usage,
      stopReason: 'aborted',
    }),
    message('3', '2', 'toolResult', {
      toolCallId: 'c1',
      toolName: 'read',
      content: [],
      isError: true,
    }),
    message('3b', '3', 'system', { content: 'Patch' }),
    message('4', '3b', 'user', { content: 'abandoned' }),
    entry('5', '3b', { type: 'branch_summary', fromId: '4', summary: 'tried and left' }),
    message('6', '5', 'hookMessage', { customType: 'note', content: 'by a hook' }),
    entry('7', '6', {
      type: 'compaction',
      summary: 'old',
      firstKeptEntryId: '2',
      tokensBefore: 100,
      systemMessage: { role: 'system', content: 'Checkpoint' },
    }),
    message('8', '7', 'bashExecution', { command: 'ls', output: 'a b', exitCode: 0 }),
    message('9', '8', 'bashExecution', { command: 'pwd', output: '/', excludeFromContext: true }),
    entry('10', '9', {
      type: 'custom_message',
      customType: 'x',
      content: 'injected',
      display: true,
    }),
    message('11', '10', 'user', { content: 'wrong' }),
    message('12', '11', 'user', { content: 'to go' }),
    entry('13', '12', { type: 'context_edit', targetId: '11', replacement: { content: 'right' } }),
    entry('14', '13', { type: 'context_edit', targetId: '12', replacement: null }),
    entry('15', '14', { type: 'label', targetId: '1', label: 'x' }),
    message('16', '15', 'stranger', { content: 'hm' }),
  );
  const session = decoded(text, 'pi');
  assert.deepEqual(session.header, { id: 's1', time: 1_767_225_600_000, cwd: '/w', version: '3' });
  assert.deepEqual(shortLines(session.messages), [
    'system text:Rules',
    'user text:first',
    'assistant reasoning:hm call:c1 opaque',
    'tool result:c1',
    'system text:Patch',
    'user text:tried and left (synthetic)',
    'user text:by a hook',
    'user text:$ ls text:a b',
    'user text:injected',
    'user text:right',
    'system opaque',
  ]);
  assert.deepEqual(session.messages[2]?.meta, {
    time: 7,
    model: 'm',
    status: 'aborted',
    usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 },
  });
  assert.deepEqual(session.compactions, [
    { summary: 'old', after: 7, firstKept: 2, time: 1_767_225_600_000, tokensBefore: 100 },
  ]);
  assert.deepEqual(shortLines(session.context), [
    'system text:Checkpoint',
    'user text:old (synthetic)',
    'assistant reasoning:hm call:c1 opaque',
    'tool result:c1',
    'user text:tried and left (synthetic)',
    'user text:by a hook',
    'user text:$ ls text:a b',
    'user text:injected',
    'user text:right',
    'system opaque',
  ]);
  assert.deepEqual(
    session.entries.map(({ messages }) => messages.length).reduce((a, b) => a + b),
    12,
    'the branch that was left, and of this one what the model may read',
  );
});

const line = (role: string, content: unknown): object => ({
  type: 'message',
  timestamp: 't',
  message: { role, content },
});

test('B8 B24 pi, version 1: a compaction names the first line it keeps by its number', () => {
  const text = linesOf(
    { type: 'session', id: 's1', timestamp: 't', cwd: '/' },
    line('user', 'one'),
    line('assistant', [{ type: 'text', text: 'two' }]),
    line('user', 'three'),
    { type: 'compaction', timestamp: 't', summary: 'S', firstKeptEntryIndex: 3, tokensBefore: 9 },
    line('user', 'four'),
  );
  const session = decoded(text, 'pi');
  assert.deepEqual(shortLines(session.context), [
    'user text:S (synthetic)',
    'user text:three',
    'user text:four',
  ]);
  assert.deepEqual(session.compactions, [
    { summary: 'S', after: 3, firstKept: 2, tokensBefore: 9 },
  ]);
});

const kept = (count: number, ...later: readonly object[]): readonly string[] =>
  shortLines(
    decoded(
      linesOf(
        { type: 'session', id: 's1', timestamp: 't', cwd: '/' },
        line('user', 'one'),
        line('assistant', [{ type: 'text', text: 'two' }]),
        line('user', 'three'),
        {
          type: 'compaction',
          timestamp: 't',
          summary: 'S',
          keepLastMessages: count,
          tokensBefore: 9,
        },
        line('user', 'four'),
        ...later,
      ),
      'pi',
    ).context,
  );

test('B8 pi, as its design has it: a compaction says how many messages it keeps', () => {
  const four = 'user text:four';
  assert.deepEqual(kept(2), [
    'user text:S (synthetic)',
    'assistant text:two',
    'user text:three',
    four,
  ]);
  assert.deepEqual(kept(0), ['user text:S (synthetic)', four]);
  const second = {
    type: 'compaction',
    timestamp: 't',
    summary: 'S2',
    keepLastMessages: 3,
    tokensBefore: 9,
  };
  assert.deepEqual(
    kept(2, second),
    ['user text:S2 (synthetic)', four],
    'not beyond the one before',
  );
});
