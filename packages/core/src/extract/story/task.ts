import { startsTurn, textOf } from '../../message/message.ts';
import type { Node } from '../../thread/thread.ts';
import { expandedCommands, hasUserWords, saidByUser } from './user-words.ts';

/** The task of a conversation: the first message in which a person asks for something, or a command with its arguments. */
export function taskOf(given: string | null, nodes: readonly Node[]): string | null {
  const expanded = expandedCommands(nodes);
  const loaded = new Set(
    nodes.filter(({ index }) => expanded.has(index)).map(({ message }) => textOf(message)),
  );
  if (given === null || (hasUserWords(given) && !loaded.has(given))) return given;
  for (const { message } of nodes) {
    const text = textOf(message);
    if (!startsTurn(message) || loaded.has(text)) continue;
    if (hasUserWords(text)) return text;
    const [command = ''] = saidByUser(message);
    if (/\s/.test(command)) return command;
  }
  return null;
}
