import { lastOf, reversed } from '../check/list.ts';
import { callsOf, resultsOf, textMessage, type Message } from '../message/message.ts';
import type { Plan } from '../plan/plan.ts';
import type { Prompt, PromptMessage, Source } from '../render/prompt.ts';
import type { ProviderRules } from '../render/rules.ts';
import type { Thread } from '../thread/thread.ts';
import type { Counter } from '../tokens/counter.ts';
import type { Reminder } from './reminder.ts';

/** A reminder in its place: after everything that precedes an index of the path. */
export interface PlacedReminder extends Reminder {
  readonly at: number;
  /** The turn that it was found for. */
  readonly turn: number;
}

/** Returns the position on the path that a message of the prompt comes from. */
export type IndexOf = (source: Source) => number | undefined;

/** If roles must alternate, the assistant acknowledges each reminder. */
const NOTED: PromptMessage = {
  message: textMessage('assistant', '[Noted.]'),
  source: { kind: 'bridge', beside: 'reminder' },
};

/** The indexes of what a plan shows of a thread: a record has that of its first message. */
export function indexIn(thread: Thread, plan: Plan): IndexOf {
  return (source) => {
    if (source.kind === 'kept' || source.kind === 'changed') return thread.get(source.id)?.index;
    const record = source.kind === 'record' ? plan.records[source.record] : undefined;
    if (record === undefined) return undefined;
    if (record.kind === 'summarize') return record.at;
    const [first] = record.span.ids;
    return first === undefined ? 0 : (thread.get(first)?.index ?? 0);
  };
}

/** The most that reminders cost, including the words next to each that keep the roles in order. */
export function reminderTokens(
  reminders: readonly { readonly message: Message }[],
  { alternate }: ProviderRules,
  counter: Counter,
): number {
  const besideTokens = alternate ? 2 * counter.message(NOTED.message) : 0;
  return reminders.reduce((sum, { message }) => sum + counter.message(message) + besideTokens, 0);
}

/** A prompt with reminders in their places, in the order of these. Cache points keep their messages. */
export function remindedPrompt(
  prompt: Prompt,
  reminders: readonly PlacedReminder[],
  indexOf: IndexOf,
  rules: ProviderRules,
  counter: Counter,
): Prompt {
  const messages = remindedMessages(prompt.messages, reminders, indexOf, rules);
  const added = messages.filter(isAdded);
  const positions = [...messages.keys()].filter((i) => !isAdded(messages[i] as PromptMessage));
  return {
    messages,
    tokens: added.reduce((sum, { message }) => sum + counter.message(message), prompt.tokens),
    cachePoints: prompt.cachePoints.flatMap((point) => positions[point] ?? []),
  };
}

function isAdded({ source }: PromptMessage): boolean {
  return (
    source.kind === 'rehydrated' ||
    source.kind === 'recalled' ||
    (source.kind === 'bridge' && source.beside === 'reminder')
  );
}

/** The messages of a prompt with reminders in their places. */
export function remindedMessages(
  messages: readonly PromptMessage[],
  reminders: readonly PlacedReminder[],
  indexOf: IndexOf,
  rules: ProviderRules,
): readonly PromptMessage[] {
  const places = [...new Set(reminders.map(({ at }) => at))];
  let reminded: readonly PromptMessage[] = [];
  let end = messages.length;
  for (const at of reversed(places)) {
    const position = positionOf(messages, at, indexOf, end);
    const after = messages.slice(position, end).concat(reminded);
    const here = reminders.filter((reminder) => reminder.at === at);
    reminded = framed(messages.slice(0, position), here, after, rules).concat(after);
    end = position;
  }
  return messages.slice(0, end).concat(reminded);
}

/** The position after everything that precedes an index: a bridge belongs to what follows it, a note to its call. */
function positionOf(
  messages: readonly PromptMessage[],
  at: number,
  indexOf: IndexOf,
  end: number,
): number {
  let position = end;
  for (let i = end - 1; i >= 0; i--) {
    const { source } = messages[i] as PromptMessage;
    if (source.kind === 'no-result') continue;
    const index = indexOf(source);
    if (index !== undefined && index < at) break;
    position = i;
  }
  return beforeOpenCalls(messages, position);
}

/** A position that parts no call from its result: before the first call that is answered after it. */
function beforeOpenCalls(messages: readonly PromptMessage[], position: number): number {
  const open = new Map<string, number>();
  for (const [i, { message }] of messages.slice(0, position).entries()) {
    for (const { callId } of resultsOf(message)) open.delete(callId);
    for (const { callId } of callsOf(message)) open.set(callId, i);
  }
  if (open.size === 0) return position;
  let before = position;
  for (const { message } of messages.slice(position))
    for (const { callId } of resultsOf(message))
      before = Math.min(before, open.get(callId) ?? position);
  return before;
}

/** Reminders are the user's. */
function framed(
  before: readonly PromptMessage[],
  reminders: readonly Reminder[],
  after: readonly PromptMessage[],
  { alternate }: ProviderRules,
): readonly PromptMessage[] {
  const shown = reminders.map(({ message, source }): PromptMessage => ({ message, source }));
  if (!alternate) return shown;
  const between = shown.flatMap((reminder, i) => (i === 0 ? [reminder] : [NOTED, reminder]));
  return [
    ...(isUsersSide(lastOf(before, isSaid)) ? [NOTED] : []),
    ...between,
    ...(isUsersSide(after.find(isSaid)) ? [NOTED] : []),
  ];
}

function isSaid({ message }: PromptMessage): boolean {
  return message.role !== 'system';
}

function isUsersSide(shown: PromptMessage | undefined): boolean {
  return shown !== undefined && shown.message.role !== 'assistant';
}
