import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, MessageId, ThreadId } from '@bobbin/core';
import { emptyPlan } from '@bobbin/core/internal';
import { recogniseSession } from '@bobbin/codecs';
import { decoded, linesOf, shortLines } from './session-text.ts';

const HEADER = { type: 'session', format: 1, tenant: 'default', thread: 'work' };
const wire = (role: 'user' | 'assistant', content: string): object => ({ role, content });
const message = (
  id: string,
  parent: string | null,
  role: 'user' | 'assistant',
  text: string,
  rest: Partial<Message> = { original: wire(role, text) },
): object => ({
  type: 'message',
  id,
  parent,
  message: { role, parts: [{ kind: 'text', text }], ...rest },
});

/** A line of a plan that was made at a message, and keeps another and all after it. */
function compaction(head: string, firstKeptId: string, summary: string | null, rest = {}): object {
  const span = { ids: ['a'] as MessageId[] };
  const plan = { ...emptyPlan('work' as ThreadId), head, records: [{ kind: 'drop', span }] };
  const figures = { version: 1, timestamp: 9, tokensBefore: 500, events: [] };
  return { type: 'compaction', ...figures, summary, firstKeptId, plan: { ...plan, ...rest } };
}

const LINES = [
  HEADER,
  message('a', null, 'user', 'one'),
  message('b', 'a', 'assistant', 'two', {
    meta: { model: 'm' },
    original: wire('assistant', 'two'),
  }),
  message('c', 'b', 'user', 'three'),
  compaction('c', 'c', 'So far.'),
  compaction('c', 'c', 'So far.', { records: [] }),
  compaction('c', 'c', 'So far.'),
  { type: 'events', events: [] },
  message('x', 'b', 'user', 'elsewhere'),
  compaction('x', 'x', 'On the fork.'),
  { type: 'head', id: 'c' },
  message('d', 'c', 'assistant', 'four'),
];

test('B8 Bobbin: the path to the head, with the compactions that were made on it', () => {
  const text = linesOf(...LINES);
  const session = decoded(text, 'bobbin');
  assert.equal(recogniseSession(text)?.encode(session), text);
  assert.deepEqual(session.header, { id: 'work', model: 'm', version: '1' });
  assert.deepEqual(shortLines(session.messages), [
    'user text:one',
    'assistant text:two',
    'user text:three',
    'assistant text:four',
  ]);
  assert.deepEqual(session.messages[0]?.original, wire('user', 'one'));
  assert.deepEqual(session.compactions, [
    { summary: 'So far.', after: 3, firstKept: 2, time: 9, tokensBefore: 500 },
  ]);
  assert.deepEqual(shortLines(session.context), [
    'user text:So far. (synthetic)',
    'user text:three',
    'assistant text:four',
  ]);
  assert.equal(session.entries.flatMap(({ messages }) => messages).length, 5);
});

test('B8 Bobbin: an undo shows all again and is no compaction', () => {
  const undone = decoded(linesOf(...LINES, compaction('d', 'a', null, { undid: 1 })), 'bobbin');
  assert.equal(undone.compactions.length, 1);
  assert.deepEqual(undone.context, undone.messages);
});

test('B8 Bobbin: the wire form of a framework, which no provider reads, is left out', () => {
  const stored = { type: 'human', data: { content: 'one' } };
  const text = linesOf(HEADER, message('a', null, 'user', 'one', { original: stored }));
  assert.deepEqual(decoded(text, 'bobbin').messages, [
    { role: 'user', parts: [{ kind: 'text', text: 'one' }] },
  ]);
});

function withParts(parts: unknown): object {
  return { type: 'message', id: 'e', parent: 'd', message: { role: 'user', parts } };
}

test('B8 Bobbin: what is damaged is refused with its place', () => {
  const result = { kind: 'result', callId: 'x', content: [{ kind: 'call' }] };
  const damaged: readonly (readonly [string, object])[] = [
    ['id: must be the id of a message before it, is "z"', { type: 'head', id: 'z' }],
    ['parent: must be the id of a message before it, is "z"', message('e', 'z', 'user', 'x')],
    ['message.parts: must be a list, is absent', withParts(undefined)],
    ['message.parts[0].kind: must be a kind of part, is "song"', withParts([{ kind: 'song' }])],
    ['message.parts[0].text: must be a string, is absent', withParts([{ kind: 'text' }])],
    ['message.parts[0].content[0].kind: must be a kind of content, is "call"', withParts([result])],
    ['plan: must be an object, is absent', { type: 'compaction' }],
  ];
  for (const [problem, line] of damaged)
    assert.throws(() => decoded(linesOf(...LINES, line), 'bobbin'), {
      name: 'DecodeError',
      message: `line 13.${problem}`,
    });
});
