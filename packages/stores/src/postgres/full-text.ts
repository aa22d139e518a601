/** PostgreSQL counts no further (postgresql.org/docs/current/textsearch-limitations.html). */
const LAST_POSITION = 16_383;
const MOST_POSITIONS = 255;

/**
 * Words as the text of a tsvector. They are split by us and not by a configuration of the server, so that every store
 * finds the same words; being letters and digits only, they need no escape.
 */
export function tsvector(words: readonly string[]): string {
  const positions = new Map<string, number[]>();
  for (const [i, word] of words.entries()) {
    const at = positions.get(word) ?? [];
    if (at.length < MOST_POSITIONS) at.push(Math.min(i + 1, LAST_POSITION));
    positions.set(word, at);
  }
  return [...positions].map(([word, at]) => `'${word}':${at.join(',')}`).join(' ');
}

/** A query for texts with any of the words. */
export function tsquery(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll(/['\\]/g, '')}'`).join(' | ');
}
