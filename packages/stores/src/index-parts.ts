/** Few enough to be indexed in a moment. */
const MESSAGES_AT_ONCE = 250;

/**
 * Indexes most of very many messages in parts, so that a process which is about to commit a plan of them goes on with
 * its other work meanwhile. The commit looks for what is not indexed yet: usually the last part.
 */
export async function indexMost<Id>(
  ids: readonly Id[],
  index: (part: readonly Id[]) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; ids.length - from > MESSAGES_AT_ONCE; from += MESSAGES_AT_ONCE) {
    await index(ids.slice(from, from + MESSAGES_AT_ONCE));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
