import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '@bobbin/core';
import { anthropic } from '@bobbin/codecs';
import { decoded, linesOf, shortLines } from './session-text.ts';

const line = (uuid: string, parentUuid: string | null, rest: object): object => ({
  uuid,
  parentUuid,
  isSidechain: false,
  sessionId: 's1',
  cwd: '/w',
  version: '2.1',
  timestamp: '2026-01-01T00:00:00.000Z',
  ...rest,
});
const user = (content: unknown): object => ({ type: 'user', message: { role: 'user', content } });
const answer = (id: string, block: object): object => ({
  type: 'assistant',
  message: {
    id,
    role: 'assistant',
    model: 'claude',
    content: [block],
    usage: { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3 },
  },
});
const use = (id: string): object => ({ type: 'tool_use', id, name: 'x', input: {} });
const result = (id: string): object =>
  user([{ type: 'tool_result', tool_use_id: id, content: 'r' }]);

test('B8 Claude Code: results of calls made together, sub-agents, rewound forks and compactions', () => {
  const text = linesOf(
    { type: 'mode', sessionId: 's1' },
    line('u1', null, user('Go')),
    line('a0', 'u1', answer('m1', { type: 'text', text: '\n\n' })),
    line('a1', 'a0', answer('m1', use('t1'))),
    line('a2', 'a1', answer('m1', use('t2'))),
    line('r1', 'a1', result('t1')),
    line('r2', 'a2', result('t2')),
    line('side', 'a1', { isSidechain: true, agentId: 'ag', ...user('sub-task') }),
    line('u2', 'r2', user('rewound')),
    line('u3', 'r2', user('instead')),
    line('b', null, {
      type: 'system',
      subtype: 'compact_boundary',
      logicalParentUuid: 'u3',
      compactMetadata: { trigger: 'auto', preTokens: 500 },
    }),
    line('s', 'b', { isCompactSummary: true, ...user('So far: two looks.') }),
    line('e', 's', {
      isApiErrorMessage: true,
      ...answer('m2', { type: 'text', text: 'API Error' }),
    }),
    line('u4', 'e', user('And now?')),
  );
  const session = decoded(text, 'claude-code');
  assert.deepEqual(session.header, {
    id: 's1',
    time: 1_767_225_600_000,
    cwd: '/w',
    model: 'claude',
    version: '2.1',
  });
  assert.deepEqual(shortLines(session.messages), [
    'user text:Go',
    'assistant call:t1',
    'assistant call:t2',
    'tool result:t1',
    'tool result:t2',
    'user text:instead',
    'assistant text:API Error',
    'user text:And now?',
  ]);
  assert.deepEqual(session.compactions, [
    {
      summary: 'So far: two looks.',
      after: 6,
      firstKept: 6,
      time: 1_767_225_600_000,
      tokensBefore: 500,
    },
  ]);
  assert.deepEqual(shortLines(session.context), [
    'user text:So far: two looks. (synthetic)',
    'user text:And now?',
  ]);
  const side = session.entries
    .flatMap(({ messages }) => messages)
    .find(({ meta }) => meta?.branch === 'ag');
  assert.equal(side && textOf(side), 'sub-task');
  assert.deepEqual(anthropic.encode(session.messages.slice(0, 2)), [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [use('t1')] },
  ]);
});

test('B8 Claude Code: a compaction that keeps messages and attaches files', () => {
  const text = linesOf(
    line('u1', null, user('Go')),
    line('a1', 'u1', answer('m1', { type: 'text', text: 'Going' })),
    line('u2', 'a1', user('And on')),
    line('b', null, {
      type: 'system',
      subtype: 'compact_boundary',
      logicalParentUuid: 'u2',
      compactMetadata: { preservedSegment: { headUuid: 'u2', anchorUuid: 's', tailUuid: 'u2' } },
    }),
    line('s', 'b', { isCompactSummary: true, ...user('So far.') }),
    line('f', 's', {
      type: 'attachment',
      attachment: { type: 'file', content: { file: { filePath: 'a.ts', content: 'let a;' } } },
    }),
    line('a2', 'f', answer('m2', { type: 'text', text: 'Done' })),
    line('f2', 'a2', { type: 'attachment', attachment: { type: 'later' } }),
    line('u3', 'f2', user('Thanks')),
  );
  const [compaction] = decoded(text, 'claude-code').compactions;
  assert.deepEqual([compaction?.after, compaction?.firstKept], [3, 2]);
  assert.deepEqual(shortLines(compaction?.received ?? []), [
    'user text:So far. (synthetic)',
    'user text:And on',
    'user text:file\na.ts\nlet a; (synthetic)',
  ]);
});
