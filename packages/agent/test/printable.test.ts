import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printable, visible } from '../src/tui/printable.ts';

const HOSTILE =
  'a\u001B[2Jb\u009B31mc\u001B]0;title\u0007d\u009D0;title\u009Ce\u001B]52;never ended\nf\r\ng\th\u0085\u202Ei\u0000';

test('what is printed holds no sequence and no control, in the forms of one byte either', () => {
  assert.equal(printable(HOSTILE), 'abcde\nf\ng    hi');
});

test('what is decided upon shows all that is in it', () => {
  assert.equal(
    visible(HOSTILE),
    String.raw`a\u{1b}[2Jb\u{9b}31mc\u{1b}]0;title\u{7}d\u{9d}0;title\u{9c}e\u{1b}]52;never ended` +
      '\n' +
      String.raw`f\u{d}` +
      '\n' +
      String.raw`g    h\u{85}\u{202e}i\u{0}`,
  );
  assert.equal(visible('plain ünï 漢字 🙂'), 'plain ünï 漢字 🙂');
});
