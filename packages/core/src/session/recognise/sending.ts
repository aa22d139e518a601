import { contextLimitOf, type ContextLimit } from '../context-limit.ts';
import type { Fitted } from '../fitted.ts';
import type { HostRequest } from './conversations.ts';

/**
 * Thrown if a provider refuses a prompt as too long, and then the smaller prompt too. It has the provider's sizes and
 * Bobbin's token counts for both prompts.
 */
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
      `the provider refused the prompt as too long, with ${sizesOf(refusals[0], promptTokens[0])}, and again after a ` +
        `compaction, with ${sizesOf(refusals[1], promptTokens[1])}`,
      { cause },
    );
    this.refusals = refusals;
    this.promptTokens = promptTokens;
  }
}

function sizesOf({ requestTokens, limitTokens }: ContextLimit, promptTokens: number): string {
  const size = requestTokens ?? `about ${promptTokens}`;
  return `${size} tokens of at most ${limitTokens ?? 'an unknown number of'} tokens`;
}

/**
 * Sends a prompt. If the provider refuses it as too long, in any wording, the conversation is compacted hard and sent
 * once more; the event `refused` reports it.
 */
export async function sendFitting<Wire, Answer>(
  request: HostRequest<Wire>,
  fitted: Fitted<Wire>,
  send: (fitted: Fitted<Wire>) => PromiseLike<Answer>,
): Promise<Answer> {
  try {
    return await send(fitted);
  } catch (error) {
    const refusal = contextLimitOf(error);
    if (refusal === undefined) throw error;
    const smaller = await request.refused(refusal);
    return send(smaller).then(undefined, (again: unknown) => {
      const second = contextLimitOf(again);
      if (second === undefined) throw again;
      // Nothing is compacted for a request that will not be sent: what refuses everything must not cost the summary.
      const tokens = [fitted.prompt.tokens, smaller.prompt.tokens] as const;
      throw new RefusedTwice([refusal, second], tokens, again);
    });
  }
}
