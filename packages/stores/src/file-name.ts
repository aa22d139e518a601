import { createHash } from 'node:crypto';

const LONGEST = 120;

/**
 * A file name for any text, another one for another text, also where a file system does not tell cases apart. Names
 * that people choose stay readable.
 */
export function fileName(text: string): string {
  const safe = text.replace(/[^a-z0-9_-]/gu, (char) =>
    Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  if (safe === '') return '%';
  if (safe.length <= LONGEST) return safe;
  return `${safe.slice(0, LONGEST - 65)}%%${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
