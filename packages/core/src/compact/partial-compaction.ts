import { messageLimit } from '../tokens/budget.ts';
import { compact } from './compact.ts';
import type { Compaction, CompactorConfig, Job } from './compaction.ts';
import { firstSight } from './rungs/first-sight.ts';
import type { Rung } from './rungs/rung.ts';
import { externalizeMedia } from './rungs/externalize-media.ts';

/** Climbs only these rungs, all of them, and does nothing else. */
function compactBy(
  ladder: readonly Rung[],
  config: CompactorConfig,
  job: Job,
): Promise<Compaction> {
  const policy = { ...config.policy, ladder, stop: 'at-end' } as const;
  return compact({ ...config, policy }, { ...job, onlyLadder: true });
}

/** Shortens results that no provider has seen yet: what was sent before stays as it was. */
export function compactFirstSight(config: CompactorConfig, job: Job): Promise<Compaction> {
  return compactBy([firstSight(job.sent, firstSightTokens(config))], config, job);
}

/** Moves pictures and files out that are more than a request may contain. */
export function compactMedia(config: CompactorConfig, job: Job): Promise<Compaction> {
  const { mediaBytes = Number.POSITIVE_INFINITY } = config.rules;
  return compactBy([externalizeMedia(mediaBytes)], config, job);
}

/** Trims one batch. */
export function compactTrim(config: CompactorConfig, job: Job): Promise<Compaction> {
  const ladder = config.policy.ladder.filter(({ trims }) => trims !== undefined);
  return compactBy(ladder, config, job);
}

/** Hides what has expired and shows pins whole that fit again. */
export function compactExpired(config: CompactorConfig, job: Job): Promise<Compaction> {
  const policy = { ...config.policy, ladder: [] };
  return compact({ ...config, policy }, { ...job, onlyLadder: true });
}

/** The size above which a new tool result is shortened at once. */
export function firstSightTokens({ policy, budget }: CompactorConfig): number {
  return Math.floor(messageLimit(budget) * (policy.firstSightShare ?? Number.POSITIVE_INFINITY));
}
