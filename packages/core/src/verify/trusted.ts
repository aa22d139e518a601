import type { Summarizer, SummaryRequest } from '../ports.ts';
import { estimator } from '../tokens/calibration.ts';
import { cachedSummarizer, memorySummaryCache, type SummaryCache } from '../summary/cache.ts';
import { redactSecrets, redactSummary, type Redact } from '../summary/redact.ts';
import { cleanExtractWithNames, refusal } from '../extract/extract-summarizer.ts';
import { verify, type Verified } from './verify.ts';

/** How many additions are told one by one: events are stored. */
const MOST_TOLD = 20;

export interface VerifyOptions {
  /** Takes secrets out; the built-in redaction where absent. Compose with `redactSecrets` to add to it. */
  readonly redact?: Redact;
}

/** Checks whatever a summarizer returns and completes it, from texts without secrets. Rejects where it must not be stored. */
export function verifiedSummarizer(inner: Summarizer, options: VerifyOptions = {}): Summarizer {
  const { redact = redactSecrets } = options;
  const sound = soundSummarizer(inner, redact);
  return {
    id: inner.id,
    async summarize(request: SummaryRequest) {
      const answer = await sound.summarize(request);
      const { nodes, kept = [], instructions = '', maxTokens, counter = estimator() } = request;
      const previous = request.previous === null ? null : redactSummary(request.previous, redact);
      const { summary: truth, names } = cleanExtractWithNames({ ...request, previous }, redact);
      const stands = kept.map(({ node }) => node);
      const verified = verify(answer, {
        nodes,
        kept: stands,
        shown: kept,
        names,
        instructions,
        redact,
        previous,
        truth,
        maxTokens,
        counter,
      });
      tell(verified, request);
      return verified.summary;
    },
  };
}

function tell({ added, contradictions, superseded }: Verified, { report }: SummaryRequest): void {
  if (added.length > 0)
    report?.({ kind: 'added', count: added.length, first: added.slice(0, MOST_TOLD) });
  if (contradictions.length > 0) report?.({ kind: 'contradicted', contradictions });
  if (superseded.length > 0) report?.({ kind: 'superseded', facts: superseded });
}

export interface TrustOptions extends VerifyOptions {
  readonly cache?: SummaryCache;
  /** The policy with its version: a summary made under another one is not taken from the cache. */
  readonly policy?: string;
}

/** Has the inner one redact what it sends, and passes on only what may be stored, without secrets. */
function soundSummarizer(inner: Summarizer, redact: Redact): Summarizer {
  return {
    id: inner.id,
    async summarize(request: SummaryRequest) {
      const answer = await inner.summarize({ ...request, redact });
      const refused = refusal(answer, request);
      if (refused !== undefined) throw new Error(refused);
      return redactSummary(answer, redact);
    },
  };
}

/**
 * A host's summarizer as the compactor should use it: asked once for equal requests, verified, without secrets. What
 * is cached is the answer: it is verified anew each time, because what else stands in the prompt may have changed.
 */
export function trustedSummarizer(inner: Summarizer, options: TrustOptions = {}): Summarizer {
  const { cache = memorySummaryCache(), policy = '', redact = redactSecrets } = options;
  const sound = soundSummarizer(inner, redact);
  return verifiedSummarizer(cachedSummarizer(sound, cache, policy), { redact });
}
