import type { Summarizer, SummaryRequest } from '../ports.ts';
import { extract } from './extract.ts';
import type { Summary } from './summary.ts';

/** The built-in summarizer: needs no model, never fails, gives the same summary for the same messages. */
export const extractSummarizer: Summarizer = {
  id: 'extract-v1',
  summarize: (request: SummaryRequest) => Promise.resolve(extract(request)),
};

/** Why a summary must not be stored, or undefined where it may. */
export function refusal(summary: Summary): string | undefined {
  const says =
    summary.prose?.trim() ||
    summary.currentTask ||
    [
      summary.facts,
      summary.decisions,
      summary.items,
      summary.outcomes,
      summary.files,
      summary.notes,
    ].some((list) => list.length > 0);
  return says ? undefined : 'the summary is blank';
}
