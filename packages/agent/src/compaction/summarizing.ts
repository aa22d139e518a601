import type { Summarizer } from '@bobbin/core';
import { extractSummarizer, type SummaryReport } from '@bobbin/core/internal';
import { promptVersion, type AnswerForm, type SummaryManner } from '@bobbin/models';
import type { LivePrompt } from '@bobbin/models';
import type { Model } from '../model/models.ts';
import { reasonOf } from '../model/provider-error.ts';

export interface SummarizingOptions {
  /** The model that writes summaries; the built-in extract if absent. */
  readonly model?: Model;
  readonly manner: SummaryManner;
  readonly maxOutputTokens: number;
  /** The prompt that the model knows already, if it is the model that works. */
  readonly live?: () => Promise<LivePrompt | undefined>;
  readonly onStart?: () => void;
  readonly onReport?: (report: SummaryReport) => void;
  /** The model gave no summary; the engine's extract is used. */
  readonly onFailure?: (reason: string) => void;
}

/** The summarizer that a session gives the engine: it reports when it begins and what it cost. */
export function sessionSummarizer(options: SummarizingOptions): Summarizer {
  const { model, manner, onStart, onReport, onFailure } = options;
  return {
    // As `modelSummarizer` names itself, without loading the provider's code for it.
    id:
      model === undefined
        ? extractSummarizer.id
        : `${model.name}+${promptVersion(manner.style, answerOf(model))}`,
    async summarize(request) {
      onStart?.();
      if (model === undefined) return extractSummarizer.summarize(request);
      const report = (reported: SummaryReport): void => {
        const named = namedFor(model, reported);
        onReport?.(named);
        request.report?.(named);
      };
      try {
        const summarizer = await modelSummarizerOf(model, options);
        return await summarizer.summarize({ ...request, report });
      } catch (error) {
        if (request.signal?.aborted !== true) onFailure?.(reasonOf(error));
        throw error;
      }
    },
  };
}

/** A report that names the model as the settings do, which know its price. */
export function namedFor({ name }: Model, report: SummaryReport): SummaryReport {
  return report.kind === 'called' ? { ...report, model: name } : report;
}

const answerOf = ({ structured }: Model): AnswerForm => (structured ? 'structured' : 'prose');

async function modelSummarizerOf(
  model: Model,
  { manner, live, maxOutputTokens }: SummarizingOptions,
): Promise<Summarizer> {
  const [{ modelSummarizer }, language] = await Promise.all([
    import('@bobbin/models'),
    model.load(),
  ]);
  return modelSummarizer({
    model: language,
    style: manner.style,
    ...(live === undefined || manner.reads === 'transcript' ? {} : { live }),
    windowTokens: model.windowTokens,
    answer: answerOf(model),
    maxOutputTokens,
  });
}
