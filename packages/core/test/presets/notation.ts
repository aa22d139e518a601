import assert from 'node:assert/strict';
import type { BobbinOptions, CallPart, Message, Policy } from '@bobbin/core';
import { chars4, messagesOnly, type PromptMessage } from '@bobbin/core/internal';
import {
  assistant,
  call,
  reasoning,
  result,
  resultPart,
  system,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';

export const counter: ReturnType<typeof chars4> = chars4();
export const wide: BobbinOptions = { counter, budget: messagesOnly(100_000) };

/** The same policy, acting on every prompt. */
export const now = (policy: Policy): Policy => ({
  ...policy,
  trigger: { kind: 'tokens', atLeast: 1 },
});

/** A text of a number of tokens, message included. */
export const padded = (name: string, tokens: number): string =>
  `${name} `.padEnd((tokens - 2) * 4, '.');

type Word = (text: string, calls: CallPart[]) => Message;

/** Answers the oldest call that is open. */
function answer(text: string, calls: CallPart[]): Message {
  return result(calls.shift() ?? assert.fail(`${text} answers no call`), text);
}

let made = 0;
function open(calls: CallPart[]): CallPart {
  const waiting = call('read', { n: ++made });
  calls.push(waiting);
  return waiting;
}

/** What each letter means. */
const WORDS: Readonly<Record<string, Word>> = {
  s: (text) => system(text),
  u: (text) => user(text),
  a: (text) => assistant(text),
  /** An assistant's call. */
  c: (text, calls) => assistant(text, open(calls)),
  /** An assistant's call after thinking. */
  h: (text, calls) => assistant(reasoning('thought', 'signed'), text, open(calls)),
  /** Two calls at once. */
  p: (text, calls) => assistant(text, open(calls), open(calls)),
  /** The result of the oldest open call. */
  t: answer,
  /** The results of all open calls in one message. */
  r: (text, calls) => ({
    role: 'tool',
    parts: calls.splice(0).map((of) => resultPart(of, text)),
  }),
  /** A summary that the host made, and the question before it. */
  m: (text) => withMeta(assistant(text), { synthetic: true }),
  q: (text) => withMeta(user(text), { synthetic: true }),
  /** A sub-agent's answer and a question to one. */
  b: (text) => withMeta(assistant(text), { branch: 'helper' }),
  v: (text) => withMeta(user(text), { branch: 'helper' }),
};

/**
 * A thread in the seeds' notation, as in `u1 c1 t1 a1 u2:250`: a letter (see WORDS), a name, and what the message costs
 * in tokens (100 if it does not say).
 */
export function talk(text: string, tokensEach: number = 100): readonly Message[] {
  const calls: CallPart[] = [];
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const [name = '', cost = `${tokensEach}`] = word.split(':');
      const make = WORDS[name[0] ?? ''] ?? assert.fail(`no such letter: ${word}`);
      const least = make(name, [...calls, call('read')]);
      const textTokens = Number(cost) - counter.message(least) + Math.ceil(name.length / 4);
      return make(`${name} `.padEnd(textTokens * 4, '.'), calls);
    });
}

/** What a message of a prompt is called in the tables. */
export function nameOf({ message, source }: PromptMessage): string {
  if (source.kind === 'record') return message.role === 'user' ? 'Su' : 'Sa';
  if (source.kind === 'bridge') return '·';
  for (const part of message.parts) {
    const text = part.kind === 'result' ? part.content[0] : part;
    if (text?.kind === 'text') return text.text.split(' ')[0] ?? '';
  }
  return '?';
}

/** A prompt by names: `Su` or `Sa` is a record as a user or assistant message, `·` what makes the role order valid. */
export async function shown(watched: WatchedThread): Promise<string> {
  const { prompt } = await watched.prompt();
  return prompt.messages.map(nameOf).join(' ');
}

export async function opened(
  preset: Policy,
  ...messages: readonly Message[]
): Promise<WatchedThread> {
  const watched = await WatchedThread.open({ ...wide, preset });
  await watched.append(...messages);
  return watched;
}

/** A row: what it proves, the thread, and the prompt that a preset makes of it. */
export type Row<Setting> = readonly [
  name: string,
  thread: string,
  setting: Setting,
  prompt: string,
];

/** Compares all rows at once, so that a failure shows every row that differs. */
export async function expectRows<Setting>(
  rows: readonly Row<Setting>[],
  preset: (setting: Setting) => Policy,
): Promise<void> {
  const found: string[] = [];
  const expected: string[] = [];
  for (const [name, thread, setting, prompt] of rows) {
    found.push(`${name}: ${await shown(await opened(preset(setting), ...talk(thread)))}`);
    expected.push(`${name}: ${prompt}`);
  }
  assert.deepEqual(found, expected);
}
