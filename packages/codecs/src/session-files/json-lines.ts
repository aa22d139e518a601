import { isJsonObject, parseJson, type JsonObject, jsonText } from '@bobbin/core/internal';
import { DecodeError } from '../wire/decode-error.ts';
import { Place } from '../wire/place.ts';
import type { Session } from './session.ts';

/**
 * The objects of a file with one on each line, each at its place. A last line that has no end and says nothing is what
 * a writer that died has left: it is as if it were not there.
 */
export function jsonLines(text: string): readonly Place[] {
  const lines = text.split('\n');
  const places: Place[] = [];
  lines.forEach((line, i) => {
    if (line.trim() === '') return;
    const value = parseJson(line);
    if (isJsonObject(value)) places.push(new Place(`line ${i + 1}`, value));
    else if (i < lines.length - 1 || value !== undefined)
      throw new DecodeError(`line ${i + 1}`, 'must be a JSON object');
  });
  return places;
}

/** The first objects of such a file, for recognising it; none if it is another kind of file. */
export function firstLines(text: string, most: number): readonly JsonObject[] {
  const found: JsonObject[] = [];
  let start = 0;
  while (start < text.length && found.length < most) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end).trim();
    start = end + 1;
    if (line === '') continue;
    const value = parseJson(line);
    if (!isJsonObject(value)) return found;
    found.push(value);
  }
  return found;
}

export function encodeJsonLines({ entries }: Session): string {
  return entries.map(({ original }) => `${jsonText(original)}\n`).join('');
}

/** A time as milliseconds, from a number or a text. */
export function timeField(value: unknown): { readonly time?: number } {
  const time = typeof value === 'string' ? Date.parse(value) : value;
  return typeof time === 'number' && Number.isFinite(time) ? { time } : {};
}

/** `{ [name]: text }`, empty if there is no such text. */
export function textField<Name extends string>(
  name: Name,
  value: unknown,
): { readonly [key in Name]?: string } {
  return typeof value === 'string' && value !== ''
    ? ({ [name]: value } as { [key in Name]: string })
    : {};
}

/** A count of tokens; a value that is not a number counts as 0. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
