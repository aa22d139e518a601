import type { Summary } from '@bobbin/core';
import type { SummaryReport } from '@bobbin/core/internal';
import { displayPrompt } from './prompts.ts';
import { displayText, twoSentences } from './display.ts';
import { Asking } from './summarizer-asking.ts';
import { nameOf, sourceOf, type AiSdkModel } from './model-source.ts';

const MOST_TOKENS = 120;
const PATIENCE = { retries: 0, timeoutMs: 20_000 } as const;

export interface DisplayOptions {
  readonly signal?: AbortSignal;
  /** Called with what it cost. */
  readonly report?: (report: SummaryReport) => void;
}

/** What a list of sessions shows of one: two sentences by a model, or of the summary itself if it fails. */
export async function displaySummary(
  summary: Summary,
  model: AiSdkModel,
  { signal, report }: DisplayOptions = {},
): Promise<string> {
  const { system, user } = displayPrompt(summary);
  const source = sourceOf({ model });
  const asking = new Asking(PATIENCE, signal, report);
  const outcome = await asking.ask({
    source,
    system,
    messages: [{ role: 'user', content: user }],
    maxOutputTokens: MOST_TOKENS,
    temperature: 0.3,
  });
  asking.end(nameOf(source));
  return outcome.kind === 'answer' ? twoSentences(outcome.text) : displayText(summary);
}
