import { startsTurn, textOf } from '../../message/message.ts';
import type { Node } from '../../thread/thread.ts';
import { headOf, oneLine } from '../../message/text.ts';
import { asks } from './statements.ts';

/** The task of a conversation: the first user message, or where that is only a host's, the first that asks. */
export function taskOf(given: string | null, nodes: readonly Node[]): string | null {
  if (given === null || isRequest(given)) return given;
  const first = nodes.find(({ message }) => startsTurn(message) && isRequest(textOf(message)));
  return first === undefined ? given : textOf(first.message);
}

const COMMAND = /^\/[\w:-]+$/;
/** What a harness loads in the user's name. */
const LOADED = /^Base directory for this skill:/;
const DEMONSTRATION =
  /^\W*(?:here is|this is|below is|the following is) an? (?:demonstration|example)\b/i;
const HEADING = /^#{1,6} [^\n]{0,200}\n\s*(?=<)/;
const OPENING = /^<([A-Za-z][\w-]*)[^>]{0,200}>/;
/** Blocks that hold what a user asks. */
const ASKED = /^(?:task|query|question|issue|problem|user)/i;

/** True for a message by which a person asks something: no block, command or example that a host sends for them. */
export function isRequest(text: string): boolean {
  const trimmed = text.trim();
  if ([COMMAND, LOADED, DEMONSTRATION].some((kind) => kind.test(trimmed))) return false;
  const block = trimmed.replace(HEADING, '');
  const tag = OPENING.exec(block)?.[1] ?? '';
  const end = `</${tag}>`;
  const isBlock =
    tag !== '' && !ASKED.test(tag) && block.indexOf(end) === block.length - end.length;
  return !isBlock && asks(block);
}

/** A host's message in one line. */
export function hostLine(text: string): string {
  return oneLine(withoutTags(text), 120);
}

const LOOKED_AT = 2_000;

/** The beginning of a text, blocks without their marks. */
export function withoutTags(text: string): string {
  return headOf(text, LOOKED_AT).replace(/<\/?[A-Za-z][^<>]{0,200}>/g, ' ');
}
