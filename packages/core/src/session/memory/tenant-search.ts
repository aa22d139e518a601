import type { FoundInThread } from '../../ports.ts';
import { rankTexts, type Posting } from '../../recall/lexical-index.ts';
import type { MessageId } from '../../message/message.ts';
import type { StoredThread } from './stored-thread.ts';

/** Finds messages by words in several threads, ranked as one collection. */
export function searchThreads(
  threads: readonly StoredThread[],
  words: readonly string[],
  most: number,
): readonly FoundInThread[] {
  const indexes = threads.map((stored) => stored.index());
  const postings = words.map((word): Posting<string> =>
    indexes.flatMap((index, i) =>
      index.posting(word).map(([id, count, length]) => [`${i} ${id}`, count, length] as const),
    ),
  );
  const sizes = {
    texts: indexes.reduce((sum, index) => sum + index.sizes.texts, 0),
    words: indexes.reduce((sum, index) => sum + index.sizes.words, 0),
  };
  return rankTexts(postings, sizes)
    .slice(0, most)
    .flatMap(({ id: place, score }) => {
      const [i, id] = place.split(' ') as [string, MessageId];
      const stored = threads[Number(i)];
      const node = stored?.get(id);
      return stored === undefined || node === undefined ? [] : [{ thread: stored.id, node, score }];
    });
}
