import { usageTokens, type Usage } from '@bobbin/core';
import { percentText, tokensText } from '../figures.ts';
import { ledgerOf } from '../ledger.ts';
import type { SlashCommand } from './command.ts';

export const costCommand: SlashCommand = {
  name: 'cost',
  operands: '',
  summary: 'Show the ledger: what the session cost, from the cache and afresh',
  when: 'any',
  async run({ session }) {
    const ledger = await ledgerOf(session);
    const { requests, answers, summaries, cacheShare, price } = ledger;
    return {
      text: [
        `             ${HEADS.map((head) => head.padStart(12)).join('')}`,
        row(`${requests} answers`, answers),
        row('summaries', summaries),
        `${percentText(cacheShare)} of the input came from the cache.${price === undefined ? ' Set models.NAME.inputPrice and outputPrice to see a price.' : ` Price: ${price.toFixed(4)}.`}`,
      ].join('\n'),
      data: { ...ledger, answers: { ...answers }, summaries: { ...summaries } },
    };
  },
};

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
