import { lastIndex } from '../check/list.ts';
import { beginsTurn, type Prompt, type PromptMessage } from '../render/prompt.ts';
import type { ProviderRules } from '../render/rules.ts';
import { textMessage } from '../message/message.ts';
import type { Counter } from '../tokens/counter.ts';
import type { Reminder } from './reminder.ts';

const NOTED = '[Noted.]';

/** Reminders with what frames them, and the position in a prompt at which they stand. */
export interface Insertion {
  readonly at: number;
  readonly messages: readonly PromptMessage[];
}

/** Where reminders stand in a prompt: before the present turn, as many as the reserve pays for. */
export function insertion(
  messages: readonly PromptMessage[],
  reminders: readonly Reminder[],
  rules: ProviderRules,
  counter: Counter,
  reserveTokens: number,
): Insertion {
  if (reminders.length === 0) return { at: 0, messages: [] };
  const at = turnStart(messages);
  return { at, messages: within(reserveTokens, messages[at - 1], reminders, rules, counter) };
}

/** A prompt with reminders. Cache points keep their messages. */
export function remindedPrompt(prompt: Prompt, inserted: Insertion, counter: Counter): Prompt {
  const { at, messages } = inserted;
  if (messages.length === 0) return prompt;
  return {
    messages: [...prompt.messages.slice(0, at), ...messages, ...prompt.messages.slice(at)],
    tokens: prompt.tokens + costOf(messages, counter),
    cachePoints: prompt.cachePoints.map((point) => (point < at ? point : point + messages.length)),
  };
}

function within(
  reserveTokens: number,
  before: PromptMessage | undefined,
  reminders: readonly Reminder[],
  rules: ProviderRules,
  counter: Counter,
): readonly PromptMessage[] {
  for (let most = reminders.length; most > 0; most--) {
    const inserted = framed(before, reminders.slice(0, most), rules);
    if (costOf(inserted, counter) <= reserveTokens) return inserted;
  }
  return [];
}

function costOf(messages: readonly PromptMessage[], counter: Counter): number {
  return messages.reduce((sum, { message }) => sum + counter.message(message), 0);
}

/** Where the present turn begins; a prompt without one is reminded behind its system messages. */
function turnStart(messages: readonly PromptMessage[]): number {
  const turn = lastIndex(messages, beginsTurn);
  if (turn !== -1) return turn;
  const first = messages.findIndex(({ message }) => message.role !== 'system');
  return first === -1 ? messages.length : first;
}

/** Reminders are the user's; where roles must take turns, the assistant takes note of each. */
function framed(
  before: PromptMessage | undefined,
  reminders: readonly Reminder[],
  rules: ProviderRules,
): readonly PromptMessage[] {
  const noted: PromptMessage = {
    message: textMessage('assistant', NOTED),
    source: { kind: 'bridge' },
  };
  const bridge = rules.alternate ? [noted] : [];
  const follows = before?.message.role === 'user' || before?.message.role === 'tool';
  return [
    ...(follows ? bridge : []),
    ...reminders.flatMap(({ message, source }) => [{ message, source }, ...bridge]),
  ];
}
