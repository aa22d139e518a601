import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SESSION_FORMATS } from '@bobbin/codecs';
import { decoded, shortLines } from './session-text.ts';

const info = (id: string, role: string, rest: object = {}): object => ({
  id,
  role,
  time: { created: 5 },
  ...rest,
});
const tool = (callID: string, state: object): object => ({
  type: 'tool',
  callID,
  tool: 'x',
  state,
});
const text = (value: string, rest: object = {}): object => ({
  type: 'text',
  text: value,
  ...rest,
});
const tokens = { input: 1, output: 2, reasoning: 1, cache: { read: 3, write: 4 } };

test('B8 OpenCode: steps, tools in every state, and compactions', () => {
  const messages = [
    {
      info: info('m1', 'user'),
      parts: [
        text('Go'),
        text('hidden', { ignored: true }),
        { type: 'file', mime: 'image/png', url: 'data:image/png;base64,AA' },
        { type: 'file', mime: 'text/csv', url: 'file:///a.csv', filename: 'a.csv' },
      ],
    },
    {
      info: info('m2', 'assistant', { modelID: 'gpt', tokens }),
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'hm', metadata: { anthropic: { signature: 's' } } },
        tool('c1', { status: 'completed', input: { a: 1 }, output: 'r1' }),
        tool('c2', { status: 'error', input: {}, error: 'broken' }),
        { type: 'step-finish' },
        { type: 'step-start' },
        text('Next'),
        tool('c3', { status: 'running', input: {} }),
        { type: 'patch', hash: 'h', files: [] },
      ],
    },
    {
      info: info('m3', 'user'),
      parts: [text('More'), { type: 'subtask', prompt: 'Review', agent: 'x' }, { type: 'new' }],
    },
    { info: info('m4', 'user'), parts: [{ type: 'compaction', auto: true, tail_start_id: 'm3' }] },
    { info: info('m5', 'assistant', { summary: true, tokens }), parts: [text('So far')] },
    {
      info: info('m6', 'assistant', { error: { name: 'MessageAbortedError' } }),
      parts: [text('Half')],
    },
  ];
  const whole = {
    info: { id: 's1', directory: '/w', version: '1.2', time: { created: 5 } },
    messages,
  };
  const json = JSON.stringify(whole);
  const session = decoded(json, 'opencode');
  assert.deepEqual(
    JSON.parse(SESSION_FORMATS.find(({ name }) => name === 'opencode')?.encode(session) ?? ''),
    whole,
  );
  assert.deepEqual(session.header, { id: 's1', time: 5, cwd: '/w', model: 'gpt', version: '1.2' });
  assert.deepEqual(shortLines(session.messages), [
    'user text:Go image file',
    'assistant reasoning:hm call:c1 call:c2',
    'tool result:c1 result:c2',
    'assistant text:Next call:c3',
    'user text:More text:Review opaque',
    'assistant text:Half',
  ]);
  assert.deepEqual(
    session.messages.map(({ meta }) => [meta?.usage?.cacheReadTokens, meta?.status]),
    [
      [undefined, undefined],
      [3, undefined],
      [undefined, undefined],
      [3, undefined],
      [undefined, undefined],
      [undefined, 'aborted'],
    ],
  );
  assert.deepEqual(session.compactions, [{ summary: 'So far', after: 5, firstKept: 4, time: 5 }]);
  assert.deepEqual(shortLines(session.context), [
    'user text:So far (synthetic)',
    'user text:More text:Review opaque',
    'assistant text:Half',
  ]);
});
