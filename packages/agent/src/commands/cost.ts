import type { Usage } from '@bobbin/core';
import { usageTokens } from '@bobbin/core/internal';
import { percentText, tokensText } from '../figures.ts';
import { ledgerOf, type Ledger } from '../session/ledger.ts';
import type { SlashCommand } from './command.ts';

export const costCommand: SlashCommand = {
  name: 'cost',
  operands: '',
  summary: 'Show the ledger: what the session cost, from the cache and afresh',
  when: 'any',
  async run({ session }) {
    const ledger = await ledgerOf(session);
    const { requests, answers, summaries, cacheShare } = ledger;
    return {
      text: [
        `             ${HEADS.map((head) => head.padStart(12)).join('')}`,
        row(`${requests} answers`, answers),
        row('summaries', summaries),
        `${percentText(cacheShare)} of the input came from the cache. ${priceText(ledger)}`,
      ].join('\n'),
      data: { ...ledger, answers: { ...answers }, summaries: { ...summaries } },
    };
  },
};

function priceText({ price, unpriced }: Ledger): string {
  if (price === undefined) return 'Set models.NAME.inputPrice and outputPrice to see a price.';
  const rest = unpriced === 0 ? '' : ` without ${unpriced} calls of models that have no price`;
  return `Price: ${price.toFixed(4)}${rest}.`;
}

const HEADS = ['fresh', 'cache read', 'cache write', 'output', 'sum'];

function row(name: string, usage: Usage): string {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
  const figures = [
    inputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens,
    usageTokens(usage),
  ];
  return name.padEnd(13) + figures.map((tokens) => tokensText(tokens).padStart(12)).join('');
}
