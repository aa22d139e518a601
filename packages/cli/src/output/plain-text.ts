/** Controls except tabs and line breaks, and what changes the direction in which text is shown. */
export const STEERING: RegExp =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** A foreign text, for a terminal: what would steer the terminal is written out. */
export function plainText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(STEERING, written);
}

function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Colours, which a picture contains itself. */
// oxlint-disable-next-line no-control-regex -- a colour begins with one
const COLOURS = /(\u001B\[[\d;]*m)/;

/** Lines that were drawn, with nothing in them that steers a terminal but their colours. */
export function plainPicture(lines: readonly string[]): readonly string[] {
  return lines.map((line) =>
    line
      .split(COLOURS)
      .map((piece, i) => (i % 2 === 0 ? plainText(piece) : piece))
      .join(''),
  );
}
