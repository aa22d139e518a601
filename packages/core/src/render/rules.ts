import type { Role } from '../message/message.ts';

/** What a provider asks of a list of messages. Adding a provider is adding a row. */
export interface ProviderRules {
  readonly name: string;
  /** The role of the first message after the system messages. */
  readonly first: 'user' | 'any';
  /** Whether two messages of one role may follow one another. */
  readonly alternate: boolean;
  /** Whether a signed reasoning block is refused once the bytes before it have changed. */
  readonly bindsReasoning: boolean;
  /** How many bytes of pictures and files a request may contain, as base64; text takes the rest of the provider's limit. */
  readonly mediaBytes?: number;
  /** Whose messages the provider still reads before its own compaction; the system's if absent. */
  readonly readBeforeCompaction?: readonly Role[];
}

/** Valid with every provider that takes consecutive messages of one role: the default. */
export const STRICT_RULES: ProviderRules = {
  name: 'strict',
  first: 'user',
  alternate: false,
  bindsReasoning: true,
  mediaBytes: 15_000_000,
};
export const OPENAI_RULES: ProviderRules = {
  name: 'openai',
  first: 'any',
  alternate: false,
  bindsReasoning: false,
  readBeforeCompaction: ['system', 'user'],
};
/** The API takes requests of at most 32 MB. */
export const ANTHROPIC_RULES: ProviderRules = {
  name: 'anthropic',
  first: 'user',
  alternate: false,
  bindsReasoning: true,
  mediaBytes: 24_000_000,
};
/** Chat templates that raise an error unless user and assistant take turns. */
export const ALTERNATING_RULES: ProviderRules = {
  name: 'alternating',
  first: 'user',
  alternate: true,
  bindsReasoning: true,
};
