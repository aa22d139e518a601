import { openaiChat } from '@bobbin/codecs';
import type { Codec } from '@bobbin/core';

/** Formats that a transcript may be in, by the name a user gives. */
export const FORMATS = {
  openai: openaiChat as Codec<unknown>,
} satisfies Record<string, Codec<unknown>>;

export type FormatName = keyof typeof FORMATS;
