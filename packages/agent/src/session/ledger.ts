import type { Store, Usage } from '@bobbin/core';
import { modelFacts, usageTokens, type ThreadKey } from '@bobbin/core/internal';
import { modelSettings } from '../model/models.ts';
import type { AgentSession } from './session.ts';
import type { Settings } from '../settings.ts';
import { addUsage, cacheShare, NO_USAGE } from '../model/usage.ts';

/** What a session cost: its answers and its summaries, from what the providers reported. */
export interface Ledger {
  readonly requests: number;
  readonly answers: Usage;
  readonly summaries: Usage;
  /** The share of the input that was read from the provider's cache. */
  readonly cacheShare: number;
  /** In the currency of the settings' prices; undefined if no model that was asked has one. */
  readonly price?: number;
  /** How many calls were of models without a price. */
  readonly unpriced: number;
}

/** What one model was paid for. */
interface Entry {
  readonly model: string;
  readonly usage: Usage;
}

/** Every request was paid for: forks that were left count too. */
export async function ledgerOf({ store, key, setting }: AgentSession): Promise<Ledger> {
  const answers: Entry[] = [];
  const summaries: Entry[] = [];
  for (const paidIn of [key, ...setting.paidIn]) {
    answers.push(...(await answersIn(store, paidIn)));
    summaries.push(...(await summariesIn(store, paidIn)));
  }
  const answered = sumOf(answers);
  const all = [...answers, ...summaries];
  const prices = all.flatMap(({ model, usage }) => priceOf(usage, model, setting.settings) ?? []);
  return {
    requests: answers.length,
    answers: answered,
    summaries: sumOf(summaries),
    cacheShare: cacheShare(answered),
    ...(prices.length === 0 ? {} : { price: prices.reduce((sum, price) => sum + price, 0) }),
    unpriced: all.length - prices.length,
  };
}

async function answersIn(store: Store, key: ThreadKey): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const nodes of store.nodes(key))
    for (const { message } of nodes) {
      const usage = message.role === 'assistant' ? message.meta?.usage : undefined;
      if (usage !== undefined && usageTokens(usage) > 0)
        entries.push({ model: message.meta?.model ?? '', usage });
    }
  return entries;
}

async function summariesIn(store: Store, key: ThreadKey): Promise<readonly Entry[]> {
  return (await store.events(key)).flatMap(({ event }): readonly Entry[] =>
    event.kind === 'summary-report' && event.report.kind === 'called' ? [event.report] : [],
  );
}

function sumOf(entries: readonly Entry[]): Usage {
  return entries.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
}

/** What a model was paid, by the prices of the settings; undefined if they have none for it. */
export function priceOf(usage: Usage, model: string, settings: Settings): number | undefined {
  const { inputPrice, outputPrice } = modelSettings(model, settings);
  if (inputPrice === undefined || outputPrice === undefined) return undefined;
  const { readPrice = 1, writePrice = 1 } = modelFacts(model).cache ?? {};
  const input =
    usage.inputTokens + usage.cacheReadTokens * readPrice + usage.cacheWriteTokens * writePrice;
  return (input * inputPrice + usage.outputTokens * outputPrice) / 1_000_000;
}
