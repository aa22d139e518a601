import type { MediaProvider } from './media.ts';

/** What is known of a family of models. Prices are multiples of the price of fresh input; all of it is data. */
export interface ModelFacts {
  readonly windowTokens: number;
  readonly provider?: MediaProvider;
  /** The public tokenizer, where there is one. */
  readonly encoding?: 'o200k' | 'cl100k';
  readonly cache?: {
    readonly writePrice: number;
    readonly readPrice: number;
    readonly ttlMs: number;
    readonly minimumTokens: number;
    /** How many markers a request may carry; 0 where the provider finds the prefix by itself. */
    readonly markers: number;
  };
}

const FALLBACK: ModelFacts = { windowTokens: 128_000 };
const anthropicCache = {
  writePrice: 1.25,
  readPrice: 0.1,
  ttlMs: 300_000,
  minimumTokens: 1024,
  markers: 4,
};
const openaiCache = {
  writePrice: 1,
  readPrice: 0.1,
  ttlMs: 300_000,
  minimumTokens: 1024,
  markers: 0,
};

/** By prefix of the model id, longest match first; a provider's own prefix ("anthropic/") is ignored. */
const TABLE: Readonly<Record<string, ModelFacts>> = {
  'claude-': { windowTokens: 200_000, provider: 'anthropic', cache: anthropicCache },
  'gpt-4': { windowTokens: 8_192, provider: 'openai', encoding: 'cl100k' },
  'gpt-4-turbo': { windowTokens: 128_000, provider: 'openai', encoding: 'cl100k' },
  'gpt-4o': {
    windowTokens: 128_000,
    provider: 'openai',
    encoding: 'o200k',
    cache: { ...openaiCache, readPrice: 0.5 },
  },
  'gpt-4.1': {
    windowTokens: 1_047_576,
    provider: 'openai',
    encoding: 'o200k',
    cache: { ...openaiCache, readPrice: 0.25 },
  },
  'gpt-5': { windowTokens: 400_000, provider: 'openai', encoding: 'o200k', cache: openaiCache },
  o3: {
    windowTokens: 200_000,
    provider: 'openai',
    encoding: 'o200k',
    cache: { ...openaiCache, readPrice: 0.25 },
  },
  'o4-mini': {
    windowTokens: 200_000,
    provider: 'openai',
    encoding: 'o200k',
    cache: { ...openaiCache, readPrice: 0.25 },
  },
  'gemini-': { windowTokens: 1_048_576, provider: 'google' },
};

/** Facts of the user's own, by prefix of the model id; they win over the table. */
export type ModelTable = Readonly<Record<string, ModelFacts>>;

export function modelFacts(model: string | undefined, own: ModelTable = {}): ModelFacts {
  if (model === undefined) return FALLBACK;
  const id = model.slice(model.lastIndexOf('/') + 1);
  return (
    longestPrefix(own, model) ?? longestPrefix(own, id) ?? longestPrefix(TABLE, id) ?? FALLBACK
  );
}

/** The size of a model's window (A4). */
export function contextLimit(model: string | undefined, own: ModelTable = {}): number {
  return modelFacts(model, own).windowTokens;
}

function longestPrefix(table: ModelTable, id: string): ModelFacts | undefined {
  let best = '';
  for (const prefix of Object.keys(table))
    if (id.startsWith(prefix) && prefix.length > best.length) best = prefix;
  return best === '' ? undefined : table[best];
}
