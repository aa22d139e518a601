import { extractSummarizer, type Summarizer, type SummaryReport } from '@bobbin/core';
import type { Model } from './models.ts';
import { reasonOf } from './provider-error.ts';

export interface SummarizingOptions {
  /** The model that writes summaries; the built-in extract where absent. */
  readonly model?: Model;
  readonly maxOutputTokens: number;
  readonly onStart?: () => void;
  readonly onReport?: (report: SummaryReport) => void;
  /** The model gave no summary; the engine's extract stands in. */
  readonly onFailure?: (reason: string) => void;
}

/** The summarizer that a session gives the engine: it tells when it begins and what it cost. */
export function sessionSummarizer(options: SummarizingOptions): Summarizer {
  const { model, maxOutputTokens, onStart, onReport, onFailure } = options;
  return {
    id: model?.name ?? extractSummarizer.id,
    async summarize(request) {
      onStart?.();
      if (model === undefined) return extractSummarizer.summarize(request);
      const report = (told: SummaryReport): void => {
        onReport?.(told);
        request.report?.(told);
      };
      try {
        const summarizer = await modelSummarizerOf(model, maxOutputTokens);
        return await summarizer.summarize({ ...request, report });
      } catch (error) {
        if (request.signal?.aborted !== true) onFailure?.(reasonOf(error));
        throw error;
      }
    },
  };
}

async function modelSummarizerOf(model: Model, maxOutputTokens: number): Promise<Summarizer> {
  const [{ modelSummarizer }, language] = await Promise.all([
    import('@bobbin/models'),
    model.load(),
  ]);
  return modelSummarizer({
    model: language,
    windowTokens: model.windowTokens,
    answer: model.structured ? 'structured' : 'prose',
    maxOutputTokens,
  });
}
