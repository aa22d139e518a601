import type { Summarizer, SummaryRequest } from '../ports.ts';
import { estimator } from '../tokens/calibration.ts';
import {
  memorySummaryCache,
  SharedCalls,
  summaryKey,
  type SummaryCache,
} from '../summary/cache.ts';
import { redactSecrets, redactSummary, type Redact } from '../summary/redact.ts';
import type { Summary } from '../plan/summary.ts';
import { cleanExtract, refusal } from '../extract/extract-summarizer.ts';
import { verify, type Verified } from './verify.ts';

/** How many additions and corrections are reported one by one: events are stored. */
const MOST_REPORTED = 20;

export interface TrustOptions {
  /** Takes secrets out; the built-in redaction if absent. Compose with `redactSecrets` to add to it. */
  readonly redact?: Redact;
  /** Keeps answers; none if absent. */
  readonly cache?: SummaryCache;
  /** The policy with its version: a summary made under another one is not taken from the cache. */
  readonly policy?: string;
}

/**
 * A host's summarizer as the compactor uses it, and the only place where an answer is refused: it is asked once for
 * equal requests, refused if it must not be stored, without secrets, verified and completed. What is cached is the
 * answer: it is verified each time, because what else is in the prompt may have changed.
 */
export function trustedSummarizer(inner: Summarizer, options: TrustOptions = {}): Summarizer {
  const { cache = memorySummaryCache(), policy = '', redact = redactSecrets } = options;
  const calls = new SharedCalls(cache, async (request) => {
    const answer = await inner.summarize({ ...request, redact });
    const refused = refusal(answer, request);
    if (refused !== undefined) throw new Error(refused);
    return redactSummary(answer, redact);
  });
  return {
    id: inner.id,
    async summarize(request: SummaryRequest) {
      const answer = await calls.answer(summaryKey(request, inner.id, policy), request);
      const verified = verifiedAnswer(answer, request, redact);
      report(verified, request);
      return verified.summary;
    },
  };
}

function verifiedAnswer(answer: Summary, request: SummaryRequest, redact: Redact): Verified {
  const { nodes, kept = [], instructions = '', maxTokens, counter = estimator() } = request;
  const previous = request.previous === null ? null : redactSummary(request.previous, redact);
  const truth = cleanExtract({ ...request, previous }, redact);
  return verify(answer, {
    nodes,
    kept,
    instructions,
    redact,
    previous,
    truth,
    maxTokens,
    counter,
  });
}

function report(
  { added, corrections, superseded }: Verified,
  { report: emit }: SummaryRequest,
): void {
  if (added.length > 0)
    emit?.({ kind: 'added', count: added.length, first: added.slice(0, MOST_REPORTED) });
  if (corrections.length > 0) emit?.({ kind: 'corrected', corrections });
  if (superseded.length > 0) emit?.({ kind: 'superseded', facts: superseded });
}
