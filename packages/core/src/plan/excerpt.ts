import { headOf, tailOf } from '../thread/text.ts';

/** The beginning and the end of a text with a visible mark between, or the text where it is short enough. */
export function excerpt(text: string, headChars: number, tailChars: number): string {
  const cut = text.length - headChars - tailChars;
  const mark = `\n[… ${cut} characters left out …]\n`;
  return cut <= mark.length ? text : headOf(text, headChars) + mark + tailOf(text, tailChars);
}
