import { createHash } from 'node:crypto';
import { assertName } from '@bobbin/core/internal';

const LONGEST = 120;

/**
 * A file name for any text, another one for another text, also if a file system does not tell cases apart. Names that
 * people choose stay readable.
 */
export function fileName(text: string): string {
  assertName(text);
  const safe = text.replace(/[^a-z0-9_-]/gu, (char) =>
    Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  if (safe === '') return '%';
  if (safe.length <= LONGEST) return safe;
  return `${safe.slice(0, LONGEST - 65)}%%${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/** The text that a file name stands for; undefined if it was too long to stand in it. */
export function nameInFile(file: string): string | undefined {
  if (file === '%') return '';
  try {
    return decodeURIComponent(file);
  } catch {
    // A long one has `%%`, which stands for no byte.
    return undefined;
  }
}
