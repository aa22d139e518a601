/** The beginning and the end of a text with a visible mark between, or the text where it is short enough. */
export function excerpt(text: string, headChars: number, tailChars: number): string {
  const cut = text.length - headChars - tailChars;
  const mark = `\n[… ${cut} characters left out …]\n`;
  if (cut <= mark.length) return text;
  return (
    text.slice(0, wholeCharEnd(text, headChars)) +
    mark +
    text.slice(wholeCharStart(text, text.length - tailChars))
  );
}

/** Never ends within a surrogate pair. */
function wholeCharEnd(text: string, end: number): number {
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

/** Never starts within a surrogate pair. */
function wholeCharStart(text: string, start: number): number {
  return isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
