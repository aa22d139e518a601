import { isJsonObject, jsonText, type Json } from '../message/json.ts';
import {
  textOf,
  type ContentPart,
  type FilePart,
  type ImagePart,
  type Message,
  type Part,
} from '../message/message.ts';

const ROLE_TOKENS = 2;

/** The seed's heuristic: four characters a token, rounded up. It undercounts; see `calibrated` for the default. */
export function estimateTokens(text: unknown): number {
  return typeof text === 'string' ? Math.ceil(text.length / 4) : 0;
}

/** The heuristic over whole messages: two tokens a role, every part counted. */
export function estimateMessagesTokens(messages: readonly Message[]): number {
  return countMessages(messages, { text: estimateTokens });
}

/** How many tokens a part of another kind than text costs. */
export type MediaTokens = (part: Exclude<ContentPart, { kind: 'text' | 'opaque' }>) => number;

/** How many tokens a provider puts around a message, a call and a result; a result is also sent with its tool's name. */
export interface FormattingTokens {
  readonly message: number;
  readonly call: number;
  readonly result: number;
}

/** What the content of a message costs. */
export interface ContentTokens {
  readonly text: (text: string) => number;
  readonly media?: MediaTokens;
  readonly around?: FormattingTokens;
}

export function countMessages(messages: readonly Message[], tokens: ContentTokens): number {
  let total = 0;
  for (const { parts, extra } of messages) {
    total += ROLE_TOKENS + (tokens.around?.message ?? 0) + countParts(parts, tokens);
    // Fields that no codec reads are sent all the same.
    if (extra !== undefined) total += countJson(extra, tokens);
  }
  return total;
}

/** About what the largest result of a message costs: providers put parallel results into one message. */
export function largestResultTokens(message: Message, tokens: number): number {
  let [largest, all] = [0, 0];
  for (const part of message.parts) {
    if (part.kind !== 'result') continue;
    const { length } = textOf({ parts: part.content });
    largest = Math.max(largest, length);
    all += length;
  }
  return all === 0 ? 0 : Math.ceil((tokens * largest) / all);
}

function countParts(parts: readonly Part[], tokens: ContentTokens): number {
  const { text, media = flatMedia, around } = tokens;
  let total = 0;
  for (const part of parts) {
    switch (part.kind) {
      case 'text':
        total += text(part.text);
        break;
      case 'reasoning':
        total += text(part.text) + (part.signature === undefined ? 0 : text(part.signature));
        break;
      case 'call':
        total += (around?.call ?? 0) + text(part.tool) + text(part.args);
        break;
      case 'result':
        if (around !== undefined) total += around.result + text(part.tool ?? '');
        total += countParts(part.content, tokens);
        break;
      case 'opaque':
        total += countJson(part.value, tokens);
        break;
      case 'image':
      case 'file':
        total += media(part);
        break;
    }
  }
  return total;
}

/** Counts what no codec has read: its JSON as text, but pictures and files inside it as what they are. */
function countJson(value: Json, tokens: ContentTokens): number {
  try {
    return countReplacing(value, tokens);
  } catch (error) {
    // No provider nests a picture thousands of levels deep.
    if (error instanceof RangeError) return tokens.text(jsonText(value));
    throw error;
  }
}

function countReplacing(value: Json, { text, media = flatMedia }: ContentTokens): number {
  let total = 0;
  const rest = JSON.stringify(value, (_, field: unknown) => {
    const part = mediaOf(field);
    if (part === undefined) return field;
    total += media(part);
    return part.mediaType;
  });
  return total + text(rest);
}

const DATA_URL = /^data:([^;,]+)[^,]*;base64,/;

/** A data URL, or an object that holds bytes as base64 next to their media type, under the names that providers use. */
function mediaOf(value: unknown): ImagePart | FilePart | undefined {
  if (typeof value === 'string') return mediaPart(DATA_URL.exec(value)?.[1], value);
  if (!isJsonObject(value)) return undefined;
  const type = value['media_type'] ?? value['mediaType'] ?? value['mime_type'] ?? value['mimeType'];
  return mediaPart(type, value['data']);
}

function mediaPart(mediaType: unknown, source: unknown): ImagePart | FilePart | undefined {
  if (typeof mediaType !== 'string' || typeof source !== 'string') return undefined;
  return { kind: mediaType.startsWith('image/') ? 'image' : 'file', source, mediaType };
}

/** The seed's 4 800 characters an image; a file of unknown size counts as one page of text and picture. */
export const flatMedia: MediaTokens = (part) => (part.kind === 'image' ? 1200 : 2500);
