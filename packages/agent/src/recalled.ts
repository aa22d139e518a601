import { queryWords, searchText, type Store, type ThreadKey } from '@bobbin/core';

const LONGEST = 3_000;

/** A message that was compacted and matches a query. */
export interface Recalled {
  /** Who said it, and when in the conversation. */
  readonly place: string;
  readonly text: string;
}

export async function recalled(
  store: Store,
  key: ThreadKey,
  query: string,
  most: number,
): Promise<readonly Recalled[]> {
  const words = queryWords(query);
  const found = words.length === 0 ? [] : await store.search(key, words, most);
  return found.map(({ node }) => ({
    place: `turn ${node.turn}, ${node.message.role}`,
    text: around(searchText(node.message), words),
  }));
}

/** As much of a long text as may be shown, around the first word that matches. */
function around(text: string, words: readonly string[]): string {
  if (text.length <= LONGEST) return text;
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word.toLowerCase())).filter((at) => at >= 0);
  const middle = places.length === 0 ? 0 : Math.min(...places);
  const from = Math.max(0, Math.min(middle - LONGEST / 3, text.length - LONGEST));
  const until = from + LONGEST;
  return `${from > 0 ? '…' : ''}${text.slice(from, until)}${until < text.length ? '…' : ''}`;
}
