import { canonicalJson } from '../../message/json.ts';
import { isSigned } from '../../message/message.ts';
import type { PlacedReminder } from '../../recall/reminded-prompt.ts';
import { holdsReasoning, type Plan } from '../../plan/plan.ts';
import type { Prompt, PromptMessage } from '../../render/prompt.ts';
import { runningLoop } from '../../thread/units.ts';
import type { SessionState } from './state.ts';

/** What went out last. */
export type Sent =
  /** Every prompt so far was without reminders. */
  | { readonly kind: 'nothing' }
  /** An earlier process sent it: the store knows whether it had reminders. */
  | { readonly kind: 'resumed' }
  /** It is not known, and may have had reminders. */
  | { readonly kind: 'elsewhere' }
  | SentPrompt;

export interface SentPrompt {
  readonly kind: 'prompt';
  readonly plan: Plan;
  readonly reminders: readonly PlacedReminder[];
  readonly prompt: Pick<Prompt, 'messages'>;
}

/** The first position at which a prompt is not as it was sent; undefined if it only grew. */
export function firstDifference(
  { prompt }: SentPrompt,
  now: readonly PromptMessage[],
): number | undefined {
  const difference = prompt.messages.findIndex((message, i) => !isSame(message, now[i]));
  return difference < 0 ? undefined : difference;
}

function isSame(a: PromptMessage, b: PromptMessage | undefined): boolean {
  if (a.message === b?.message) return true;
  if (b === undefined || a.message.role !== b.message.role) return false;
  return canonicalJson(a.message.parts) === canonicalJson(b.message.parts);
}

/** The index of the path from which a prompt is not as it was sent; undefined if it only grew. */
export function changedFrom(
  { sent, thread, plan, reminding }: SessionState,
  now: readonly PromptMessage[],
): number | undefined {
  if (sent.kind !== 'prompt') return sent.kind === 'elsewhere' ? 0 : undefined;
  if (sent.plan === plan && sent.reminders === reminding.placed) return undefined;
  const position = firstDifference(sent, now);
  if (position === undefined) return undefined;
  for (const { source } of now.slice(position)) {
    if (source.kind !== 'kept' && source.kind !== 'changed') continue;
    return thread.get(source.id)?.index ?? 0;
  }
  return thread.length;
}

/** True if signed reasoning from an index of the path on still holds by the plan. */
export function isSignedFrom({ thread, plan }: SessionState, index: number): boolean {
  return thread
    .path(index)
    .some((node) => isSigned(node.message) && holdsReasoning(plan, node.index));
}

/** True if a tool loop is running, so that a provider may refuse it without its reasoning. */
export function isInLoop({ thread }: SessionState): boolean {
  return runningLoop(thread.path()).length > 0;
}
