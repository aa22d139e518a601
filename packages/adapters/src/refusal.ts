import { contextLimitOf, type Fitted } from '@bobbin/core';
import type { ContextLimit } from '@bobbin/core/internal';
import type { HostRequest } from '@bobbin/core/internal';

/** A provider refused a prompt as too long, and the compacted one too: what it said of both, and what both measured. */
export class RefusedTwice extends Error {
  override readonly name = 'RefusedTwice';
  readonly refusals: readonly [ContextLimit, ContextLimit];
  readonly promptTokens: readonly [number, number];

  constructor(
    refusals: readonly [ContextLimit, ContextLimit],
    promptTokens: readonly [number, number],
    cause: unknown,
  ) {
    super(
      `the provider refused the prompt as too long, with ${told(refusals[0], promptTokens[0])}, and again after a ` +
        `compaction, with ${told(refusals[1], promptTokens[1])}`,
      { cause },
    );
    this.refusals = refusals;
    this.promptTokens = promptTokens;
  }
}

function told({ requestTokens, limitTokens }: ContextLimit, promptTokens: number): string {
  const size = requestTokens ?? `about ${promptTokens}`;
  return `${size} tokens of at most ${limitTokens ?? 'an unknown number of'} tokens`;
}

/**
 * Sends a prompt. Where the provider refuses it as too long, whatever its words are, the conversation is compacted hard
 * and sent once more; the event `refused` tells of it.
 */
export async function sendFitting<Wire extends object, Answer>(
  conversation: HostRequest<Wire>,
  fitted: Fitted<Wire>,
  send: (fitted: Fitted<Wire>) => PromiseLike<Answer>,
): Promise<Answer> {
  try {
    return await send(fitted);
  } catch (error) {
    const refusal = contextLimitOf(error);
    if (refusal === undefined) throw error;
    const smaller = await conversation.refused(refusal);
    return send(smaller).then(undefined, (again: unknown) => {
      const second = contextLimitOf(again);
      if (second === undefined) throw again;
      // Nothing is compacted for a request that will not be sent: what refuses everything must not cost the summary.
      const tokens = [fitted.prompt.tokens, smaller.prompt.tokens] as const;
      throw new RefusedTwice([refusal, second], tokens, again);
    });
  }
}
