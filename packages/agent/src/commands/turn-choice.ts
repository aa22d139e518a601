import { textOf } from '@bobbin/core';
import { oneLine, type Node } from '@bobbin/core/internal';
import type { Choices } from './command.ts';
import { ExpectedError } from '../expected-error.ts';

/** The turn that a person names by its number, from 1. */
export function turnOf(turns: readonly Node[], number: string): Node {
  const node = /^\d+$/.test(number) ? turns[Number(number) - 1] : undefined;
  if (node === undefined)
    throw new ExpectedError(`there is no message ${number}; there are ${turns.length}`);
  return node;
}

/** Messages of the user, also those that were compacted: all, or only some. */
export function turnChoices(
  title: string,
  turns: readonly Node[],
  isMeant: (node: Node) => boolean = () => true,
): Choices {
  const items = turns.flatMap((node, i) => {
    const label = `${i + 1}. ${oneLine(textOf(node.message), LONGEST)}`;
    return isMeant(node) ? [{ value: String(i + 1), label }] : [];
  });
  return { title, items: items.toReversed() };
}

const LONGEST = 70;
