import type { Stretch } from '../plan/plan.ts';

/** A value of arguments: a text up to this long stays whole. */
const WHOLE_CHARS = 100;
/** This much of the beginning of a longer one always stays. */
const HEAD_CHARS = 80;
const GAP = String.raw`\n…\n`;

/** The texts in JSON, keys among them. */
const LITERAL = /"(?:[^"\\]|\\.)*"/gs;
const IS_KEY = /\s*:/y;

/**
 * Arguments with long texts cut to some stretches of them, as a model wrote them. Every key, list and short value stays,
 * so that the shape is what the tool takes. It reads the JSON as text: no depth or size of it is too much.
 */
export function shortArgs(args: string, kept: readonly Stretch[], wayBack: string): string {
  return args.replaceAll(LITERAL, (literal: string, at: number) => {
    if (literal.length <= WHOLE_CHARS) return literal;
    IS_KEY.lastIndex = at + literal.length;
    return IS_KEY.test(args)
      ? literal
      : shortText(args, at + 1, at + literal.length - 1, kept, wayBack);
  });
}

/** One text with its quotes, its inner part being from `start` to `end`. */
function shortText(
  args: string,
  start: number,
  end: number,
  kept: readonly Stretch[],
  wayBack: string,
): string {
  const shown: string[] = [];
  let [to, chars] = [start, 0];
  for (const stretch of [[start, start + HEAD_CHARS] as const, ...kept]) {
    const first = wholeChar(args, Math.max(stretch[0], to));
    const last = wholeChar(args, Math.min(stretch[1], end));
    if (last <= first) continue;
    if (shown.length > 0 && first > to) shown.push(GAP);
    shown.push(args.slice(first, last));
    chars += last - first;
    to = last;
  }
  const mark = `[… ${end - start - chars} characters cut${wayBack}]`;
  const text = `"${shown.join('')} ${JSON.stringify(mark).slice(1, -1)}"`;
  return text.length < end - start ? text : args.slice(start - 1, end + 1);
}

const PARTIAL_ESCAPE = /(?<!\\)(?:\\\\)*(\\(?:u[\da-f]{0,3})?)$/i;
const LONGEST_ESCAPE = 6;

/** The place itself, or the one before the escape or the pair of surrogates that it falls into. */
function wholeChar(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - LONGEST_ESCAPE - 2), at);
  const partial = PARTIAL_ESCAPE.exec(before)?.[1];
  if (partial !== undefined) return at - partial.length;
  const code = text.charCodeAt(at - 1);
  return at > 0 && code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
