import { contentWords } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';
import { saidByAgent } from './agent-words.ts';
import { passagesOf } from './passages.ts';

/** Shorter code is often quoted again for another reason. */
const LEAST_WORDS = 8;
/** The share of the words of a piece of code that a later one has, if it takes its place. */
const SAME_SHARE = 0.75;
/** Only the newest pieces are compared. */
const MOST_PIECES = 80;

/** A piece of code in a message of the agent. */
interface Piece {
  readonly at: number;
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

/** The code in messages of the agent that it wrote again later, with changes: the older texts. */
export function replacedCode(nodes: readonly Node[]): ReadonlySet<string> {
  const pieces = nodes.flatMap(piecesIn).slice(-MOST_PIECES);
  const replaced = pieces.filter((piece, i) =>
    pieces.slice(i + 1).some((later) => later.at > piece.at && takesThePlaceOf(later, piece)),
  );
  return new Set(replaced.map(({ text }) => text));
}

function piecesIn({ message, index }: Node): readonly Piece[] {
  if (message.role !== 'assistant') return [];
  return passagesOf(saidByAgent(message))
    .filter(({ kind }) => kind === 'code')
    .map(({ text }) => ({ at: index, text, words: new Set(contentWords(text)) }));
}

function takesThePlaceOf({ words, text }: Piece, older: Piece): boolean {
  if (older.words.size < LEAST_WORDS || text === older.text) return false;
  const same = [...older.words].filter((word) => words.has(word)).length;
  return same >= older.words.size * SAME_SHARE;
}
