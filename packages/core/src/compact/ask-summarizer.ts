import { errorText } from '../check/error-text.ts';
import { extractSummarizer } from '../extract/extract-summarizer.ts';
import type { Summary } from '../plan/summary.ts';
import type { SummaryRequest } from '../ports.ts';
import type { CompactionLog } from './compaction-log.ts';
import type { CompactorConfig, Job } from './compaction.ts';

const SUMMARY_DEADLINE_MS = 180_000;

/** Asks the host's summarizer. If it fails, the fallback answers, unless the policy prefers to keep everything. */
export async function askSummarizer(
  config: CompactorConfig,
  job: Job,
  asked: SummaryRequest,
  log: CompactionLog,
): Promise<Summary> {
  const { summarizer, policy, clock, fallback = extractSummarizer } = config;
  const pause = (): Promise<void> => clock.pause?.() ?? Promise.resolve();
  const request = { ...asked, thread: job.key, pause };
  log.summarizer = fallback.id;
  // The extract is never late and never fails.
  if (summarizer.id === fallback.id) return fallback.summarize(request);
  const report: SummaryRequest['report'] = (event) =>
    log.emit({ kind: 'summary-report', report: event });
  try {
    const summary = await inTime(config, job, (signal) =>
      summarizer.summarize({ ...request, report, signal }),
    );
    log.summarizer = summarizer.id;
    return summary;
  } catch (error) {
    job.signal?.throwIfAborted();
    const reason = errorText(error);
    report({ kind: 'failed', summarizer: summarizer.id, reason });
    const failure = `${summarizer.id}: ${reason}`;
    if (policy.onSummaryFailure === 'keep') throw new Error(failure, { cause: error });
    log.warn(`${failure}; the extract is used instead`);
    return fallback.summarize(request);
  }
}

/** A summarizer that never answers counts as failed. */
async function inTime(
  { clock, summaryDeadlineMs = SUMMARY_DEADLINE_MS }: CompactorConfig,
  { signal: cancelled }: Job,
  ask: (signal: AbortSignal) => Promise<Summary>,
): Promise<Summary> {
  const deadline = clock.deadline?.(summaryDeadlineMs);
  const signals = [cancelled, deadline?.signal].filter((each) => each !== undefined);
  const signal = AbortSignal.any(signals);
  let stop: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    stop = () =>
      reject(cancelled?.aborted === true ? signal.reason : new Error('no answer in time'));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([ask(signal), late]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
    deadline?.clear();
  }
}
