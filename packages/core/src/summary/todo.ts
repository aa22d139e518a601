import { isJsonObject, parseJson, type Json } from '../thread/json.ts';
import { callsOf, type CallPart } from '../thread/message.ts';
import { oneLine } from '../thread/text.ts';
import type { Node } from '../thread/thread.ts';
import type { Item, Priority } from './summary.ts';

const LISTS = /todo|plan|task/i;
const LONGEST = 200;
const MOST = 60;

/** The items of the last list that the agent kept in a tool, or undefined where it kept none. */
export function todoItems(nodes: readonly Node[]): readonly Item[] | undefined {
  for (let i = nodes.length - 1; i >= 0; i--) {
    for (const call of callsOf((nodes[i] as Node).message).toReversed()) {
      const items = itemsOf(call);
      if (items !== undefined) return items;
    }
  }
  return undefined;
}

function itemsOf({ tool, args }: CallPart): readonly Item[] | undefined {
  if (!LISTS.test(tool)) return undefined;
  const parsed = parseJson(args);
  if (!isJsonObject(parsed)) return undefined;
  const list = Object.values(parsed).find(
    (value) =>
      Array.isArray(value) && value.length > 0 && value.every((item) => isJsonObject(item)),
  );
  if (!Array.isArray(list)) return undefined;
  const items = list.slice(0, MOST).flatMap((item: Json) => itemOf(item) ?? []);
  return items.length === 0 ? undefined : items;
}

function itemOf(item: Json): Item | undefined {
  if (!isJsonObject(item)) return undefined;
  const text =
    item['content'] ?? item['step'] ?? item['text'] ?? item['title'] ?? item['description'];
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  const told = item['status'] ?? item['state'];
  const status = typeof told === 'string' ? told : '';
  const state = /complete|done|cancel/i.test(status)
    ? 'done'
    : /progress|current/i.test(status)
      ? 'current'
      : 'open';
  const priority: Priority =
    item['priority'] === 'high' || item['priority'] === 'low' ? item['priority'] : 'medium';
  return { text: oneLine(text, LONGEST), state, priority };
}
