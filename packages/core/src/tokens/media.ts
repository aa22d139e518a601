import type { FilePart, ImagePart } from '../message/message.ts';
import { flatMedia, type MediaTokens } from './estimate.ts';

/** How a provider prices pictures and documents. Figures are data: each row says what the provider documents. */
interface MediaPrice {
  /** Tokens of a picture whose size is known. */
  image(widthPx: number, heightPx: number): number;
  /** Tokens of a picture whose size is not known: the most that the provider charges for one. */
  unknownImage: number;
  /** Tokens of one page of a document (its text and its picture). */
  page: number;
}

const PRICES: Readonly<Record<'anthropic' | 'openai' | 'google', MediaPrice>> = {
  anthropic: {
    image: (w, h) => Math.min(1600, Math.ceil((w * h) / 750)),
    unknownImage: 1600,
    page: 3000,
  },
  openai: { image: tiles, unknownImage: 1445, page: 2500 },
  google: {
    image: (w, h) => 258 * Math.ceil(w / 768) * Math.ceil(h / 768),
    unknownImage: 1032,
    page: 258,
  },
};

/** 512-pixel tiles of the picture scaled to fit 2 048 and then to 768 on its short side: 170 each, 85 for the whole. */
function tiles(w: number, h: number): number {
  const fit = Math.min(1, 2048 / Math.max(w, h));
  const short = Math.min(1, 768 / (Math.min(w, h) * fit));
  const across = Math.ceil((w * fit * short) / 512);
  const down = Math.ceil((h * fit * short) / 512);
  return 85 + 170 * across * down;
}

export type MediaProvider = keyof typeof PRICES;

/** Prices pictures and files as a provider does; without a provider, by the flat heuristic. */
export function mediaTokens(provider?: MediaProvider): MediaTokens {
  if (provider === undefined) return flatMedia;
  const price = PRICES[provider];
  return (part) => (part.kind === 'image' ? imageTokens(price, part) : fileTokens(price, part));
}

function imageTokens(price: MediaPrice, part: ImagePart): number {
  if (part.widthPx === undefined || part.heightPx === undefined) return price.unknownImage;
  return price.image(part.widthPx, part.heightPx);
}

function fileTokens(price: MediaPrice, part: FilePart): number {
  return price.page * (part.pages ?? 1);
}
