import type { Message } from '@bobbin/core';
import { hasCalls, hasCompaction, hasResults, type PromptMessage } from '@bobbin/core/internal';
import { promptLine } from '../prompt-lines.ts';
import type { Breach, Scene } from './scene.ts';

/**
 * The first message is one that the provider takes, and the sides alternate if they must. A run of assistant messages
 * whose calls are answered together cannot be parted, and is accepted.
 */
export function* roles({ whole, context: { rules } }: Scene): Iterable<Breach> {
  const talk = whole.messages.filter(({ message }) => message.role !== 'system');
  const [first] = talk;
  // A provider that compacted the conversation takes its own compaction first, whose message it is.
  if (
    first !== undefined &&
    !hasCompaction(first.message) &&
    !mayBeFirst(first.message, rules.first)
  )
    yield { law: 'first message acceptable', detail: promptLine(first) };
  if (!rules.alternate) return;
  for (let i = 1; i < talk.length; i++) {
    const before = talk[i - 1] as PromptMessage;
    const now = talk[i] as PromptMessage;
    if (isUsersSide(before.message) !== isUsersSide(now.message)) continue;
    if (isAnswer(now.message) && isAnswer(before.message)) continue;
    if (isAside(now.message)) continue;
    if (isInRun(talk, i)) continue;
    yield { law: 'roles alternate', detail: `${promptLine(now)} after ${promptLine(before)}` };
  }
}

function isAnswer(message: Message): boolean {
  return message.role === 'tool' || (message.role === 'user' && hasResults(message));
}

/** What a tool says without a result, such as an approval, belongs to the round that it is in. */
function isAside(message: Message): boolean {
  return message.role === 'tool' && !hasResults(message);
}

/** True within a run of assistant messages between a call and the results after the run. */
function isInRun(talk: readonly PromptMessage[], position: number): boolean {
  let start = position;
  while (goesOn(talk[start - 1])) start--;
  return talk.slice(start, position).some(({ message }) => hasCalls(message));
}

function goesOn(shown: PromptMessage | undefined): boolean {
  return shown !== undefined && (shown.message.role === 'assistant' || isAside(shown.message));
}

function mayBeFirst(message: Message, first: 'user' | 'any'): boolean {
  if (isAnswer(message)) return false;
  return first === 'any' || message.role === 'user';
}

/** Tool results come from the user's side. */
function isUsersSide(message: Message): boolean {
  return message.role !== 'assistant';
}
