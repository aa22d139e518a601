import { hasCalls, startsTurn, textOf, type Message } from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';
import { shortened } from '../quotes/quote.ts';
import type { Item, Summary } from '../../plan/summary.ts';
import { isRequest, withoutTags } from './task.ts';

const LONGEST_LINE = 200;
const ANNOUNCES =
  /\b(?:I(?:['’]ll| will|['’]m going to| go on| now)|let me (?!know)|let['’]s|now I)\b|^\W*(?:now|next)\b/i;
const LONGEST_STEP = 400;
/** "yes, do it" does not say what. */
const SHORTEST_REQUEST = 24;
/** The request stands among what the user said too: here its beginning must do. */
const LONGEST_REQUEST = 120;

/**
 * What the agent works on and what it said last, where that was a report. The item in progress that was begun last, the
 * step that the agent announced, or the request of its turn where it did not say what it does.
 */
export function stateOf(
  nodes: readonly Node[],
  items: readonly Item[],
  task: string | null,
  before: Summary,
): { readonly currentTask: string | null; readonly lastSaid: string | null } {
  const said = nodes.findLast(
    ({ message }) => message.role === 'assistant' && textOf(message) !== '',
  );
  const line = (said === undefined ? before.lastSaid : lineOf(said.message)) ?? null;
  const isAnnounced = said !== undefined && announces(textOf(said.message));
  const isStep = said === undefined || isAnnounced || callsSince(said, nodes);
  const report = isStep && said !== undefined ? null : line;
  const current = currentItem(items);
  if (current !== undefined) return { currentTask: current.text, lastSaid: report };
  const request = requestIn(nodes, task);
  const isSilent = said === undefined || (isStep && !isAnnounced);
  if (request !== undefined && (isSilent || request.index > said.index))
    return {
      currentTask: shortened(lineOf(request.message), LONGEST_REQUEST),
      lastSaid: isSilent ? null : line,
    };
  const step = said === undefined ? before.currentTask : line;
  return { currentTask: isStep ? step : null, lastSaid: report };
}

function callsSince(said: Node, nodes: readonly Node[]): boolean {
  return nodes.some(
    ({ message, index, turn }) => index >= said.index && turn === said.turn && hasCalls(message),
  );
}

/** What the newest turn asks for, where that is not the task and says what is wanted. */
function requestIn(nodes: readonly Node[], task: string | null): Node | undefined {
  const asked = nodes.findLast(({ message }) => startsTurn(message));
  if (asked === undefined) return undefined;
  const text = textOf(asked.message);
  const isOwn = text !== task && text.length >= SHORTEST_REQUEST && isRequest(text);
  return isOwn ? asked : undefined;
}

function currentItem(items: readonly Item[]): Item | undefined {
  return items
    .filter(({ state }) => state === 'current')
    .reduce<Item | undefined>((a, b) => ((b.at ?? -1) > (a?.at ?? -2) ? b : a), undefined);
}

function lineOf(message: Message): string {
  return shortened(oneLine(withoutTags(textOf(message)), 800), LONGEST_LINE);
}

/** True for a few words on what comes next; a report may end in them too. */
function announces(text: string): boolean {
  return text.length <= LONGEST_STEP && ANNOUNCES.test(text);
}
