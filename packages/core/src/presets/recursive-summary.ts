import { integerFrom, optionsParser, string } from '../check/shape.ts';
import { DEFAULT_STYLE } from '../plan/plan.ts';
import type { Policy } from '../compact/policy.ts';
import { summarize } from '../compact/rungs/summarize.ts';
import { triggerShape, turnCount, type Trigger } from '../plan/trigger.ts';

export interface RecursiveSummaryOptions {
  readonly keepMessages: number;
  /** How many kept messages the summarizer also reads, so that the summary leads over to them. */
  readonly overlapMessages: number;
  readonly trigger: Trigger;
  /** What a model is asked instead of the summarizer's own request. */
  readonly systemPrompt?: string;
  /** What the user message before the summary says. */
  readonly shadowPrompt?: string;
}

const parseOptions = optionsParser<RecursiveSummaryOptions>(
  'recursiveSummary',
  {
    keepMessages: integerFrom(1),
    overlapMessages: integerFrom(0),
    trigger: triggerShape,
    systemPrompt: string,
    shadowPrompt: string,
  },
  { keepMessages: 10, overlapMessages: 2, trigger: turnCount(20) },
);

/** A rolling summary: a shadow user message and the summary, then the newest messages. */
export function recursiveSummary(options: Partial<RecursiveSummaryOptions> = {}): Policy {
  const { keepMessages, overlapMessages, trigger, systemPrompt, shadowPrompt } =
    parseOptions(options);
  if (overlapMessages >= keepMessages) {
    throw new RangeError(
      `overlapMessages must be less than keepMessages (${keepMessages}), not ${overlapMessages}`,
    );
  }
  return {
    name: 'recursive-summary',
    trigger,
    cut: { kind: 'sliding-window', messages: keepMessages },
    ladder: [
      summarize({
        ratio: 1,
        overlapMessages,
        ...(systemPrompt === undefined ? {} : { systemPrompt }),
      }),
    ],
    stop: 'at-end',
    targetShare: 0.85,
    style: {
      ...DEFAULT_STYLE,
      summaryRole: 'pair',
      ...(shadowPrompt === undefined ? {} : { shadowPrompt }),
    },
    onSummaryFailure: 'keep',
  };
}
