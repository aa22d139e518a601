import { hasCalls, startsTurn, type Message } from '../../message/message.ts';
import { contentWords } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';
import { saidByAgent, saysNothing } from './agent-words.ts';
import { saidByUser } from './user-words.ts';

const LEAST_WORDS = 3;
/** The share of the words of a message that the next one has, if it is the same message written again. */
const SAME_SHARE = 0.8;

/** The messages that a person wrote again, in most of the same words, before the agent had answered them. */
export function rewrittenMessages(nodes: readonly Node[]): ReadonlySet<number> {
  const rewritten = new Set<number>();
  let open: { readonly index: number; readonly words: readonly string[] } | undefined;
  for (const { message, index } of nodes) {
    if (startsTurn(message)) {
      const words = contentWords(saidByUser(message).join(' '));
      if (words.length === 0) continue;
      if (open !== undefined && has(words, open.words)) rewritten.add(open.index);
      open = { index, words };
    } else if (answers(message)) open = undefined;
  }
  return rewritten;
}

function has(words: readonly string[], wanted: readonly string[]): boolean {
  const own = new Set(words);
  const found = wanted.filter((word) => own.has(word)).length;
  return wanted.length >= LEAST_WORDS && found >= wanted.length * SAME_SHARE;
}

function answers(message: Message): boolean {
  const said = message.role === 'assistant' && !hasCalls(message) ? saidByAgent(message) : '';
  return said !== '' && !saysNothing(said);
}
