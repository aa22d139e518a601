import { lastIndex, lastOf } from '../../check/list.ts';
import { hasCalls, startsTurn, textOf } from '../../message/message.ts';
import { headOf, linesOf, tailOf } from '../../message/text.ts';
import type { Redact } from '../../summary/redact.ts';
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
  /** The messages of the agent that the user answers in a few words, with the answer. */
  readonly asked: ReadonlyMap<number, string>;
  /** The messages that ask something and that the user objects to. */
  readonly refused: ReadonlySet<number>;
  /** The messages of the user that say little alone, with what they answer. */
  readonly answered: ReadonlyMap<number, Answered>;
}

/** What a short answer answers: the question, and the options that it names or that the agent recommends. */
export interface Answered {
  readonly question?: string;
  readonly options: readonly string[];
  readonly isRecommended: boolean;
}

export function answersIn(nodes: readonly Node[], redact: Redact): Answers {
  const asked = new Map<number, string>();
  const refused = new Set<number>();
  const answered = new Map<number, Answered>();
  let last: Node | undefined;
  for (const node of nodes) {
    const { message } = node;
    const words = startsTurn(message) ? saidByUser(message).join(' ') : '';
    if (last !== undefined && words !== '') {
      const isShort = words.length <= SHORT_ANSWER_CHARS && !words.includes('?');
      if (OBJECTS.test(words) && asks(last)) refused.add(last.index);
      const own = whatIsAnswered(textOf(last.message), words, redact);
      if (own !== undefined) answered.set(node.index, own);
      else if (isShort) asked.set(last.index, words);
    }
    last = message.role === 'assistant' && !hasCalls(message) ? node : undefined;
  }
  return { asked, refused, answered };
}

/** An answer up to this long is shown with its question in any case. */
const BRIEF_CHARS = 60;
const ASKED_CHARS = 160;
const OPTION_CHARS = 90;
/** A shorter question, such as "Which one?", says what is asked in a sentence before it. */
const VAGUE_CHARS = 45;
/** What an agent asks is near the end of its message. */
const READ_CHARS = 6_000;

/** What an answer refers to in the agent's message before it. Undefined if the answer says enough alone, or if nothing is asked. */
export function whatIsAnswered(said: string, answer: string, redact: Redact): Answered | undefined {
  const names = OWN_POINT.test(answer) ? undefined : NAMES_OPTION.exec(answer)?.[1];
  if (names === undefined && (answer.length > BRIEF_CHARS || answer.includes('?')))
    return undefined;
  // A part of a secret is not recognised, so secrets go before the text is cut.
  const lines = linesOf(tailOf(redact(said), READ_CHARS)).map(plainLine);
  const question = questionIn(lines);
  const named = optionsNamed(lines, names ?? '');
  const recommended =
    named.length > 0 || OBJECTS.test(answer) ? [] : lines.filter(isRecommendation);
  const isRecommended = recommended.length === 1;
  const options = (isRecommended ? recommended : named).map(optionText);
  if (question === undefined && named.length === 0) return undefined;
  return {
    ...(question === undefined ? {} : { question }),
    options,
    isRecommended,
  };
}

/** Says what an answer answers, as the rest of a sentence about it. */
export function answeredText({ question, options, isRecommended }: Answered): string {
  const quoted = options.map((option) => `“${option}”`).join(' and ');
  if (options.length === 0) return `answers “${question ?? ''}”`;
  const asked = isRecommended && question !== undefined ? `answers “${question}”, ` : '';
  return `${asked}${isRecommended ? 'recommended was' : 'takes'} ${quoted}`;
}

/** A line of a list or a table without its marks. */
const plainLine = (line: string): string =>
  line
    .replaceAll('**', '')
    .replace(/\s*\|\s*/g, ' | ')
    .replace(/^[\s|>*•-]+|[\s|]+$/g, '')
    .replace(/ \| /g, ': ');

/** The last question of some lines. A vague one is shown with a question before it, or with the sentence before it. */
function questionIn(lines: readonly string[]): string | undefined {
  const asked = lines.flatMap((line) => {
    const said = sentences(line.replace(LABEL, '')).map((sentence) => sentence.trim());
    return said.flatMap((question, i) =>
      isQuestion(question) ? [{ question, before: said[i - 1] }] : [],
    );
  });
  const last = asked.at(-1);
  if (last === undefined || !isVague(last.question)) return last?.question;
  const clear = lastOf(asked, ({ question }) => !isVague(question));
  if (clear !== undefined) return clear.question;
  const both = last.before === undefined ? '' : `${last.before} ${last.question}`;
  return both !== '' && both.length <= ASKED_CHARS ? both : last.question;
}

const isVague = (question: string): boolean => question.length <= VAGUE_CHARS;

const isQuestion = (sentence: string): boolean =>
  sentence.length <= ASKED_CHARS && /\?\W{0,4}$/.test(sentence);

/** What some agents put before a question. */
const LABEL = /^(?:\w{1,12} )?question(?: \d{1,2})?: */i;

/** An answer that names options: "B", "2.", "option a, but …", "1+2", "yes, do 1". */
const NAMES_OPTION =
  /^\W{0,3}(?:(?:yes|yeah|yep|ok(?:ay)?|sure|please|let['’]s|i(?:['’]d)?|think|say|prefer|try|do|go|with|take|pick|option)\b[\s,]{1,3}){0,5}((?:[a-e]|\d)(?:\s?(?:[+&,]|and)\s?(?:[a-e]|\d)(?![\w.]))*)(?:\s*$|[.,):;–-](?![a-z])| (?:is|sounds|looks|seems) )/i;

/** A point of the user's own list, such as "3. Make the test shorter". */
const OWN_POINT = /^\d{1,2}[.)] +(?!\p{Ll}|I\b)\p{L}/u;

/** The lines that begin with the labels of options, the last of each. */
function optionsNamed(lines: readonly string[], names: string): readonly string[] {
  const labels = names.match(/[a-e](?!nd)|\d/gi) ?? [];
  return labels.flatMap((label) => {
    const begins = new RegExp(`^(?:option )?${label}(?:[.):]|\\s[-–—:])`, 'i');
    return lastOf(lines, (line) => begins.test(line)) ?? [];
  });
}

const isRecommendation = (line: string): boolean =>
  /^(?:option )?(?:[a-e]|\d)(?:[.):]|\s[-–—:]).{0,200}\brecommended\b/i.test(line);

/** An option, or the whole words of it that a short text has space for. */
function optionText(option: string): string {
  const line = option.replace(/ \(recommended\)/i, '');
  if (line.length <= OPTION_CHARS) return line;
  const head = headOf(line, OPTION_CHARS);
  return `${head.slice(0, Math.max(OPTION_CHARS / 2, head.lastIndexOf(' ')))}…`;
}

const ENDING_CHARS = 300;

/** True for a message that ends with a question: what it says before is a proposal. */
const asks = ({ message }: Node): boolean => tailOf(textOf(message), ENDING_CHARS).includes('?');

const QUESTION_CHARS = 500;

/** What an agent asks or offers: how its message begins, and the last passage with a question, otherwise the last one. */
export function questionsIn(passages: readonly Passage[], answer: string): ReadonlySet<Passage> {
  const end = lastIndex(passages, ({ text }) => text.includes('?'));
  const asked = passages.slice(0, end < 0 ? passages.length : end + 1);
  let left = QUESTION_CHARS;
  const first = asked.filter(({ text }) => (left -= text.length) >= 0);
  const numbered = NUMBERS.test(answer) ? passages.filter(({ text }) => NUMBERED.test(text)) : [];
  return new Set([...first, ...asked.slice(-1), ...numbered]);
}

/** An answer such as "skip 5, 7, 8 and do the rest", and the entries of a list or a table that it speaks of. */
const NUMBERS = /\b\d{1,2}\b/;
const NUMBERED = /^\W*\d{1,2}(?:[.):]| *\|)/;
