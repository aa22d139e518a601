import type { CompactorConfig } from '../../compact/compaction.ts';
import { expiryOf } from '../../plan/expiry.ts';
import type { ToolPolicies } from '../../plan/durability.ts';
import { isSentMedia, startsTurn, textOf, type Message, type Part } from '../../message/message.ts';
import type { Node } from '../../thread/thread.ts';
import { largestResultTokens } from '../../tokens/estimate.ts';
import { usageTokens, validUsage } from '../../tokens/usage.ts';

/** What a session knows about its path without reading it again. Each figure is updated when a message arrives. */
export interface Figures {
  /** The thread's first user message. */
  readonly task: string | null;
  /** How many messages of the path were sent to a model. */
  readonly sentMessages: number;
  /** When the last prompt was made. */
  readonly sentAt?: number;
  /** What that prompt and the messages since cost; absent once the provider has reported its usage. */
  readonly unreportedTokens?: number;
  /** The largest tool result that no model has seen. */
  readonly largestUnsentTokens: number;
  /** The bytes of all pictures and files on the path, shown or not. */
  readonly mediaBytes: number;
  /** The index of the newest message in which the provider compacted the conversation. */
  readonly compactionAt?: number;
  /** The running turn contains reasoning that a provider bound to everything before it. */
  readonly signedInTurn: boolean;
  /** The newest answer calls tools: what the user says before the next one does not end the loop. */
  readonly inLoop: boolean;
  /** When the next message expires. */
  readonly nextExpiry: number;
  /** When the newest user message expires: it stays as long as it is the newest. */
  readonly newestExpiry: number;
  /** How long the path was when a compaction found nothing to do: it is not tried again until something is said. */
  readonly triedAt?: number;
  /** The budget has changed since the plan was made: the trigger is asked again. */
  readonly hasNewBudget?: boolean;
  /** The whole context as the provider reported it last, plus what came since; absent after a compaction. */
  readonly reportedTokens?: number;
}

export const NO_FIGURES: Figures = {
  task: null,
  sentMessages: 0,
  largestUnsentTokens: 0,
  mediaBytes: 0,
  signedInTurn: false,
  inLoop: false,
  nextExpiry: Number.POSITIVE_INFINITY,
  newestExpiry: Number.POSITIVE_INFINITY,
};

/** The input that a provider reported for the request that a message answers, if it reported any. */
export function reportedInput(node: Node, since: number): number | undefined {
  const usage = node.index < since ? undefined : validUsage(node.message);
  return usage && usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** The figures with one more message. Usage reported before `since` describes another prompt and is ignored. */
export function withMessage(
  before: Figures,
  { message, index }: Node,
  { counter, tools }: Pick<CompactorConfig, 'counter' | 'tools'>,
  since: number,
): Figures {
  let figures = startsTurn(message) ? withTurn(before, message, tools) : before;
  // A model wrote it, so everything before it was sent.
  if (message.role === 'assistant') {
    const sentMessages = Math.max(figures.sentMessages, index);
    figures = { ...figures, sentMessages, largestUnsentTokens: 0, inLoop: false };
  }
  if (message.meta?.time !== undefined) figures = withExpiryOf(figures, message, tools);
  for (const part of message.parts) figures = withPart(figures, part, index);
  const tokens = counter.message(message);
  const largest = largestResultTokens(message, tokens);
  if (largest > figures.largestUnsentTokens) figures = { ...figures, largestUnsentTokens: largest };
  const isReported = message.meta?.usage !== undefined && index >= since;
  const usage = isReported ? validUsage(message) : undefined;
  if (usage !== undefined) return { ...figures, reportedTokens: usageTokens(usage) };
  const { reportedTokens, unreportedTokens } = figures;
  if (reportedTokens === undefined && unreportedTokens === undefined) return figures;
  return {
    ...figures,
    ...(reportedTokens === undefined ? {} : { reportedTokens: reportedTokens + tokens }),
    ...(unreportedTokens === undefined ? {} : { unreportedTokens: unreportedTokens + tokens }),
  };
}

/** The figures with one part of the message at an index. */
function withPart(figures: Figures, part: Part, index: number): Figures {
  switch (part.kind) {
    case 'reasoning':
      return part.signature === undefined ? figures : { ...figures, signedInTurn: true };
    case 'opaque':
      return part.compaction === true ? { ...figures, compactionAt: index } : figures;
    case 'image':
    case 'file':
      return isSentMedia(part)
        ? { ...figures, mediaBytes: figures.mediaBytes + part.source.length }
        : figures;
    case 'result':
      return part.content.reduce((sum, inner) => withPart(sum, inner, index), figures);
    case 'call':
      return { ...figures, inLoop: true };
    case 'text':
      return figures;
  }
}

/** The newest user message does not expire; with a new one, the one before it may. */
function withTurn(figures: Figures, message: Message, tools: ToolPolicies): Figures {
  return {
    ...figures,
    task: figures.task ?? textOf(message),
    signedInTurn: figures.signedInTurn && figures.inLoop,
    nextExpiry: Math.min(figures.nextExpiry, figures.newestExpiry),
    newestExpiry:
      message.meta?.time === undefined ? Number.POSITIVE_INFINITY : expiryOf(message, tools),
  };
}

/** A shown message may expire. */
export function withExpiryOf(figures: Figures, message: Message, tools: ToolPolicies): Figures {
  return { ...figures, nextExpiry: Math.min(figures.nextExpiry, expiryOf(message, tools)) };
}

/** What was reported no longer describes the prompt: the plan has changed. */
export function withoutReport(figures: Figures): Figures {
  const { reportedTokens: _, ...rest } = figures;
  return rest;
}

/** The provider has reported the usage of the last prompt. */
export function withoutUnreported(figures: Figures): Figures {
  const { unreportedTokens: _, ...rest } = figures;
  return rest;
}
