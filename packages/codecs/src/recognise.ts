import type { Codec } from '@bobbin/core';
import { aiSdk } from './ai-sdk/ai-sdk.ts';
import { anthropic } from './anthropic/anthropic.ts';
import { bedrock } from './bedrock/bedrock.ts';
import { gemini } from './gemini/gemini.ts';
import { openaiChat } from './openai/chat.ts';
import { openaiResponses } from './openai/responses.ts';
import { detectFormat } from './wire/format.ts';

const CODECS: ReadonlyMap<string, Codec<object>> = new Map(
  [openaiChat, openaiResponses, anthropic, aiSdk, gemini, bedrock].map((codec) => [
    codec.name,
    codec as Codec<object>,
  ]),
);

/** The codec of a list of messages, by what is in it; undefined if `detectFormat` finds none that is here. */
export function recogniseMessages(messages: readonly unknown[]): Codec<object> | undefined {
  return CODECS.get(detectFormat(messages)?.name ?? '');
}
