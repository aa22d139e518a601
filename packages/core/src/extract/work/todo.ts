import { isJsonObject, parseJson, type Json, type JsonObject } from '../../message/json.ts';
import {
  callsOf,
  resultsOf,
  resultText,
  startsTurn,
  type CallPart,
  type ResultPart,
} from '../../message/message.ts';
import { headOf, oneLine } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';
import type { Item, Priority } from '../../plan/summary.ts';

const LISTS = /todo|plan|task/i;
const CREATES = /(?:^|[._])(?:(?:task|todo)_?(?:create|add)|(?:create|add|new)_?(?:task|todo))$/i;
const UPDATES =
  /(?:^|[._])(?:(?:task|todo)_?(?:update|complete|delete|edit|set)|(?:update|complete|delete|finish|close)_?(?:task|todo))$/i;
const REPORTS =
  /(?:^|[._])(?:(?:task|todo)s?_?(?:list|get|read)|(?:list|get|read)_?(?:task|todo)s?)$/i;
/** Some agents send their checklist along with every call, under this name. */
const PROGRESS = 'task_progress';
const LONGEST = 200;
const MOST = 80;
/**
 * An item has stopped if it was begun before the present turn and so many messages ago, or before so many finished
 * ones.
 */
const STALE_MESSAGES = 60;
const OVERTAKEN_BY = 2;

/**
 * What was to do before, as the calls of the agent changed it: lists that it keeps in a tool, each in the place of the one
 * before, also an empty one, and tasks that it makes and changes one by one.
 */
export function todoItems(nodes: readonly Node[], before: readonly Item[]): readonly Item[] {
  const list = new TodoList(before);
  for (const node of nodes) list.read(node);
  return list.items();
}

class TodoList {
  #items: Item[];
  /** Made, and not yet given a number by the tool. */
  readonly #made = new Map<string, Item>();
  /** Calls whose results report the state of tasks. */
  readonly #asked = new Set<string>();
  #index = 0;
  #turnIndex = 0;

  constructor(before: readonly Item[]) {
    this.#items = [...before];
  }

  read({ message, index }: Node): void {
    this.#index = index;
    if (startsTurn(message)) this.#turnIndex = index;
    for (const call of callsOf(message)) this.#call(call);
    for (const result of resultsOf(message)) {
      this.#number(result);
      if (this.#asked.delete(result.callId)) this.#readStates(resultText(result));
    }
  }

  /** Open items are never left out; the newest of the finished ones stay. */
  items(): readonly Item[] {
    let excess = this.#items.length - MOST;
    return this.#items
      .filter(({ state }) => state !== 'done' || excess-- <= 0)
      .map((item) => (this.#hasStopped(item) ? { ...item, state: 'open' } : item));
  }

  #hasStopped({ state, at }: Item): boolean {
    if (state !== 'current' || at === undefined) return false;
    const isOld = at < this.#turnIndex && this.#index - at > STALE_MESSAGES;
    const done = this.#items.filter((one) => one.state === 'done' && (one.at ?? 0) > at);
    return isOld || done.length >= OVERTAKEN_BY;
  }

  #stated(item: Item): Item {
    const { editedAt: _, ...stated } = { ...item, statedAt: this.#index };
    return item.state === 'current' ? { ...stated, at: this.#index } : stated;
  }

  /** An item that was finished in the list before was not finished again. */
  #statedInList(item: Item): Item {
    const before = this.#items.find(({ text }) => text === item.text);
    return item.state === 'done' && before?.state === 'done' ? before : this.#stated(item);
  }

  #call({ tool, args, callId }: CallPart): void {
    if (!LISTS.test(tool) && !args.includes(PROGRESS)) return;
    const parsed = parseJson(args);
    if (!isJsonObject(parsed)) return;
    const list = listIn(parsed, LISTS.test(tool));
    if (CREATES.test(tool)) this.#make(callId, parsed);
    else if (UPDATES.test(tool)) this.#change(parsed);
    else if (REPORTS.test(tool)) this.#asked.add(callId);
    else if (list !== undefined) this.#items = list.map((item) => this.#statedInList(item));
  }

  #make(callId: string, args: JsonObject): void {
    const made = itemOf(args);
    if (made === undefined) return;
    const item = this.#stated(made);
    this.#items.push(item);
    this.#made.set(callId, item);
  }

  /** A task is named with its number, by which the agent has to name it again. */
  #number(result: ResultPart): void {
    const item = this.#made.get(result.callId);
    if (item === undefined) return;
    this.#made.delete(result.callId);
    const text = headOf(resultText(result), 2_000);
    const id = NUMBER.exec(text)?.slice(1).find(Boolean) ?? `${this.#items.indexOf(item) + 1}`;
    if (result.outcome === 'failure') this.#replace(item);
    else this.#replace(item, { ...item, text: `${item.text} (#${id})` });
  }

  /** Tasks may be changed by others, such as agents that an agent sends out: what a tool says of them counts. */
  #readStates(text: string): void {
    for (const [, id = '', inList, alone] of headOf(text, LONGEST_LIST).matchAll(STATE_LINE))
      this.#change({ id, status: inList ?? alone ?? '' });
  }

  #change(args: JsonObject): void {
    const id = idOf(args);
    const known = this.#items.find(({ text }) => NUMBERED.exec(text)?.[1] === id);
    if (id === undefined || known === undefined) return;
    const status = rawStatusOf(args);
    if (/delete|remove/i.test(status)) {
      this.#replace(known);
      return;
    }
    const { description: _, ...named } = args;
    const text = textIn(named);
    const changed: Item = {
      ...known,
      ...(status === '' ? {} : { state: stateFromStatus(status) }),
      ...(text === undefined ? {} : { text: `${oneLine(text, LONGEST)} (#${id})` }),
    };
    this.#replace(known, status === '' ? changed : this.#stated(changed));
  }

  #replace(item: Item, ...by: readonly Item[]): void {
    this.#items = this.#items.flatMap((one) => (one === item ? by : [one]));
  }
}

const NUMBER = /#(\w{1,20})\b|"(?:task_?)?id"\s{0,3}:\s{0,3}"?([\w-]{1,40})/i;
/** "#1 [completed] Read it", or "Task #1: Read it" with its status in the next line. */
const STATE_LINE = /^\s*(?:Task )?#([\w-]{1,40})(?: \[(\w+)\]|:[^\n]{0,400}\n\s*Status: (\w+))/gm;
const LONGEST_LIST = 20_000;
const NUMBERED = /\(#([\w-]{1,40})\)$/;

/** The list that a call keeps: of records, of lines, or none. */
function listIn(args: JsonObject, isList: boolean): readonly Item[] | undefined {
  const progress = args[PROGRESS];
  if (typeof progress === 'string') return itemsIn(progress);
  if (!isList) return undefined;
  for (const [key, value] of Object.entries(args)) {
    if (typeof value === 'string' && itemsIn(value).length > 0) return itemsIn(value);
    if (!Array.isArray(value)) continue;
    if (value.length === 0 && /todo|plan|task|step|item|list/i.test(key)) return [];
    const items = value.slice(0, MOST).flatMap((item: Json) => itemOf(item) ?? []);
    if (items.length > 0) return items;
  }
  return undefined;
}

const LINE = /^\s*(?:[-*+]|\d{1,3}[.)])\s+\[([ xX>~/-])\]\s+(\S.*)$/;

function itemsIn(text: string): readonly Item[] {
  return text.split('\n').flatMap((line): readonly Item[] => {
    const [, box = '', said = ''] = LINE.exec(line) ?? [];
    if (said === '') return [];
    const state = box === ' ' ? 'open' : /x/i.test(box) ? 'done' : 'current';
    return [{ text: oneLine(said, LONGEST), state, priority: 'medium' }];
  });
}

function itemOf(item: Json): Item | undefined {
  if (!isJsonObject(item)) return undefined;
  const text = textIn(item);
  if (text === undefined) return undefined;
  const priority: Priority =
    item['priority'] === 'high' || item['priority'] === 'low' ? item['priority'] : 'medium';
  return { text: oneLine(text, LONGEST), state: stateFromStatus(rawStatusOf(item)), priority };
}

function idOf(args: JsonObject): string | undefined {
  const id = args['taskId'] ?? args['task_id'] ?? args['todo_id'] ?? args['id'];
  return typeof id === 'string' || typeof id === 'number' ? `${id}` : undefined;
}

function textIn(item: JsonObject): string | undefined {
  const names = ['content', 'step', 'text', 'title', 'subject', 'description'];
  const text = names.map((name) => item[name]).find((value) => value !== undefined);
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

function rawStatusOf(item: JsonObject): string {
  const status = item['status'] ?? item['state'];
  return typeof status === 'string' ? status : '';
}

function stateFromStatus(status: string): Item['state'] {
  if (/complete|done|cancel/i.test(status)) return 'done';
  return /progress|current/i.test(status) ? 'current' : 'open';
}
