/** What the agent of the story writes first. */
export const FIRST_OUTLINE: string = `import { callsOf, resultsOf, startsTurn, textOf, type Message } from './message.ts';

/** One turn of a conversation in figures. */
export interface TurnOutline {
  readonly turn: number;
  readonly messages: number;
  readonly calls: number;
  readonly failures: number;
  readonly asked: string;
}

const LONGEST = 40;

/** A line of figures for each turn. */
export function outline(messages: readonly Message[]): readonly TurnOutline[] {
  const turns: TurnOutline[] = [];
  for (const message of messages) {
    if (startsTurn(message)) turns.push(begin(turns.length + 1, textOf(message)));
    const last = turns.pop();
    if (last !== undefined) turns.push(joined(last, message));
  }
  return turns;
}

function begin(turn: number, text: string): TurnOutline {
  return { turn, messages: 0, calls: 0, failures: 0, asked: text.slice(0, LONGEST) };
}

function joined(turn: TurnOutline, message: Message): TurnOutline {
  return {
    ...turn,
    messages: turn.messages + 1,
    calls: turn.calls + callsOf(message).length,
    failures: turn.failures + resultsOf(message).filter(({ outcome }) => outcome === 'error').length,
  };
}
`;

/** Its test. */
export const FIRST_TEST: string = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type Message } from '@bobbin/core';
import { outline } from '../src/thread/outline.ts';

const call: Message = {
  role: 'assistant',
  parts: [{ kind: 'call', callId: 'c1', tool: 'run', args: '{"command":"npm test"}' }],
};
const failed: Message = {
  role: 'tool',
  parts: [{ kind: 'result', callId: 'c1', tool: 'run', outcome: 'failure', content: [] }],
};

test('a turn is told with its messages, calls and failures', () => {
  const told = outline([textMessage('user', 'Fix the test'), call, failed]);
  assert.deepEqual(told, [{ turn: 1, messages: 3, calls: 1, failures: 1, asked: 'Fix the test' }]);
});

test('what comes before the first user message is turn 0', () => {
  const told = outline([textMessage('system', 'Be brief.'), textMessage('user', 'Hello')]);
  assert.deepEqual(
    told.map(({ turn, messages }) => ({ turn, messages })),
    [{ turn: 0, messages: 1 }, { turn: 1, messages: 1 }],
  );
});
`;
