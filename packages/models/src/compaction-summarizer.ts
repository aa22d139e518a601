import {
  formatMessage,
  proseSummary,
  redactSecrets,
  type Summarizer,
  type Summary,
  type SummaryRequest,
} from '@bobbin/core';
import { cleanExtract, estimator, fitSummaryText, redactSummary } from '@bobbin/core/internal';
import { nameOf, sourceOf, type AnthropicClient } from './model-source.ts';
import { promptVersion, summaryPrompt } from './prompts.ts';
import type { Patience } from './patience.ts';
import { answerOf, Asking } from './summarizer-asking.ts';

export interface CompactionSummarizerOptions extends Patience {
  /** A client of Anthropic's own. */
  readonly client: AnthropicClient;
  readonly model: string;
}

/**
 * A summarizer over Anthropic's own compaction: the provider writes the summary, with the rules that must stay in its
 * instructions. Its text is readable, so it is verified as any model's, and what is missing is added.
 */
export function compactionSummarizer(options: CompactionSummarizerOptions): Summarizer {
  const source = sourceOf(options);
  if (source.kind !== 'anthropic')
    throw new TypeError('client must be a client of Anthropic, such as new Anthropic()');
  const name = nameOf(source);
  return {
    id: `${name}+compaction-${promptVersion('hand-over', 'prose')}`,
    async summarize(request: SummaryRequest): Promise<Summary> {
      const asking = new Asking(options, request.signal, request.report);
      const { redact = redactSecrets } = request;
      const messages = request.nodes.map((node) => formatMessage(node, redact));
      try {
        const outcome = await asking.ask({
          source,
          messages: [{ role: 'user', content: messages.join('\n\n') }],
          maxOutputTokens: request.maxTokens,
          compaction: instructionsFor(request),
        });
        return proseSummary(answerOf(outcome), request);
      } finally {
        asking.end(name);
      }
    },
  };
}

/** The instructions for the provider's summary: its form, what it goes on from, and the rules that it has to keep. */
function instructionsFor(request: SummaryRequest): string {
  const { redact = redactSecrets, previous, maxTokens, counter = estimator() } = request;
  const soFar =
    previous === null
      ? null
      : (fitSummaryText(redactSummary(previous, redact), maxTokens, counter) ?? null);
  const { user } = summaryPrompt({
    style: 'hand-over',
    answer: 'prose',
    request,
    transcript: undefined,
    soFar,
    redact,
  });
  const rules = cleanExtract(request, redact).facts.filter(({ kind }) => kind === 'constraint');
  if (rules.length === 0) return user;
  const list = rules.map(({ text }) => `- ${text}`).join('\n');
  return `${user}\n\nThese rules of the user still hold. Repeat them word for word:\n${list}`;
}
