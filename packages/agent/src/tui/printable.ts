// Tools put out anything; escape sequences among it would drive the terminal, in the form of one byte as well.
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B\]|\u009D)[^\u0007\u001B\u009C\n]*(?:\u0007|\u001B\\|\u009C)?|\u001B[@-_]/g;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;

/** A text without anything but characters, line breaks and spaces for tabs. */
export function printable(text: string): string {
  return text
    .replaceAll(SEQUENCES, '')
    .replaceAll('\r\n', '\n')
    .replaceAll('\t', '    ')
    .replaceAll(CONTROLS, '');
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A text to decide on: what could hide in it, or hide something of it, is written out. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (char) => {
    if (char === '\n') return char;
    return char === '\t' ? '    ' : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** The same in one line. */
export function visibleLine(text: string): string {
  return visible(text.replaceAll('\n', String.raw`\n`));
}
