import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import type { RecordedMessage } from './recordings.ts';
import { WIRE_FORMS } from './wire-forms.ts';

const FILES = ['/a', '/b', '/c'];
const REPLACEMENT = '[an old listing]';
const HISTORY: readonly RecordedMessage[] = [
  { role: 'user', content: 'List three folders.' },
  {
    role: 'assistant',
    content: 'I list them.',
    toolCalls: FILES.map((path, i) => ({ id: `call_${i}`, name: 'ls', args: { path } })),
  },
  ...FILES.map((path, i): RecordedMessage => ({
    role: 'tool',
    toolCallId: `call_${i}`,
    toolName: 'ls',
    content: `${path} has readme.md`,
  })),
  { role: 'assistant', content: 'Each has a readme.' },
  { role: 'user', content: 'Thanks. And now?' },
];

for (const { codec, wire, problems } of WIRE_FORMS)
  test(`14.2 E1 ${codec.name}: results are hidden when their time to live is over, though the wire has no times`, async () => {
    let now = 0;
    const tools = { ls: { ttlMs: 1_000, replacement: REPLACEMENT } };
    const bobbin = createBobbin({ codec, counter: chars4(), clock: { now: () => now }, tools });
    const history = wire(HISTORY);
    assert.deepEqual((await bobbin.fit(history)).messages, history);
    now = 1_001;
    const { messages } = await bobbin.fit(history);
    const shown = JSON.stringify(messages);
    assert.deepEqual(problems(messages), []);
    assert.ok(!shown.includes('has readme.md') && shown.includes(REPLACEMENT), shown);
    const together = shown.split(REPLACEMENT).length - 1;
    assert.ok(together === 1 || together === FILES.length, 'once in each message');
  });
