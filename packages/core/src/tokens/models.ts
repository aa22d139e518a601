import type { MediaProvider } from './counter.ts';

/** A public tokenizer, and whose model it is for. */
export type Tokenizer = Pick<ModelFacts, 'encoding' | 'provider'>;

/** What is known of a family of models. Prices are multiples of the price of fresh input; all of it is data. */
export interface ModelFacts {
  /**
   * What one request may hold. If a provider bounds the input apart from the window (OpenAI: 922 000 of 1 050 000, the
   * rest being for the answer), it is that bound: a larger prompt is refused.
   */
  readonly windowTokens: number;
  readonly provider?: MediaProvider;
  /** The public tokenizer, if there is one. */
  readonly encoding?: 'o200k' | 'cl100k';
  readonly cache?: CacheFacts;
}

export interface CacheFacts {
  readonly writePrice: number;
  readonly readPrice: number;
  /** How long an entry lives, at least, without being read. */
  readonly ttlMs: number;
  readonly minimumTokens: number;
  /** How many markers a request may carry; 0 if the provider finds the prefix by itself. */
  readonly markers: number;
}

/** Facts of the user's own, by prefix of the model id; they win over the table. */
export type ModelTable = Readonly<Record<string, ModelFacts>>;

const MINUTE_MS = 60_000;
const FALLBACK: ModelFacts = { windowTokens: 128_000 };

function anthropic(windowTokens: number, minimumTokens: number, readPrice: number = 0.1) {
  const cache = { writePrice: 1.25, readPrice, ttlMs: 5 * MINUTE_MS, minimumTokens, markers: 4 };
  return { windowTokens, provider: 'anthropic', cache } satisfies ModelFacts;
}

/** OpenAI before GPT-5.6: writing to the cache is free, and there are no markers. */
function openai(windowTokens: number, readPrice?: number) {
  const facts = { windowTokens, provider: 'openai', encoding: 'o200k' } satisfies ModelFacts;
  if (readPrice === undefined) return facts;
  const ttlMs = 5 * MINUTE_MS;
  const cache = { writePrice: 1, readPrice, ttlMs, minimumTokens: 1024, markers: 0 };
  return { ...facts, cache } satisfies ModelFacts;
}

function openaiMarked(windowTokens: number, readPrice: number = 0.1) {
  const ttlMs = 30 * MINUTE_MS;
  const cache = { writePrice: 1.25, readPrice, ttlMs, minimumTokens: 1024, markers: 4 };
  return { ...openai(windowTokens), cache } satisfies ModelFacts;
}

function openaiBefore4o(windowTokens: number) {
  return { windowTokens, provider: 'openai', encoding: 'cl100k' } satisfies ModelFacts;
}

/** Google caches by itself and documents no lifetime; the five minutes are an assumption. */
function google(windowTokens: number, minimumTokens: number, readPrice: number = 0.1) {
  const ttlMs = 5 * MINUTE_MS;
  const cache = { writePrice: 1, readPrice, ttlMs, minimumTokens, markers: 0 };
  return { windowTokens, provider: 'google', cache } satisfies ModelFacts;
}

const window = (windowTokens: number): ModelFacts => ({ windowTokens });

/**
 * By prefix of the model id, the longest match first. As the providers documented it in November 2026; if a model's
 * cache minimum is not documented, its predecessor's is used.
 */
const TABLE: ModelTable = {
  'claude-': anthropic(200_000, 1024),
  'claude-3-haiku': anthropic(200_000, 2048),
  'claude-3-5-haiku': anthropic(200_000, 2048),
  'claude-haiku-4-5': anthropic(200_000, 4096),
  'claude-haiku-5': anthropic(1_000_000, 4096),
  'claude-sonnet-4-6': anthropic(1_000_000, 1024),
  'claude-sonnet-5': anthropic(1_000_000, 1024),
  'claude-sonnet-5-5': anthropic(1_000_000, 1024, 0.05),
  'claude-opus-4-5': anthropic(200_000, 4096),
  'claude-opus-4-6': anthropic(1_000_000, 4096),
  'claude-opus-4-7': anthropic(1_000_000, 2048),
  'claude-opus-4-8': anthropic(1_000_000, 1024),
  'claude-opus-5': anthropic(1_000_000, 512),
  'claude-opus-5-5': anthropic(1_000_000, 512, 0.05),
  'claude-mythos-5': anthropic(1_000_000, 512),
  'claude-fable-5': anthropic(1_000_000, 512),
  'claude-fable-5-1': anthropic(1_000_000, 512, 0.025),

  'gpt-3.5-turbo': openaiBefore4o(16_385),
  'gpt-4': openaiBefore4o(8_192),
  'gpt-4-32k': openaiBefore4o(32_768),
  'gpt-4-turbo': openaiBefore4o(128_000),
  'gpt-4-1106': openaiBefore4o(128_000),
  'gpt-4-0125': openaiBefore4o(128_000),
  'gpt-4o': openai(128_000, 0.5),
  'chatgpt-4o': openai(128_000),
  'gpt-4.1': openai(1_047_576, 0.25),
  'gpt-4.5': openai(128_000, 0.5),
  'gpt-5': openai(272_000, 0.1),
  'gpt-5-chat': openai(128_000, 0.1),
  'gpt-5.3-codex-spark': openai(128_000, 0.1),
  'gpt-5.4': openai(922_000, 0.1),
  'gpt-5.4-mini': openai(272_000, 0.1),
  'gpt-5.4-nano': openai(272_000, 0.1),
  'gpt-5.5': openai(922_000, 0.1),
  'gpt-5.6': openaiMarked(922_000),
  'gpt-5.6-cyber': openaiMarked(272_000),
  'gpt-6': openaiMarked(922_000),
  'gpt-6.1': openaiMarked(922_000, 0.05),
  'gpt-oss': openai(131_072),
  'codex-mini': openai(200_000, 0.25),
  o1: openai(200_000, 0.5),
  'o1-mini': openai(128_000, 0.5),
  o3: openai(200_000, 0.25),
  'o3-mini': openai(200_000, 0.5),
  'o4-mini': openai(200_000, 0.25),

  'gemini-': google(1_048_576, 4096),
  'gemini-2.5': google(1_048_576, 2048),
  'gemini-4': google(1_048_576, 4096, 0.05),
  'gemma-': { windowTokens: 131_072, provider: 'google' },
  'gemma-4': { windowTokens: 262_144, provider: 'google' },

  'command-a': window(192_000),
  'deepseek-flash': window(1_000_000),
  'deepseek-v3': window(163_840),
  'deepseek-v4': window(1_000_000),
  'devstral-': window(262_144),
  'glm-4.6': window(204_800),
  'glm-4.7': window(204_800),
  'glm-5': window(200_000),
  'glm-5.2': window(1_000_000),
  'glm-5.3': window(1_000_000),
  'grok-4': window(256_000),
  'grok-4-fast': window(2_000_000),
  'grok-4.20': window(2_000_000),
  'grok-4.3': window(1_000_000),
  'grok-4.5': window(500_000),
  'grok-4.6': window(500_000),
  'grok-4.7': window(500_000),
  'kimi-k2': window(262_144),
  'kimi-k3': window(1_048_576),
  'mimo-v2.6': window(1_048_576),
  'minimax-m2': window(204_800),
  'minimax-m3': window(1_000_000),
  'mistral-large': window(262_144),
  'mistral-large-4': window(1_048_576),
  'mistral-medium': window(131_072),
  'muse-': window(1_048_576),
  'nova-': window(300_000),
  'nova-micro': window(128_000),
  'nova-2': window(1_000_000),
  'nova-premier': window(1_000_000),
  'qwen-2.5': window(32_768),
  'qwen3-': window(40_960),
  'qwen3-coder': window(262_144),
  'qwen3-next': window(262_144),
  'qwen3.': window(262_144),
};

export function modelFacts(model: string | undefined, own: ModelTable = {}): ModelFacts {
  if (model === undefined) return FALLBACK;
  const id = bareId(model);
  return (
    longestPrefix(own, model) ?? longestPrefix(own, id) ?? longestPrefix(TABLE, id) ?? FALLBACK
  );
}

/** False if nothing is known of a model, as of most that run locally: the facts for an unknown model are used. */
export function isKnownModel(model: string, own: ModelTable = {}): boolean {
  return modelFacts(model, own) !== FALLBACK;
}

/** The size of a model's window. */
export function contextLimit(model: string | undefined, own: ModelTable = {}): number {
  return modelFacts(model, own).windowTokens;
}

/**
 * The id as its maker writes it: without the folders of a gateway ("anthropic/"), without region and vendor
 * ("us.anthropic."), in lower case; Claude's versions with a hyphen, which gateways write with a dot.
 */
function bareId(model: string): string {
  const id = model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:[a-z-]+\.)+(?=[a-z])/, '');
  return id.startsWith('claude-') ? id.replaceAll('.', '-') : id;
}

function longestPrefix(table: ModelTable, id: string): ModelFacts | undefined {
  let best = '';
  for (const prefix of Object.keys(table))
    if (id.startsWith(prefix) && prefix.length > best.length) best = prefix;
  return best === '' ? undefined : table[best];
}

/**
 * ` (did you mean gpt-5?)` if a known model is one typing error away; otherwise nothing. Digits are versions: another
 * digit is not a typing error.
 */
export function modelMeant(model: string): string {
  if (model.length > LONGEST_ID) return '';
  const folder = model.slice(0, model.lastIndexOf('/') + 1);
  for (const id of oneSlipAway(model.slice(folder.length)))
    if (isKnownModel(id)) return ` (did you mean ${folder}${id}?)`;
  return '';
}

/** Every change of a letter is tried. */
const LONGEST_ID = 100;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz.-';

/** Two letters exchanged, one too many, one too few, a wrong one. */
function* oneSlipAway(id: string): Generator<string> {
  for (let i = 1; i < id.length; i++)
    yield id.slice(0, i - 1) + id.charAt(i) + id.charAt(i - 1) + id.slice(i + 1);
  for (let i = 0; i < id.length; i++)
    if (!/\d/.test(id.charAt(i))) yield id.slice(0, i) + id.slice(i + 1);
  for (let i = 0; i < id.length; i++)
    for (const letter of LETTERS) yield id.slice(0, i) + letter + id.slice(i);
  for (let i = 0; i < id.length; i++)
    if (!/\d/.test(id.charAt(i)))
      for (const letter of LETTERS) yield id.slice(0, i) + letter + id.slice(i + 1);
}
