import type { Random } from './random.ts';

const PLAIN: readonly [string, ...string[]] = [
  'the build failed in',
  'never delete production data.',
  'src/core/thread-handle.ts',
  'export const answer = 42;',
  'Error: cannot find module',
  'please look at it again\n',
  'https://example.org/issues/1234',
  '{"id": 7, "state": "open"}',
  'a1b2c3d4-0000-4000-8000-123456789abc',
  'make sure that at most 3 run.',
  '\n\n    indented();\n',
  'and then',
  'what was the error in the build?',
];
const WIDE: readonly [string, ...string[]] = [
  '会話が長くなりました。',
  '请不要删除文件',
  '👩‍💻🧵',
  '😀😀😀',
  '안녕하세요',
  '𝒳𝒴',
  'naïve café Straße',
  '…—“”',
];

/** A text of about that many characters: prose, code, paths, and now and then wide scripts and emoji; never cut within a character. */
export function randomText(random: Random, chars: number): string {
  const wide = random.chance(0.2) ? 0.6 : 0.05;
  const paragraph: string[] = [];
  let length = 0;
  const most = Math.min(chars, 600);
  while (length < most) {
    const piece = random.pick(random.chance(wide) ? WIDE : PLAIN);
    paragraph.push(piece);
    length += piece.length + 1;
  }
  const text = paragraph.join(' ');
  if (chars <= 600) return text;
  const lines: string[] = [];
  for (let line = 1; line * (text.length + 6) <= chars; line++) lines.push(`${line}: ${text}`);
  return lines.length === 0 ? text : lines.join('\n');
}
