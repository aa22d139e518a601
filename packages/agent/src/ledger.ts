import { validUsage, type Usage } from '@bobbin/core';
import type { ModelSettings } from './settings.ts';
import type { Session } from './session.ts';
import { addUsage, cacheShare, NO_USAGE } from './usage.ts';

/** What a session cost: its answers and its summaries, from what the providers reported. */
export interface Ledger {
  readonly requests: number;
  readonly answers: Usage;
  readonly summaries: Usage;
  /** The share of the input that was read from the provider's cache. */
  readonly cacheShare: number;
  /** In the currency of the settings' prices; undefined where none are given. */
  readonly price?: number;
}

export async function ledgerOf(session: Session): Promise<Ledger> {
  const path = await session.path();
  const reported = path.flatMap(({ message }) => validUsage(message) ?? []);
  const answers = reported.reduce(addUsage, NO_USAGE);
  const events = await session.store.events(session.key);
  const summaries = events
    .flatMap(({ event }) =>
      event.kind === 'summary-report' && event.report.kind === 'called' ? [event.report.usage] : [],
    )
    .reduce(addUsage, NO_USAGE);
  const price = priceOf(addUsage(answers, summaries), session.model.settings, session.cachePrices);
  return {
    requests: reported.length,
    answers,
    summaries,
    cacheShare: cacheShare(answers),
    ...(price === undefined ? {} : { price }),
  };
}

export interface CachePrices {
  /** Multiples of the price of fresh input. */
  readonly read: number;
  readonly write: number;
}

export function priceOf(
  usage: Usage,
  { inputPrice, outputPrice }: ModelSettings,
  cache: CachePrices,
): number | undefined {
  if (inputPrice === undefined || outputPrice === undefined) return undefined;
  const input =
    usage.inputTokens + usage.cacheReadTokens * cache.read + usage.cacheWriteTokens * cache.write;
  return (input * inputPrice + usage.outputTokens * outputPrice) / 1_000_000;
}
