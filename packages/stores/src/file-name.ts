import { createHash } from 'node:crypto';
import { assertNames } from '@bobbin/core/internal';

const LONGEST = 120;

/**
 * A file name for any text, unique for each text, also on a file system that ignores case. Names that people choose
 * stay readable.
 */
export function fileName(text: string): string {
  assertNames(text);
  const safe = text.replace(/[^a-z0-9_-]/gu, (char) =>
    Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  if (safe === '') return '%';
  if (safe.length <= LONGEST) return safe;
  return `${safe.slice(0, LONGEST - 65)}%%${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/** The text that a file name encodes; undefined if it was too long for the name. */
export function nameInFile(file: string): string | undefined {
  if (file === '%') return '';
  try {
    return decodeURIComponent(file);
  } catch {
    // A long one has `%%`, which encodes no byte.
    return undefined;
  }
}
