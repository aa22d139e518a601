import type { MessageId } from '@bobbin/core';
import {
  outsideParents,
  ownNodes,
  type Appended,
  type AppendOptions,
  type Node,
} from '@bobbin/core/internal';

/** Few enough to be written in a moment, many enough that the moments between cost little. */
const NODES_AT_ONCE = 500;

/** Writes some nodes. Parents that are not among them must exist. */
export type WritePart = (
  nodes: readonly Node[],
  needed: readonly MessageId[],
  options: AppendOptions,
) => Promise<Appended>;

/**
 * Appends in parts, so that a process which appends very much goes on with its other work meanwhile. All that must be
 * there is looked for before the first part is written.
 */
export async function appendInParts(
  nodes: readonly Node[],
  { expectedHead }: AppendOptions,
  write: WritePart,
): Promise<Appended> {
  let expected = expectedHead;
  for (let from = 0; from < nodes.length;) {
    const part = nodes.slice(from, from + NODES_AT_ONCE);
    const needed = outsideParents(from === 0 ? nodes : part);
    const options = expected === undefined ? {} : { expectedHead: expected };
    const result = await write(part, needed, options);
    if (result.kind === 'conflict') {
      // The head is one of ours: this append came before, and was broken off.
      const begun = ownNodes(nodes, expectedHead).findLast(({ id }) => id === result.head);
      if (begun === undefined || expected === begun.id) return result;
      from = nodes.indexOf(begun) + 1;
      expected = begun.id;
      continue;
    }
    from += part.length;
    if (expected !== undefined) expected = part.at(-1)?.id as MessageId;
    if (from < nodes.length) await new Promise((resolve) => setImmediate(resolve));
  }
  return { kind: 'appended' };
}
