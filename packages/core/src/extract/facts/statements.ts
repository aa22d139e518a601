import { reversed } from '../../check/list.ts';
import { startsTurn, textOf } from '../../message/message.ts';
import { headOf, namesIn, oneLine } from '../../message/text.ts';
import { isHandedOver } from '../../summary/hand-over.ts';
import type { Node } from '../../thread/thread.ts';
import { demandOf } from './rules.ts';
import { proseLines } from './prose.ts';
import { argumentsGiven, expandedCommands } from '../story/user-words.ts';
import type { Decision, Fact } from '../../plan/summary.ts';

/** Says in so many words that something was chosen. */
const CHOOSES =
  /(?<!\b(?:not|never|yet to|can|may|should) )\b(?:(?:I|we)(?:['’]ve| have| had)? (?:\w+ly )?(?:decided|chose|opted|settled on|agreed)\b|decided (?:to|on|against|not)\b|(?:the|our|my|final) decision (?:is|was)\b|(?:I['’]m|I am|we['’]re|we are|I['’]ll|we['’]ll) (?:going|go|stick(?:ing)?|stay(?:ing)?) with\b|(?:I|we)['’]ll (?:use|keep|leave|take|avoid|skip) .{1,160}?\b(?:instead|rather than|because|to avoid|to keep)\b)/i;
/** Says what the matter was. */
const FINDS =
  /\b(?:root cause|(?:issue|problem|bug|cause|reason|culprit) (?:is|was) that|turns out|fix (?:is|was)(?: \w+)?(?: to\b|:))/i;
/** A guess, a plan or a question settles nothing. */
const UNSURE =
  /\?|^\W*(?:if|whether|let me|maybe|perhaps)\b|\b(?:probably|might|may|could|would|seems?|appears?|looks? like|whether|waiting|I think|not sure|if it|one (?:possible|likely))\b/i;
/** Every such sentence contains one of these. */
const SETTLED_HINT =
  /\b(?:decided|decision|chose|opted|settled on|agreed|(?:go|going|stick|sticking|stay|staying) with|['’]ll (?:use|keep|leave|take|avoid|skip)|root cause|(?:is|was) that|turns out|fix (?:is|was))\b/i;
/** Code and markup are quoted when they are needed; a person does not say them. */
const CODE = /^\s*(?:\/\/|#|\*|<|\||```|[-+]\s*\/\/)|[{};]\s*$|^\s*\w+\(|:=|=>/;
/** What a list puts before its lines. */
const BULLET = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/;
/** Where a sentence ends: not after "e.g.", nor after the "A." or "2." that a line begins with. */
const SENTENCE_END =
  /(?<=[.!?]["')*]{0,2})(?<!\b(?:e\.g|i\.e|etc|vs|cf)\.)(?<!^\W{0,3}(?:[A-Za-z]|\d{1,3})\.)\s+|(?<=[。！？])/;
const LONGEST_LINE = 4_000;
const LONGEST_SENTENCE = 400;
const SHORTEST_SENTENCE = 8;
/** "不要改它" is a rule. */
const SHORTEST_DEMAND = 4;
/** A text pasted into a message is not a list of rules: only so much of it is read. */
const LOOKED_AT = 40_000;
const MOST_PER_MESSAGE = 16;
const MOST_DECISIONS = 30;

/** The sentences of a text that match, in order. */
function sentences(text: string, pattern: RegExp): readonly string[] {
  const found: string[] = [];
  for (const line of headOf(text, LOOKED_AT).split('\n')) {
    if (line.length < SHORTEST_SENTENCE || line.length > LONGEST_LINE) continue;
    if (!pattern.test(line) || CODE.test(line)) continue;
    for (const sentence of line.split(/(?<=[.!?])\s+/)) {
      const { length } = sentence;
      if (length >= SHORTEST_SENTENCE && length < LONGEST_SENTENCE && pattern.test(sentence))
        found.push(oneLine(sentence.replace(BULLET, ''), LONGEST_SENTENCE));
    }
  }
  return found;
}

/**
 * What the user, and a system message that is not carried whole, want to hold from now on, in their words. If a message
 * has very many demands, only the first and the last count: a text full of them was pasted.
 */
export function constraints(nodes: readonly Node[]): readonly Fact[] {
  const expanded = expandedCommands(nodes);
  return nodes.flatMap(({ message, turn, index }) => {
    if (message.role !== 'system' && !startsTurn(message)) return [];
    if (expanded.has(index)) return [];
    const by = message.role === 'system' ? 'system' : 'user';
    const given = argumentsGiven(textOf(message));
    const found = isHandedOver(given)
      ? demands(quotedIn(given)).filter(({ text }) => !cutsQuotation(text) && !isAboutIt(text))
      : demands(given);
    return atBothEnds(found).map(({ kind, text }): Fact => ({
      kind,
      text,
      by,
      turn,
    }));
  });
}

/** What a model quotes, line by line: in its account of an earlier session only that is what the user said. */
const quotedIn = (text: string): string =>
  [
    ...text.matchAll(
      /^[ \t]{0,20}(?:[-*•]|\d{1,3}[.)])[ \t]+["“]([^\n]{4,600})["”]|“([^”\n]{4,600})”/gm,
    ),
  ]
    .map(([, line, within]) => line ?? within)
    .join('\n');

type Demand = Pick<Fact, 'kind' | 'text'>;

function demands(text: string): readonly Demand[] {
  const found = new Map<string, Demand>();
  for (const line of proseLines(text)) {
    for (const sentence of line.split(SENTENCE_END)) {
      const kind = sentence.length < SHORTEST_DEMAND ? undefined : demandOf(sentence);
      if (kind === undefined) continue;
      const said = oneLine(sentence, LONGEST_SENTENCE);
      found.set(said, { kind, text: said });
    }
  }
  return [...found.values()];
}

/** True for a sentence that only makes sense after the one before it: nothing in it has a name. */
const isAboutIt = (sentence: string): boolean =>
  /\b(?:it|them|those|these)\b/i.test(sentence) && !namesSomething(sentence);

/** True if a quotation begins or ends within a sentence, but not both: what is quoted is what the sentence is about. */
function cutsQuotation(sentence: string): boolean {
  const opened = sentence.match(/(?<![\w"'“‘])["'“‘](?=\w)/g)?.length ?? 0;
  const closed = sentence.match(/(?<=[\w.,!?])["'”’](?!\w)/g)?.length ?? 0;
  // "the users' names" closes nothing.
  return opened !== closed && opened + closed > 1;
}

function atBothEnds<T>(all: readonly T[]): readonly T[] {
  const half = MOST_PER_MESSAGE / 2;
  return all.length <= MOST_PER_MESSAGE ? all : [...all.slice(0, half), ...all.slice(-half)];
}

/** True for a sentence that says what was chosen, or by name what the matter was. A verdict or a mood is neither. */
function settles(sentence: string): boolean {
  if (UNSURE.test(sentence)) return false;
  return CHOOSES.test(sentence) || (FINDS.test(sentence) && namesSomething(sentence));
}

const namesSomething = (sentence: string): boolean =>
  /`[^`]+`/.test(sentence) || namesIn(sentence).size > 0;

/** What the assistant settled and found out, in its own words. */
export function decisions(nodes: readonly Node[]): readonly Decision[] {
  const found = new Map<string, Decision>();
  for (let i = nodes.length - 1; i >= 0 && found.size < MOST_DECISIONS; i--) {
    const { message, turn } = nodes[i] as Node;
    if (message.role !== 'assistant') continue;
    for (const text of reversed(sentences(textOf(message), SETTLED_HINT))) {
      if (text.length < 20 || text.endsWith(':') || found.has(text) || !settles(text)) continue;
      const { time } = message.meta ?? {};
      found.set(text, time === undefined ? { text, turn } : { text, turn, time });
    }
  }
  return reversed([...found.values()].slice(0, MOST_DECISIONS));
}
