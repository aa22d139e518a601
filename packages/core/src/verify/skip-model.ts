import type { Summarizer, SummaryRequest } from '../ports.ts';
import { estimator } from '../tokens/calibration.ts';
import { renderSummary } from '../summary/render.ts';
import { cleanExtract, extractSummarizer } from '../extract/extract-summarizer.ts';

/** Asks only for what can become shorter; otherwise the extract, which cannot either, is used. */
export function skipIfNotShorter(summarizer: Summarizer): Summarizer {
  return {
    id: summarizer.id,
    summarize: (request) =>
      (canShorten(request) ? summarizer : extractSummarizer).summarize(request),
  };
}

/** From here on a summary is always shorter than what it replaces. */
const MUCH_TOKENS = 2_000;

/** Whether a summary can take less than its messages: each must hold what the extract does, so the extract decides. */
function canShorten({ counter = estimator(), ...request }: SummaryRequest): boolean {
  const { nodes, previous, redact } = request;
  const before = previous === null ? 0 : counter.text(renderSummary(previous));
  const said = nodes.reduce((sum, { message }) => sum + counter.message(message), before);
  return said > MUCH_TOKENS || counter.text(renderSummary(cleanExtract(request, redact))) < said;
}
