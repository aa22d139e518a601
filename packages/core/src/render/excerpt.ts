import { headOf, tailOf } from '../message/text.ts';
import { resultText, type Message, type Part } from '../message/message.ts';
import type { Stretch } from '../plan/plan.ts';

const GAP = '…';

/** The stretches of a text, with a visible mark at each omission. */
export function excerpt(text: string, stretches: readonly Stretch[]): string {
  const shown: string[] = [];
  let end = 0;
  for (const stretch of stretches) {
    const [from, to] = within(text, stretch);
    if (to <= from) continue;
    if (from > end) shown.push(GAP);
    shown.push(text.slice(from, to));
    end = to;
  }
  if (shown.length > 0 && end < text.length) shown.push(GAP);
  return shown.join('\n');
}

/** The same stretch, cut through no character. */
function within(text: string, [start, end]: Stretch): Stretch {
  const from = Math.max(0, Math.min(start, text.length));
  const to = Math.max(from, Math.min(end, text.length));
  return [
    isInsidePair(text, from) ? from + 1 : from,
    isInsidePair(text, to) && to > from ? to - 1 : to,
  ];
}

function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return at > 0 && at < text.length && before >= 0xd800 && before <= 0xdbff;
}

/** The text that a part shows when it is cut; media are named. */
export function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'result':
      return resultText(part);
    case 'image':
    case 'file':
    case 'opaque':
      return `[${part.kind}]`;
    case 'reasoning':
    case 'call':
      return '';
  }
}

/** How much of a message stays. */
export interface Remainder {
  readonly kept: readonly (readonly Stretch[])[];
  readonly argsChars: number;
}

export const NOTHING: Remainder = { kept: [], argsChars: 0 };

/** How far a cut moves so that it parts no word: a longer run is data. */
const LONGEST_WORD = 24;
const isWordPart = (char: string): boolean => /[\p{L}\p{N}_]/u.test(char);

/** Where the first whole word begins at or after a place. */
export function wordStart(text: string, at: number): number {
  if (at <= 0 || at >= text.length || !isWordPart(text.charAt(at - 1))) return at;
  let to = at;
  while (to < text.length && to - at < LONGEST_WORD && isWordPart(text.charAt(to))) to++;
  return to - at < LONGEST_WORD ? to : at;
}

/** Where the last whole word ends at or before a place. */
export function wordEnd(text: string, at: number): number {
  if (at <= 0 || at >= text.length || !isWordPart(text.charAt(at))) return at;
  let to = at;
  while (to > 0 && at - to < LONGEST_WORD && isWordPart(text.charAt(to - 1))) to--;
  return at - to < LONGEST_WORD ? to : at;
}

/** Every part keeps two thirds of the characters at the head, one third at the tail. */
export function ends(message: Message, chars: number): Remainder {
  const head = Math.ceil((chars * 2) / 3);
  const tail = Math.floor(chars / 3);
  const kept = message.parts.map((part): readonly Stretch[] => {
    const text = partText(part);
    const { length } = text;
    if (length === 0 || chars <= 0) return [];
    return length <= chars
      ? [[0, length]]
      : [
          [0, wordEnd(text, head)],
          [wordStart(text, length - tail), length],
        ];
  });
  return { kept, argsChars: chars };
}

/** The beginning and the end of a value with a visible mark between, or the value if it is short enough. */
export function cutValue(text: string, chars: number): string {
  const head = Math.ceil((chars * 2) / 3);
  const tail = Math.floor(chars / 3);
  const cut = text.length - head - tail;
  const mark = ` [… ${cut} characters left out …] `;
  return cut <= mark.length ? text : headOf(text, head) + mark + tailOf(text, tail);
}
