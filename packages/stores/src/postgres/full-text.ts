/** The most words of one query: each is a bit of a number. */
const MOST_QUERY_WORDS = 60;

/**
 * The different words of a text, as the text of a tsvector. Bobbin splits them, and no configuration of the server, so
 * that every store finds the same words. Positions of words do not matter to a search and would take half of the bytes.
 */
export function tsvector(words: readonly string[]): string {
  return [...new Set(words)].map(quoted).join(' ');
}

/** Each word as the text of a tsquery. */
export function tsqueries(words: readonly string[]): readonly string[] {
  return words
    .filter((word) => word !== '')
    .slice(0, MOST_QUERY_WORDS)
    .map(quoted);
}

/** A word is any text: quotes and backslashes are doubled. */
function quoted(word: string): string {
  return `'${word.replaceAll(/['\\]/g, '$&$&')}'`;
}
