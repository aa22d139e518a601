import { withLazyFields } from '../check/lazy-fields.ts';
import type { CompactionEvent } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import type { Prompt } from '../render/prompt.ts';

/** A prompt in the host's own format, with what led to it. */
export interface Fitted<Wire> {
  /** What to send, in the host's own type. Encoded when it is first read; the list is the host's to change. */
  readonly messages: Wire[];
  /** The same in Bobbin's own format. Its tokens count all of it, what was recalled for this turn included. */
  readonly prompt: Prompt;
  readonly plan: Plan;
  /** The version of the plan: with it the same prompt can be rendered again. */
  readonly version: number;
  readonly compacted: boolean;
  /**
   * True if the messages, without what was recalled, cost no more than `limitTokens`. False only if pins alone exceed
   * it, or if the reserves leave no space; `events` then says by how much, and what the window is less.
   */
  readonly fits: boolean;
  /**
   * What the messages may cost: the window less all parts of the budget. What was recalled has its own part of the
   * budget, so that a prompt which fits has at most `limitTokens` + `budget.rehydrationTokens`, and always fits the
   * window.
   */
  readonly limitTokens: number;
  readonly events: readonly CompactionEvent[];
  /** What the host should send next, if the policy asks for it after a compaction. */
  readonly continueWith?: string;
}

/** A result whose messages are encoded when they are first read: to check a prompt alone costs no pass over it. */
export function withMessages<Wire>(
  result: Omit<Fitted<unknown>, 'messages'>,
  encode: () => Wire[],
): Fitted<Wire> {
  const { prompt, plan, version, compacted, fits, limitTokens, events, continueWith } = result;
  return withLazyFields(
    {
      prompt,
      plan,
      version,
      compacted,
      fits,
      limitTokens,
      events,
      ...(continueWith === undefined ? {} : { continueWith }),
    },
    { messages: encode },
  );
}
