import { lastIndex } from '../../check/list.ts';
import type { CompactorConfig } from '../../compact/compaction.ts';
import { isSigned, type ArtifactId } from '../../message/message.ts';
import {
  indexIn,
  remindedMessages,
  reminderTokens,
  type PlacedReminder,
} from '../../recall/reminded-prompt.ts';
import type { Reminder } from '../../recall/reminder.ts';
import type { PromptBuilder } from '../../render/builder.ts';
import type { PromptMessage } from '../../render/prompt.ts';
import { isBound } from './next.ts';
import { firstDifference } from './sent.ts';
import type { SessionState } from './state.ts';

/** What prompts are reminded of. A reminder keeps its place, so that each prompt begins with the one before it. */
export interface Reminding {
  /** In the order of their places, which is the order in which they were found. */
  readonly placed: readonly PlacedReminder[];
  /** The turn that the rest is about. */
  readonly turn: number;
  /** Recall was asked in this turn. */
  readonly asked: boolean;
  /** Artifacts that cannot be shown in this turn. */
  readonly blocked: ReadonlySet<ArtifactId>;
  /** The turn in which each artifact was last brought back, by any process; absent until the store was asked. */
  readonly broughtIn?: ReadonlyMap<ArtifactId, number>;
}

export const NO_REMINDERS: Reminding = { placed: [], turn: 0, asked: false, blocked: new Set() };

export function inTurn(reminding: Reminding, turn: number): Reminding {
  if (reminding.turn === turn) return reminding;
  return { ...reminding, turn, asked: false, blocked: new Set() };
}

/** True while the present turn is reminded of something. */
export function isReminded({ reminding, thread }: SessionState): boolean {
  return reminding.placed.some(({ turn }) => turn === thread.head?.turn);
}

/** The messages of the prompt, with the reminders in their places; with none if all of the thread is shown. */
export function messagesIn(state: SessionState, prompt: PromptBuilder): readonly PromptMessage[] {
  const { thread, plan, config, reminding } = state;
  if (plan.records.length === 0 || reminding.placed.length === 0) return prompt.messages;
  return remindedMessages(prompt.messages, reminding.placed, indexIn(thread, plan), config.rules);
}

/**
 * The index before which a reminder that is found now is placed: that of a user message which was not sent yet, or the
 * end of the prompt. Undefined if a reminder has to wait: for a message of the user's side, or for the results of an
 * answer that a provider has bound to the prompt without it.
 */
export function placeFor(
  { thread, figures, config }: SessionState,
  prompt: PromptBuilder,
  openerIndex: number,
): number | undefined {
  if (openerIndex >= figures.sentMessages) return openerIndex;
  const role = prompt.messages.at(-1)?.message.role;
  if (role !== 'user' && role !== 'tool') return undefined;
  const at = prompt.heldBackFrom ?? thread.length;
  const isSignedAfter = thread.path(at).some(({ message }) => isSigned(message));
  return config.rules.bindsReasoning && isSignedAfter ? undefined : at;
}

/** Without the reminders of earlier turns in what was rewritten since the last prompt: removing them costs nothing. */
export function withoutRewritten(state: SessionState, prompt: PromptBuilder): Reminding {
  const { reminding, sent } = state;
  if (sent.kind !== 'prompt' || reminding.placed.length === 0) return reminding;
  const messages = messagesIn(state, prompt);
  const difference = firstDifference(sent, messages);
  if (difference === undefined) return reminding;
  const rewritten = new Set(messages.slice(difference).map(({ message }) => message));
  const { turn } = state.thread.head ?? { turn: 0 };
  const placed = reminding.placed.filter(
    (reminder) => reminder.turn === turn || !rewritten.has(reminder.message),
  );
  return { ...reminding, placed };
}

/** What a new reminder may cost: the reserve, less the reminders that have to stay. */
export function spaceTokens(state: SessionState, tokensInAll: number): number {
  const { placed, turn } = state.reminding;
  const { rules, counter, budget } = state.config;
  const own = reminderTokens(ofTurn(placed, turn), rules, counter);
  const staying = isBound(state) ? reminderTokens(placed, rules, counter) : own;
  const besideTokens = reminderTokens([EMPTY], rules, counter) - counter.message(EMPTY.message);
  return Math.min(budget.rehydrationTokens - staying, tokensInAll - own) - besideTokens;
}

const EMPTY = { message: { role: 'user', parts: [] } } as const;

function ofTurn(placed: readonly PlacedReminder[], turn: number): readonly PlacedReminder[] {
  return placed.filter((reminder) => reminder.turn === turn);
}

/** With new reminders at a place. Older ones leave if the reserve does not suffice for all. */
export function withReminders(
  { reminding, config }: SessionState,
  reminders: readonly Reminder[],
  at: number,
): Reminding {
  const { turn } = reminding;
  const added = reminders.map((reminder): PlacedReminder => ({ ...reminder, at, turn }));
  return withinReserve({ ...reminding, placed: [...reminding.placed, ...added] }, config);
}

/**
 * With as many reminders as the reserve pays for. Those of earlier turns leave first, the latest of them before the
 * others: so the prompt is rewritten from as late as possible.
 */
export function withinReserve(
  reminding: Reminding,
  { rules, counter, budget }: CompactorConfig,
): Reminding {
  let { placed } = reminding;
  while (placed.length > 0 && reminderTokens(placed, rules, counter) > budget.rehydrationTokens) {
    const earlier = lastIndex(placed, ({ turn }) => turn !== reminding.turn);
    const left = earlier === -1 ? placed.length - 1 : earlier;
    placed = placed.filter((_, i) => i !== left);
  }
  return placed === reminding.placed ? reminding : { ...reminding, placed };
}
