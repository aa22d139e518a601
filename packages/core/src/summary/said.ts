import { startsTurn, textOf } from '../thread/message.ts';
import { oneLine } from '../thread/text.ts';
import type { Node } from '../thread/thread.ts';
import { shortened } from './quote.ts';
import type { Decision, Fact } from './summary.ts';

const STANDING =
  /\b(?:never|always|must(?:n't)?(?: not)?|only|do not|don't|don’t|make sure|ensure that|prefer|avoid|at most|at least|no more than|should(?:n't)? (?:not|only|always|never)|shouldn't)\b/i;
const DECISION =
  /\b(?:decided?|decision|going with|go with|chose|root cause|the (?:real |actual |main )?(?:issue|problem|bug|fix|cause) (?:is|was)|turns out|because|so we (?:need|should)|I'll (?:use|keep)|approach|confirmed|conclusion|verdict|trade-?off)\b/i;
/** Code and markup are quoted where they are needed; nobody says them. */
const CODE = /^\s*(?:\/\/|#|\*|<|\||```|[-+]\s*\/\/)|[{};]\s*$|^\s*\w+\(|:=|=>/;
/** What a list puts before its lines. */
const BULLET = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/;
const LONGEST_LINE = 4_000;
const LONGEST_SENTENCE = 400;
const SHORTEST_SENTENCE = 8;
/** A text pasted into a message is no list of rules: only so much of it is looked at. */
const LOOKED_AT = 40_000;
const MOST_FACTS = 60;
const MOST_DECISIONS = 30;

/** The sentences of a text that match, in order. */
function sentences(text: string, pattern: RegExp): readonly string[] {
  const found: string[] = [];
  for (const line of text.slice(0, LOOKED_AT).split('\n')) {
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

/** What the user wants to hold from now on, in the user's words. */
export function constraints(nodes: readonly Node[]): readonly Fact[] {
  const facts = nodes
    .filter(({ message }) => startsTurn(message))
    .flatMap(({ message, turn }) =>
      sentences(textOf(message), STANDING)
        .filter((text) => !text.endsWith('?'))
        .map((text): Fact => ({ kind: 'constraint', text, by: 'user', turn })),
    );
  return facts.slice(-MOST_FACTS);
}

/** What the assistant settled and found out, in its own words. */
export function decisions(nodes: readonly Node[]): readonly Decision[] {
  const found = new Map<string, Decision>();
  for (let i = nodes.length - 1; i >= 0 && found.size < MOST_DECISIONS; i--) {
    const { message, turn } = nodes[i] as Node;
    if (message.role !== 'assistant') continue;
    for (const text of sentences(textOf(message), DECISION).toReversed()) {
      if (text.length < 20 || /[:?]$/.test(text) || found.has(text)) continue;
      const { time } = message.meta ?? {};
      found.set(text, time === undefined ? { text, turn } : { text, turn, time });
    }
  }
  return [...found.values()].slice(0, MOST_DECISIONS).toReversed();
}

/** The first sentence of a text that says something, or nothing. */
export function firstSentence(text: string): string {
  for (const raw of text.slice(0, 1_500).split('\n')) {
    const line = raw.replace(/^\s*(?:<\/?\w+>\s*)?(?:[-*#>]+|\d+\.)?\s*/, '').trim();
    if (line.length < 24 || CODE.test(raw)) continue;
    return shortened(/^.{24,}?[.!:](?= |$)/.exec(line)?.[0] ?? line, 160);
  }
  return '';
}

const MARKUP = /<([a-zA-Z][\w-]*)[^>]*>[\s\S]*?<\/\1>|\[[^\]]{0,80}\]/g;
const LONGEST_MARKUP = 8_000;

/** True for a user message that asks something: more than a marker or an environment block of the host. */
export function asks(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > LONGEST_MARKUP) return true;
  const rest = trimmed.replace(MARKUP, '').trim();
  return rest.length > 3 || /<(?:task|query|question|issue|problem|user)/i.test(trimmed);
}
