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
  return countMessages(messages, estimateTokens);
}

/** How many tokens a part of another kind than text costs. */
export type MediaTokens = (part: Exclude<ContentPart, { kind: 'text' | 'opaque' }>) => number;

export function countMessages(
  messages: readonly Message[],
  text: (text: string) => number,
  media: MediaTokens = flatMedia,
): number {
  let total = 0;
  for (const { parts, extra } of messages) {
    total += ROLE_TOKENS + countParts(parts, text, media);
    // Fields that no codec reads are sent all the same.
    if (extra !== undefined) total += countJson(extra, text, media);
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

function countParts(
  parts: readonly Part[],
  text: (text: string) => number,
  media: MediaTokens,
): number {
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
        total += text(part.tool) + text(part.args);
        break;
      case 'result':
        total += countParts(part.content, text, media);
        break;
      case 'opaque':
        total += countJson(part.value, text, media);
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
function countJson(value: Json, text: (text: string) => number, media: MediaTokens): number {
  try {
    return countReplacing(value, text, media);
  } catch (error) {
    // No provider nests a picture thousands of levels deep.
    if (error instanceof RangeError) return text(jsonText(value));
    throw error;
  }
}

function countReplacing(value: Json, text: (text: string) => number, media: MediaTokens): number {
  let tokens = 0;
  const rest = JSON.stringify(value, (_, field: unknown) => {
    const part = mediaOf(field);
    if (part === undefined) return field;
    tokens += media(part);
    return part.mediaType;
  });
  return tokens + text(rest);
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
