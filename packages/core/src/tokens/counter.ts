import { isJsonObject, type Json, jsonText } from '../message/json.ts';
import {
  type ContentPart,
  type FilePart,
  type ImagePart,
  type Message,
  type Part,
  textOf,
} from '../message/message.ts';

/** The parts of a request whose tokens are counted: system prompt, tools and messages. */
export interface RequestShape {
  readonly system?: string;
  readonly tools?: Json;
  readonly messages: readonly Message[];
}

/**
 * Counts the tokens of texts, messages, tool schemas and requests. The same message must always have the same count.
 */
export interface Counter {
  readonly name: string;
  readonly text: (text: string) => number;
  readonly message: (message: Message) => number;
  /** Tool schemas as they are sent: JSON of any shape. */
  readonly tools: (schemas: Json) => number;
  readonly request: (request: RequestShape) => number;
}

export interface CounterShape extends ContentTokens {
  readonly name: string;
}

/**
 * Makes a complete counter from a function that counts the tokens of a text. It counts each message once and remembers
 * the count, unless you pass your own function `message`.
 */
export function counterOf(
  shape: CounterShape,
  message: Counter['message'] = remembered(shape),
): Counter {
  const { name, text } = shape;
  const tools = (schemas: Json): number => text(jsonText(schemas));
  return {
    name,
    text,
    message,
    tools,
    request: (request) =>
      text(request.system ?? '') +
      (request.tools === undefined ? 0 : tools(request.tools)) +
      request.messages.reduce((sum, m) => sum + message(m), 0),
  };
}

function remembered(shape: CounterShape): Counter['message'] {
  const counted = new WeakMap<Message, number>();
  return (message) => {
    let tokens = counted.get(message);
    if (tokens === undefined) {
      tokens = countMessage(message, shape);
      counted.set(message, tokens);
    }
    return tokens;
  };
}

/** The seed's heuristic as a counter. */
export function chars4(provider?: MediaProvider): Counter {
  return counterOf({ name: 'chars4', text: estimateTokens, media: mediaTokens(provider) });
}

const ROLE_TOKENS = 2;

/** The seed's heuristic: four characters a token, rounded up. It undercounts; see `calibrated` for the default. */
export function estimateTokens(text: unknown): number {
  return typeof text === 'string' ? Math.ceil(text.length / 4) : 0;
}

/** The heuristic over whole messages: two tokens a role, every part counted. */
export function estimateMessagesTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + countMessage(message, HEURISTIC), 0);
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

const HEURISTIC: ContentTokens = { text: estimateTokens };

function countMessage({ parts, extra }: Message, tokens: ContentTokens): number {
  const total = ROLE_TOKENS + (tokens.around?.message ?? 0) + countParts(parts, tokens);
  // Fields that no codec reads are sent all the same.
  return extra === undefined ? total : total + countJson(extra, tokens);
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
const flatMedia: MediaTokens = (part) => (part.kind === 'image' ? 1200 : 2500);

/** How a provider prices pictures and documents. Figures are data: each row says what the provider documents. */
interface MediaPrice {
  /** Tokens of a picture whose size is known. */
  image(widthPx: number, heightPx: number): number;
  /** Tokens of a picture whose size is not known: the most that the provider charges for one. */
  unknownImage: number;
  /** Tokens of one page of a document (its text and its picture). */
  page: number;
}

const PRICES: Readonly<Record<'anthropic' | 'openai' | 'google', MediaPrice>> = {
  anthropic: {
    image: (w, h) => Math.min(1600, Math.ceil((w * h) / 750)),
    unknownImage: 1600,
    page: 3000,
  },
  openai: { image: tiles, unknownImage: 1445, page: 2500 },
  google: {
    image: (w, h) => 258 * Math.ceil(w / 768) * Math.ceil(h / 768),
    unknownImage: 1032,
    page: 258,
  },
};

/** 512-pixel tiles of the picture scaled to fit 2 048 and then to 768 on its short side: 170 each, 85 for the whole. */
function tiles(w: number, h: number): number {
  const fit = Math.min(1, 2048 / Math.max(w, h));
  const short = Math.min(1, 768 / (Math.min(w, h) * fit));
  const across = Math.ceil((w * fit * short) / 512);
  const down = Math.ceil((h * fit * short) / 512);
  return 85 + 170 * across * down;
}

export type MediaProvider = keyof typeof PRICES;

/** Prices pictures and files as a provider does; without a provider, by the flat heuristic. */
export function mediaTokens(provider?: MediaProvider): MediaTokens {
  if (provider === undefined) return flatMedia;
  const price = PRICES[provider];
  return (part) => (part.kind === 'image' ? imageTokens(price, part) : fileTokens(price, part));
}

function imageTokens(price: MediaPrice, part: ImagePart): number {
  if (part.widthPx === undefined || part.heightPx === undefined) return price.unknownImage;
  return price.image(part.widthPx, part.heightPx);
}

function fileTokens(price: MediaPrice, part: FilePart): number {
  return price.page * (part.pages ?? 1);
}
