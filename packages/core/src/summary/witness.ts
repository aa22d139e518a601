import { callsOf, resultsOf, resultText, startsTurn, textOf } from '../thread/message.ts';
import type { Node } from '../thread/thread.ts';
import { contentWords } from './names.ts';

/** How much of a claim stands in one line of what somebody said: the best share of its words, 0 to 1. */
export interface Testimony {
  /** By the user, or in the host's system prompt: those whose word is an instruction. */
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
  /** In a line of a tool's text that gives orders. */
  readonly planted: number;
}
type Voice = keyof Testimony;

/** A line of tool text that speaks to the model rather than about the world. */
const ORDERS =
  /\b(?:ignore|disregard|forget|override|you (?:must|should|are|have to|will|need)|always|never|do not|don't|must|instructions?|system prompt|the (?:assistant|agent|model|user|summary)|summar(?:y|i[sz]e))\b/i;

/**
 * Who said what a summary claims. Words are compared line by line, so that a large tool result does not seem to say
 * everything; the work is linear in the messages.
 */
export class Witness {
  readonly #found: ReadonlyMap<string, Tally>;

  constructor(
    claims: readonly string[],
    nodes: readonly Node[],
    also: { readonly user: readonly string[]; readonly assistant: readonly string[] },
  ) {
    const tallies = new Map<string, Tally>();
    const byWord = new Map<string, Tally[]>();
    for (const claim of claims) {
      if (tallies.has(claim)) continue;
      const words = new Set(contentWords(claim));
      const tally: Tally = { words: words.size, line: 0, hits: 0, best: new Map() };
      tallies.set(claim, tally);
      for (const word of words) push(byWord, word, tally);
    }
    this.#found = tallies;
    if (byWord.size === 0) return;
    let line = 0;
    const hear = (text: string, voice: Voice): void => {
      for (const said of text.split('\n')) {
        line += 1;
        count(
          byWord,
          said,
          line,
          voice === 'tool' && ORDERS.test(said) ? ['tool', 'planted'] : [voice],
        );
      }
    };
    for (const text of also.user) hear(text, 'user');
    for (const text of also.assistant) hear(text, 'assistant');
    for (const { message } of nodes) {
      const fromUser = message.role === 'system' || startsTurn(message);
      hear(textOf(message), fromUser ? 'user' : 'assistant');
      for (const call of callsOf(message)) hear(call.args, 'assistant');
      for (const result of resultsOf(message)) hear(resultText(result), 'tool');
    }
  }

  hears(claim: string): Testimony {
    const tally = this.#found.get(claim);
    const share = (voice: Voice): number =>
      tally === undefined || tally.words === 0 ? 0 : (tally.best.get(voice) ?? 0) / tally.words;
    return {
      user: share('user'),
      assistant: share('assistant'),
      tool: share('tool'),
      planted: share('planted'),
    };
  }
}

interface Tally {
  readonly words: number;
  readonly best: Map<Voice, number>;
  /** How many of the words were met in the line that is being read. */
  line: number;
  hits: number;
}

function push(byWord: Map<string, Tally[]>, word: string, tally: Tally): void {
  const known = byWord.get(word);
  if (known === undefined) byWord.set(word, [tally]);
  else known.push(tally);
}

function count(
  byWord: ReadonlyMap<string, Tally[]>,
  said: string,
  line: number,
  voices: readonly Voice[],
): void {
  for (const word of new Set(contentWords(said))) {
    for (const tally of byWord.get(word) ?? []) {
      tally.hits = tally.line === line ? tally.hits + 1 : 1;
      tally.line = line;
      for (const voice of voices)
        if (tally.hits > (tally.best.get(voice) ?? 0)) tally.best.set(voice, tally.hits);
    }
  }
}
