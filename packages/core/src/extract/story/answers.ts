import { lastIndex, lastOf, reversed } from '../../check/list.ts';
import { hasCalls, startsTurn, textOf } from '../../message/message.ts';
import { linesOf, oneLine, tailOf } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';
import { sentences, type Passage } from './passages.ts';
import { saidByUser } from './user-words.ts';

/** An answer up to this long says little without its question. */
const SHORT_ANSWER_CHARS = 100;

/** How an answer begins that does not take what the agent proposes. */
const OBJECTS =
  /^\W*(?!no (?:problem|worries|objections?)|not (?:bad|a problem))(?:but|no|nope|wait|hm+|actually|not|don['’]?t|i (?:don['’]?t|disagree)|that['’]?s (?:not|wrong)|that (?:is|was) (?:not|wrong)|you (?:didn['’]?t|can['’]?t|couldn['’]?t|missed))\b/i;

/** What the user answers to the agent. */
export interface Answers {
  /** The messages of the agent that the user answers in a few words, with the answers. */
  readonly asked: ReadonlyMap<number, string>;
  /** The messages that ask something and that the user objects to. */
  readonly refused: ReadonlySet<number>;
  /** The messages of the user that say little alone, with the questions before them. */
  readonly questions: ReadonlyMap<number, string>;
}

export function answersIn(nodes: readonly Node[]): Answers {
  const asked = new Map<number, string>();
  const refused = new Set<number>();
  const questions = new Map<number, string>();
  let last: Node | undefined;
  for (const node of nodes) {
    const { message } = node;
    const words = startsTurn(message) ? saidByUser(message).join(' ') : '';
    if (last !== undefined && words !== '') {
      const isShort = words.length <= SHORT_ANSWER_CHARS && !words.includes('?');
      if (OBJECTS.test(words) && asks(last)) refused.add(last.index);
      if (isShort || NAMES_OPTION.test(words)) asked.set(last.index, words);
      const question = words.length <= BRIEF_CHARS ? lastQuestion(textOf(last.message)) : undefined;
      // A part of a secret is not recognised: only a whole question is shown.
      if (question?.endsWith('?') === true) questions.set(node.index, question);
    }
    last = message.role === 'assistant' && !hasCalls(message) ? node : undefined;
  }
  return { asked, refused, questions };
}

/** An answer up to this long is shown with its question in any case. */
export const BRIEF_CHARS = 60;
const ASKED_CHARS = 100;

/** The last question of a text. */
export function lastQuestion(text: string): string | undefined {
  const line = lastOf(linesOf(text), (one) => /\?\W{0,4}$/.test(one));
  const question = sentences(line ?? '').at(-1);
  return question === undefined ? undefined : oneLine(question.replaceAll('**', ''), ASKED_CHARS);
}

const ENDING_CHARS = 300;

/** True for a message that ends with a question: what it says before is a proposal. */
const asks = ({ message }: Node): boolean => tailOf(textOf(message), ENDING_CHARS).includes('?');

/** An answer that names options: "B", "2.", "option a, but …", "1+2". */
const NAMES_OPTION =
  /^\W{0,3}(?:option |go with |i(?: think|['’]d say| prefer) |let['’]s (?:try|do|go with) )?((?:[a-e]|\d)(?:\s?(?:[+&,]|and)\s?(?:[a-e]|\d)(?![\w.]))*)(?:\s*$|[.,):;–-](?![a-z]))/i;

/** The question that an answer belongs to, with the options that it names. */
export function questionWithOption(
  passages: readonly Passage[],
  answer: string,
): Passage | undefined {
  const labels = NAMES_OPTION.exec(answer)?.[1]?.match(/[a-e](?!nd)|\d/gi) ?? [];
  const lines = reversed(passages.flatMap(({ text }) => text.split('\n')));
  const options = labels.flatMap((label) => {
    const begins = new RegExp(`^\\W{0,6}(?:option )?${label}(?:[.):*]|\\s[-–—:])`, 'i');
    return lines.find((line) => begins.test(line)) ?? [];
  });
  if (options.every((option) => isShortList(passages, option))) return undefined;
  const question = lines.find((line) => line.includes('?') && !options.includes(line));
  const shown = [...(question === undefined ? [] : [question]), ...options];
  const text = shown.map((line) => oneLine(line, OPTION_CHARS)).join('\n  ');
  return { at: passages.length, lead: '', text, kind: 'option' };
}

const OPTION_CHARS = 300;

/** Options that are shown whole with their question need no line of their own. */
function isShortList(passages: readonly Passage[], option: string): boolean {
  const list = passages.find(({ text }) => text.split('\n').includes(option));
  return list !== undefined && list.text.length + list.lead.length <= QUESTION_CHARS / 2;
}

const QUESTION_CHARS = 500;

/** What an agent asks or offers: how its message begins, and the last passage with a question, otherwise the last one. */
export function questionsIn(passages: readonly Passage[]): ReadonlySet<Passage> {
  const end = lastIndex(passages, ({ text }) => text.includes('?'));
  const asked = passages.slice(0, end < 0 ? passages.length : end + 1);
  let left = QUESTION_CHARS;
  const first = asked.filter(({ text }) => (left -= text.length) >= 0);
  return new Set([...first, ...asked.slice(-1)]);
}
