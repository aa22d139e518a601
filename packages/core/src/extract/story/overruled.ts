import { lastOf } from '../../check/list.ts';
import type { Fact } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';
import { contentWords } from '../../message/text.ts';
import { standingFacts } from '../facts/supersede.ts';
import { sentences } from './passages.ts';
import { saidByUser } from './user-words.ts';

interface Statement {
  readonly text: string;
  readonly at: number;
  readonly turn: number;
  readonly words: ReadonlySet<string>;
}

const LONGEST = 240;
const MOST_STATEMENTS = 400;
/** Says that something is now different from before. */
const CHANGES =
  /(?<!\b(?:i|was|since|can|could) )\bactually\b|\b(?:final decision|instead|changed my mind|change of plan|no longer|not any ?more|on second thought|scrap|forget|revert|rather|switch(?:ed)? to|move to|rename|from now on|now (?:use|we)|correction|scratch that|(?:you|we) (?:may|can) (?:now\b|.{1,60}\b(?:now|again|too)\b)|let'?s (?:use|go with)|we (?:will|['’]ll) (?:use|go with)|(?:doch )?lieber|stattdessen|endgültig|en fait|finalement|mejor|en su lugar)\b|改成|改为|代わりに/i;
/** A later statement that changes something is about an earlier one if it shares this part of its words. */
const SHARED = 1 / 3;
const FEW_WORDS = 8;
/** Words of many requests: two that share them are not about the same thing. */
const FILLER = new Set(
  'let lets want need would like please yes yeah yep ok okay sure great thanks actually instead s d ll m re ve t'.split(
    ' ',
  ),
);
/** Questions, and what is quoted: messages of a program, lines of code. */
const NO_STATEMENT = /\?$|^["'`+-]|\\n|[;{}]$/;
/** A longer text was pasted: its lines take back nothing, and nobody takes them back. */
const TYPED_CHARS = 2_000;

/** The user's statements that a later one of theirs takes back or changes, with the message that does so. */
export type Overruled = ReadonlyMap<string, number>;

export function overruledStatements(nodes: readonly Node[]): Overruled {
  const said = nodes.flatMap(statementsIn).slice(-MOST_STATEMENTS);
  const overruled = new Map<string, number>();
  const facts = said.map(({ text, turn }): Fact => ({
    kind: 'constraint',
    text,
    by: 'user',
    turn,
  }));
  for (const { fact, by } of standingFacts(facts).superseded) {
    const later = lastOf(said, ({ text, turn }) => text === by.text && turn === by.turn);
    if (later !== undefined) overruled.set(fact.text, later.at);
  }
  for (const later of said) {
    if (!CHANGES.test(later.text)) continue;
    for (const earlier of said)
      if (earlier.at < later.at && !CHANGES.test(earlier.text) && isAbout(later, earlier))
        overruled.set(earlier.text, later.at);
  }
  return overruled;
}

/** The message that changes what a text says. */
export function changeOf(text: string | null, overruled: Overruled): number | undefined {
  if (text === null) return undefined;
  for (const [statement, at] of overruled) if (text.includes(statement)) return at;
  return undefined;
}

function statementsIn(node: Node): readonly Statement[] {
  return saidByUser(node.message)
    .filter(({ length }) => length <= TYPED_CHARS)
    .flatMap((text) => text.split('\n').flatMap(sentences))
    .map((text) => text.trim())
    .filter((text) => text.length > 8 && text.length <= LONGEST && !NO_STATEMENT.test(text))
    .map((text) => ({ text, at: node.index, turn: node.turn, words: topicWords(text) }));
}

const topicWords = (text: string): ReadonlySet<string> =>
  new Set(contentWords(text).filter((word) => !FILLER.has(word)));

function isAbout({ words: later }: Statement, { words: earlier }: Statement): boolean {
  if (earlier.size < 2 || earlier.size > 14) return false;
  const shared = [...earlier].filter((word) => later.has(word)).length;
  // One word is enough only for a statement that says little else.
  return shared >= (later.size <= FEW_WORDS ? 1 : 2) && shared >= earlier.size * SHARED;
}
