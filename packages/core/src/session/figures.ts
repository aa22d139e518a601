import { expiryOf } from '../plan/expiry.ts';
import type { ToolPolicies } from '../plan/durability.ts';
import { largestResultTokens } from '../plan/unread.ts';
import { isSigned, startsTurn, textOf, type Message } from '../message/message.ts';
import type { Node } from '../thread/thread.ts';
import { usageTokens, validUsage } from '../tokens/usage.ts';

/**
 * What a handle knows of its path without looking at it again: every figure is kept up to date as messages come, so that
 * a check costs nothing.
 */
export class Figures {
  /** The thread's first user message (A11). */
  task: string | null = null;
  /** How many messages of the path were sent to a model already. */
  sent = 0;
  /** When the last prompt was made, and what its messages cost, with those that came since; undefined once answered. */
  sentAt: number | undefined;
  sentTokens: number | undefined;
  /** The largest tool result that no model has seen. */
  largestUnsentTokens = 0;
  /** The running turn holds reasoning that a provider has bound to all that precedes it. */
  signedInTurn = false;
  /** When the next message's time to live is over. */
  nextExpiry: number = Number.POSITIVE_INFINITY;
  #newestExpiry: number = Number.POSITIVE_INFINITY;
  /** The whole context as the provider reported it last, with what came since; undefined after a compaction. */
  #reported: number | undefined;

  get reportedTokens(): number | undefined {
    return this.#reported;
  }

  /** Takes a message in. Gives what the provider reported as its input, where the message carries that. */
  note(
    { message, index }: Node,
    tokens: number,
    tools: ToolPolicies,
    since: number,
  ): number | undefined {
    if (startsTurn(message)) {
      this.signedInTurn = false;
      this.task ??= textOf(message);
      // The newest user message outlives its time; from now on that is another.
      this.nextExpiry = Math.min(this.nextExpiry, this.#newestExpiry);
      this.#newestExpiry = expiryOf(message, tools);
    }
    if (isSigned(message)) this.signedInTurn = true;
    // A model wrote it, so all before it was sent.
    if (message.role === 'assistant') this.markSent(index);
    const largest = largestResultTokens(message, tokens);
    this.largestUnsentTokens = Math.max(this.largestUnsentTokens, largest);
    this.expect(message, tools);
    const usage = index < since ? undefined : validUsage(message);
    if (usage === undefined) {
      if (this.#reported !== undefined) this.#reported += tokens;
      if (this.sentTokens !== undefined) this.sentTokens += tokens;
      return undefined;
    }
    this.#reported = usageTokens(usage);
    return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  }

  /** A message that is shown may expire. */
  expect(message: Message, tools: ToolPolicies): void {
    this.nextExpiry = Math.min(this.nextExpiry, expiryOf(message, tools));
  }

  markSent(messages: number): void {
    this.sent = Math.max(this.sent, messages);
    this.largestUnsentTokens = 0;
  }

  /** What was reported no longer holds: the prompt has changed. */
  forgetReported(): void {
    this.#reported = undefined;
  }
}
