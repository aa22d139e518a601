import type { Message } from '@bobbin/core';

/**
 * The items of messages, for OpenAI, which refuses reasoning without the item that it led to, and an item's id without
 * its reasoning. If the item was changed or never came, both are left out.
 */
export function encodeItems<Item extends object>(
  messages: readonly Message[],
  encode: (message: Message) => readonly Item[],
): readonly Item[] {
  const items: Item[] = [];
  let isThoughtless = false;
  messages.forEach((message, i) => {
    const isDropped = isParted(message, messages[i + 1]);
    isThoughtless = isDropped || (isThoughtless && message.role === 'assistant');
    if (isDropped) return;
    const encoded = encode(message);
    items.push(...(isThoughtless ? encoded.map(withoutId) : encoded));
  });
  return items;
}

function withoutId<Item extends object>(item: Item): Item {
  const { id: _, ...rest } = item as Item & { readonly id?: unknown };
  return rest as Item;
}

function isParted(message: Message, next: Message | undefined): boolean {
  return (
    message.parts.length > 0 &&
    message.parts.every((part) => part.kind === 'reasoning') &&
    (next === undefined || next.role === 'user' || next.role === 'tool' || isRewritten(next))
  );
}

function isRewritten({ role, original }: Message): boolean {
  return role === 'assistant' && original === undefined;
}
