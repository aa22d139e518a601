import type { Role } from '../message/message.ts';

/** What a provider requires of a list of messages, such as the order of roles. */
export interface ProviderRules {
  readonly name: string;
  /** The role of the first message after the system messages. */
  readonly first: 'user' | 'any';
  /** True if messages of the user and the assistant must alternate. */
  readonly alternate: boolean;
  /** Whether the provider refuses a signed reasoning block if the bytes before it have changed. */
  readonly bindsReasoning: boolean;
  /**
   * How many bytes of pictures and files, as base64, a request may contain. The rest of the provider's limit is for
   * text.
   */
  readonly mediaBytes?: number;
  /** The roles whose messages before its own compaction the provider still reads. If absent, only `system`. */
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
