import type { Summarizer } from '../ports.ts';
import { estimator } from '../tokens/calibration.ts';
import type { Counter } from '../tokens/counter.ts';
import { cachedSummarizer, memorySummaryCache, type SummaryCache } from './cache.ts';
import { redactSecrets, redactSummary, type Redact } from './redact.ts';
import type { ReportingRequest } from './report.ts';
import { cleanExtract, refusal } from './summarizer.ts';
import { verify, type Verified } from './verify.ts';

/** Raised when the same answer of a model would be verified to another summary: part of the cache key. */
const VERIFY_VERSION = 'v1';

export interface VerifyOptions {
  /** Counts the room of a summary; best the counter of the compaction. */
  readonly counter?: Counter;
  /** Takes secrets out; the built-in redaction where absent. Compose with `redactSecrets` to add to it. */
  readonly redact?: Redact;
}

/** Checks whatever a summarizer returns, completes it, takes secrets out. Rejects where it must not be stored. */
export function verifiedSummarizer(inner: Summarizer, options: VerifyOptions = {}): Summarizer {
  const { counter = estimator(), redact = redactSecrets } = options;
  return {
    id: `${inner.id}+verified-${VERIFY_VERSION}`,
    async summarize(request: ReportingRequest) {
      const answer = await inner.summarize(request);
      const refused = refusal(answer, request);
      if (refused !== undefined) throw new Error(refused);
      const truth = cleanExtract(request, redact);
      const verified = verify(redactSummary(answer, redact), { ...request, truth, counter });
      tell(verified, request);
      return redactSummary(verified.summary, redact);
    },
  };
}

function tell({ added, contradictions, superseded }: Verified, { report }: ReportingRequest): void {
  if (added.length > 0) report?.({ kind: 'added', additions: added });
  if (contradictions.length > 0) report?.({ kind: 'contradicted', contradictions });
  if (superseded.length > 0) report?.({ kind: 'superseded', facts: superseded });
}

export interface TrustOptions extends VerifyOptions {
  readonly cache?: SummaryCache;
  /** The policy with its version: a summary made under another one is not taken from the cache. */
  readonly policy?: string;
}

/** A host's summarizer as the compactor should use it: verified, redacted, cached, asked once for equal requests. */
export function trustedSummarizer(inner: Summarizer, options: TrustOptions = {}): Summarizer {
  const { cache = memorySummaryCache(), policy = '' } = options;
  return cachedSummarizer(verifiedSummarizer(inner, options), cache, policy);
}
