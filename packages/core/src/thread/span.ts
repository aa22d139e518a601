import type { MessageId } from '../message/message.ts';
import type { Node } from './thread.ts';

/** Messages named one by one, in thread order, never empty: it needs no thread to be resolved. */
export interface Span {
  readonly ids: readonly [MessageId, ...MessageId[]];
  readonly firstTurn: number;
  readonly lastTurn: number;
}

/** The span of some nodes of one path, or undefined if there are none. */
export function spanOf(nodes: readonly Node[]): Span | undefined {
  const [first, ...rest] = nodes;
  if (first === undefined) return undefined;
  for (let i = 1; i < nodes.length; i++) {
    if ((nodes[i] as Node).index <= (nodes[i - 1] as Node).index) {
      throw new RangeError(
        `a span must be in thread order: ${nodes[i]?.id} comes after its successor`,
      );
    }
  }
  const last = rest.at(-1) ?? first;
  return {
    ids: [first.id, ...rest.map((node) => node.id)],
    firstTurn: first.turn,
    lastTurn: last.turn,
  };
}
