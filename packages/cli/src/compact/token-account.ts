import type {
  CompactionEvent,
  Counter,
  Message,
  MessageId,
  Part,
  Plan,
  Prompt,
  ProviderRules,
  RenderStyle,
  ThreadId,
} from '@bobbin/core';
import { actions, emptyPlan, render, inPlace, Thread, type Action } from '@bobbin/core/internal';
import { carriedOut, freedByRung, type RungTotal } from './freed-by-rung.ts';

/** Why a prompt costs something other than what was said, apart from what the rungs free. */
export type Cause = 'hidden' | 'thinking' | 'waiting' | 'late' | 'notes' | 'opener';

/** What was said, and every token that a prompt costs more or less than that: the sum is what it costs. */
export interface Account {
  readonly said: number;
  readonly rungs: readonly RungTotal[];
  readonly causes: ReadonlyMap<Cause, number>;
}

/** A prompt, the plan that it shows, and what led to that. */
export interface Rendered {
  readonly prompt: Prompt;
  readonly plan: Plan;
  readonly events: readonly CompactionEvent[];
}

export function accountOf(
  messages: readonly Message[],
  { prompt, plan, events }: Rendered,
  counter: Counter,
): Account {
  const causes = new Map<Cause, number>();
  const count = (cause: Cause, tokens: number): void => {
    if (tokens !== 0) causes.set(cause, (causes.get(cause) ?? 0) + tokens);
  };
  for (const event of carriedOut(events))
    if (event.kind === 'hidden') count('hidden', -event.freed);
  for (const { message, source } of prompt.messages) {
    if (source.kind === 'no-result') count('notes', counter.message(message));
    if (source.kind === 'bridge') count('opener', counter.message(message));
  }
  countPlaces(messages, prompt, plan, counter, count);
  const said = messages.reduce((sum, message) => sum + counter.message(message), 0);
  return { said, rungs: freedByRung(events), causes };
}

/**
 * The difference between what messages cost as sent and as the plan has them: what a provider would refuse is changed.
 */
function countPlaces(
  messages: readonly Message[],
  prompt: Prompt,
  plan: Plan,
  counter: Counter,
  count: (cause: Cause, tokens: number) => void,
): void {
  const planned = actions(plan);
  const sent = sentInPlace(prompt, counter);
  for (const { id, message } of threadOf(messages).path()) {
    const shown = plannedIn(message, planned.get(id), plan.style);
    if (shown === undefined) continue;
    const { tokens = 0, isLate = false } = sent.get(id) ?? {};
    const cause = isLate ? 'late' : shown.parts.some(isSigned) ? 'thinking' : 'waiting';
    count(cause, tokens - counter.message(shown));
  }
}

interface Sent {
  readonly tokens: number;
  /** Its results came after their round. */
  readonly isLate: boolean;
}

function sentInPlace(prompt: Prompt, counter: Counter): ReadonlyMap<MessageId, Sent> {
  const sent = new Map<MessageId, Sent>();
  for (const { message, source } of prompt.messages) {
    if (source.kind !== 'kept' && source.kind !== 'changed') continue;
    const { tokens = 0, isLate = false } = sent.get(source.id) ?? {};
    sent.set(source.id, {
      tokens: tokens + counter.message(message),
      isLate: isLate || (source.kind === 'changed' && source.by === 'stray'),
    });
  }
  return sent;
}

/** A message as a plan has it in its place; undefined if a record replaces it. */
function plannedIn(
  message: Message,
  action: Action | undefined,
  style: RenderStyle,
): Message | undefined {
  if (action === undefined) return message;
  if (action.kind === 'summarize' || action.kind === 'drop') return undefined;
  if (action.kind === 'externalize' && action.span.ids.length > 1) return undefined;
  return inPlace(message, action, style);
}

function isSigned(part: Part): boolean {
  return part.kind === 'reasoning' && part.signature !== undefined;
}

function threadOf(messages: readonly Message[]): Thread {
  const thread = new Thread(ACCOUNTED);
  for (const message of messages) thread.append(message);
  return thread;
}

const ACCOUNTED = 'accounted' as ThreadId;

/** The account of a conversation's prompt if nothing were compacted. */
export function uncompactedAccount(
  messages: readonly Message[],
  rules: ProviderRules,
  counter: Counter,
): Account {
  const plan = emptyPlan(ACCOUNTED);
  const prompt = render(threadOf(messages).window(plan), plan, { rules, counter });
  return accountOf(messages, { prompt, plan, events: [] }, counter);
}

/** What the causes come to in words: `96 of notes for calls without a result`. */
export function causeTexts({
  causes,
}: Account): readonly (readonly [tokens: number, text: string])[] {
  return [...causes].map(([cause, tokens]) => [tokens, WORDS[cause]]);
}

const WORDS: Readonly<Record<Cause, string>> = {
  hidden: 'what has expired',
  thinking: 'thinking that was signed for another place',
  waiting: 'calls that wait for their results',
  late: 'results after their round, shown as text',
  notes: 'notes for calls without a result',
  opener: 'a word that opens the conversation',
};
