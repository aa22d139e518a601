import type { ContentPart, Message, Part } from '../message/message.ts';

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
    if (extra !== undefined) total += text(JSON.stringify(extra));
  }
  return total;
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
        total += text(JSON.stringify(part.value));
        break;
      case 'image':
      case 'file':
        total += media(part);
        break;
    }
  }
  return total;
}

/** The seed's 4 800 characters an image; a file of unknown size counts as one page of text and picture. */
export const flatMedia: MediaTokens = (part) => (part.kind === 'image' ? 1200 : 2500);
