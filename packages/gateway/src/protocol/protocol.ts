import type { Codec, Prompt } from '@bobbin/core';
import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';
import type { AnswerReader } from '../answer/answer-reader.ts';
import type { ProviderName } from '../config/gateway-config.ts';
import type { ToolShape } from '../tools/tool-shape.ts';

/** What a request contains beside its messages. */
export interface Beside {
  readonly system: string;
  readonly tools: Json;
  /** The longest answer that the client asks for. */
  readonly outputTokens: number;
}

/** One of the protocols that clients speak: where its messages are, and how its answers are read. */
export interface Protocol {
  readonly name: 'openai-chat' | 'openai-responses' | 'anthropic';
  readonly provider: ProviderName;
  readonly codec: Codec<object>;
  /** The field of a request that holds its messages. */
  readonly field: 'messages' | 'input';
  beside(body: JsonObject): Beside;
  /** Why a request must go out as it is; undefined if it may be compacted. */
  leaveAlone(body: JsonObject): string | undefined;
  /** Adds the provider's cache markers at the cache points of a prompt, for a client that marks its requests. */
  readonly mark?: MarkRequest;
  readonly tools: ToolShape;
  newReader(): AnswerReader;
}

export type MarkRequest = (
  body: JsonObject,
  messages: readonly object[],
  prompt: Prompt,
) => readonly object[];

/** The messages of a request; undefined if they are no list of objects. */
export function messagesIn(
  { field }: Protocol,
  body: JsonObject,
): readonly JsonObject[] | undefined {
  const list = body[field];
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return objectsIn(list as Json).length === list.length
    ? (list as readonly JsonObject[])
    : undefined;
}

export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
}

/** The first of some fields that is a number above 0; 0 where none is. */
export function tokensIn(body: JsonObject, ...fields: readonly string[]): number {
  for (const field of fields) {
    const value = body[field];
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  }
  return 0;
}

/** Every text of a content, which is a text or a list of parts. */
export function textIn(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n');
}

export function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}
