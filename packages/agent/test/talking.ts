import type { Asked, Workshop } from './workshop.ts';

/** Answers everything at length; a summary says that it is one and what it was asked for. */
export const TALKER = `
  if (tools.length === 0) {
    const text = messages.map((message) => message.text).join('\\n');
    return { text: 'MODEL SUMMARY. Asked: ' + (/WISH-\\d+/.exec(text)?.[0] ?? 'none') + '. Seen: ' + [...new Set(text.match(/FACT-\\d+/g) ?? [])].join(' ') };
  }
  const about = last.text.slice(0, 40);
  return { text: 'About ' + about + ': ' + Array.from({ length: 250 }, (_, i) => 'word' + i).join(' ') };
`;

export const summaries = ({ requests }: Workshop): readonly Asked[] =>
  requests().filter(({ tools }) => tools.length === 0);
export const work = ({ requests }: Workshop): readonly Asked[] =>
  requests().filter(({ tools }) => tools.length > 0);
export const lastPrompt = (shop: Workshop): string => JSON.stringify(work(shop).at(-1)?.messages);

export async function talked(shop: Workshop, from: number, to: number): Promise<void> {
  for (let i = from; i <= to; i++) await shop.line(`Tell me about FACT-${i} please`);
}
