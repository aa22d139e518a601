import { isJsonObject, parseJson } from '../message/json.ts';

/** A provider's refusal of a request that was larger than its window, with the sizes that its words give. */
export interface ContextLimit {
  /** The provider or server whose wording it is; several share some. */
  readonly provider: string;
  /** The size of the request, without the space for the answer that it asked for. */
  readonly requestTokens?: number;
  readonly limitTokens?: number;
}

/** The words of one refusal. The groups `request`, `answer` (the space it asked for) and `limit` are tokens. */
type Wording = readonly [provider: string, words: RegExp];

/**
 * How providers and servers say that a prompt is too long, as seen in their responses and documentation in November
 * 2026. The first that matches counts, so those that give sizes come before those that do not.
 */
const WORDINGS: readonly Wording[] = [
  ['anthropic', /prompt is too long: (?<request>[\d,]+) tokens? > (?<limit>[\d,]+) maximum/i],
  [
    'anthropic',
    /input length and `?max_tokens`? exceed context limit: (?<request>[\d,]+) \+ (?<answer>[\d,]+) > (?<limit>[\d,]+)/i,
  ],
  [
    'openai',
    /maximum context length is (?<limit>[\d,]+) tokens\. however,? (?:your messages resulted in|you requested(?: about)?) (?<request>[\d,]+) tokens/i,
  ],
  ['openai', /exceeds the context window of this model/i],
  [
    'openai',
    /request too large for .{0,200}tokens per min(?:ute)?.{0,20}limit:? (?<limit>[\d,]+), requested:? (?<request>[\d,]+)/i,
  ],
  [
    'google',
    /input token count \(?(?<request>[\d,]+)\)? exceeds the maximum number of tokens allowed \(?(?<limit>[\d,]+)/i,
  ],
  [
    'google-vertex',
    /input token count is (?<request>[\d,]+) but (?:the )?model only supports up to (?<limit>[\d,]+)/i,
  ],
  ['amazon-bedrock', /input is too long for requested model/i],
  [
    'xai',
    /maximum prompt length is (?<limit>[\d,]+) but the request contains (?<request>[\d,]+) tokens/i,
  ],
  [
    'mistral',
    /prompt contains (?<request>[\d,]+) tokens.{0,80}too large for model with (?<limit>[\d,]+) maximum context length/i,
  ],
  [
    'cohere',
    /too many tokens: total number of tokens in the prompt cannot exceed (?<limit>[\d,]+) - received (?<request>[\d,]+)/i,
  ],
  ['cerebras', /current length is (?<request>[\d,]+) while limit is (?<limit>[\d,]+)/i],
  [
    'github-copilot',
    /prompt token count of (?<request>[\d,]+) exceeds the limit of (?<limit>[\d,]+)/i,
  ],
  [
    'fireworks',
    /prompt is too long: (?<request>[\d,]+), model maximum context length: (?<limit>[\d,]+)/i,
  ],
  [
    'text-generation-inference',
    /`?inputs`? tokens \+ `?max_new_tokens`? must be <= (?<limit>[\d,]+)\. given: (?<request>[\d,]+) `?inputs`? tokens and (?<answer>[\d,]+)/i,
  ],
  [
    'vllm',
    /prompt \(length (?<request>[\d,]+)\) is longer than the maximum model length of (?<limit>[\d,]+)/i,
  ],
  [
    'sglang',
    /input \((?<request>[\d,]+) tokens\) is longer than the model's context length \((?<limit>[\d,]+) tokens\)/i,
  ],
  [
    'llama.cpp',
    /request \((?<request>[\d,]+) tokens\) exceeds the available context size \((?<limit>[\d,]+) tokens\)/i,
  ],
  ['llama.cpp', /exceeds the available context size/i],
  [
    'lm-studio',
    /greater than the context length \(n_keep: (?<request>[\d,]+) ?>= ?n_ctx: (?<limit>[\d,]+)\)/i,
  ],
  [
    'lm-studio',
    /trying to keep the first (?<request>[\d,]+) tokens.{0,80}context length of only (?<limit>[\d,]+) tokens/i,
  ],
  ['ollama', /(?:prompt too long; exceeded|input length exceeds the) (?:max )?context length/i],
  [
    'moonshot',
    /exceeded model token limit: (?<limit>[\d,]+)(?: \(requested: (?<request>[\d,]+)\))?/i,
  ],
  ['minimax', /context window exceeds limit/i],
  ['zhipu', /prompt exceeds max length/i],
  ['dashscope', /range of input length should be \[\d+, ?(?<limit>[\d,]+)\]/i],
  // Words that many use, without or with sizes in other places.
  ['openai', /maximum context length is (?<limit>[\d,]+)/i],
  ['groq', /reduce the length of the (?:messages|prompt)/i],
  ['any', /prompt is too long|(?:context|token)[_ ](?:length|limit|window)[_ ]exceeded/i],
];

/** Codes, types and names that say it without words. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['context_length_exceeded', 'openai'],
  ['string_above_max_length', 'openai'],
  ['model_max_prompt_tokens_exceeded', 'github-copilot'],
  ['model_context_window_exceeded', 'anthropic'],
  ['request_too_large', 'anthropic'],
  ['exceed_context_size_error', 'llama.cpp'],
  ['ContextOverflowError', 'langchain'],
]);

/** Refused by its bytes; some proxies answer so without a word. */
const TOO_LARGE_STATUS = 413;
/** Providers count requests and tokens per minute too: waiting helps there, compaction does not. */
const RATE = /rate.?limit|too many requests|quota|throttl/i;
const DEEPEST = 6;

/**
 * Reads a provider's error. If the error says that a prompt is too long, returns the provider and the sizes that it
 * named. Otherwise returns undefined.
 */
export function contextLimitOf(error: unknown): ContextLimit | undefined {
  const said = new Said();
  said.add(error, 0);
  const text = said.texts.join('\n');
  for (const [provider, words] of WORDINGS) {
    const groups = words.exec(text)?.groups;
    if (groups !== undefined) return { provider, ...sizes(groups) };
    if (words.test(text)) return { provider };
  }
  for (const code of said.codes) {
    const provider = CODES.get(code);
    if (provider !== undefined) return { provider };
  }
  return said.statuses.includes(TOO_LARGE_STATUS) && !RATE.test(text)
    ? { provider: 'any' }
    : undefined;
}

export function isContextLimit(error: unknown): boolean {
  return contextLimitOf(error) !== undefined;
}

function sizes(
  groups: Readonly<Record<string, string | undefined>>,
): Omit<ContextLimit, 'provider'> {
  const tokens = (name: string): number => Number((groups[name] ?? '').replaceAll(',', ''));
  const [request, limit] = [tokens('request'), tokens('limit')];
  return {
    ...(request > 0 ? { requestTokens: request } : {}),
    ...(limit > 0 ? { limitTokens: limit } : {}),
  };
}

/** Where SDKs put what the provider said, and the errors that they wrap. */
const TEXTS = ['message', 'responseBody', 'body', 'detail', 'error'] as const;
const INNER = ['error', 'data', 'cause', 'lastError', 'errors', 'body', 'response'] as const;
const MARKS = ['code', 'type', 'name', 'status'] as const;

class Said {
  readonly texts: string[] = [];
  readonly codes: string[] = [];
  readonly statuses: number[] = [];

  add(value: unknown, depth: number): void {
    if (typeof value === 'string') return this.#addText(value, depth);
    if (typeof value !== 'object' || value === null || depth > DEEPEST) return;
    if (Array.isArray(value)) return value.forEach((item) => this.add(item, depth + 1));
    const holder = value as Readonly<Record<string, unknown>>;
    for (const name of TEXTS) {
      const text = holder[name];
      if (typeof text === 'string') this.#addText(text, depth);
    }
    for (const name of MARKS) if (typeof holder[name] === 'string') this.codes.push(holder[name]);
    for (const name of ['status', 'statusCode'])
      if (typeof holder[name] === 'number') this.statuses.push(holder[name]);
    for (const name of INNER)
      if (typeof holder[name] === 'object') this.add(holder[name], depth + 1);
  }

  #addText(text: string, depth: number): void {
    this.texts.push(text);
    const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
    if (isJsonObject(json)) this.add(json, depth + 1);
  }
}
