import { callsOf, resultsOf, resultText, startsTurn, textOf } from '../message/message.ts';
import type { Node } from '../thread/thread.ts';
import { contentWords } from '../extract/anchors/names.ts';
import { givesOrders } from './imperatives.ts';

/** How much of a claim stands in one saying of somebody: the best share of its words, 0 to 1. */
export interface Testimony {
  /** By the user, or in the host's system prompt: those whose word is an instruction. */
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
  /** In a saying of a tool that gives orders. */
  readonly planted: number;
}
type Voice = keyof Testimony;

/** What stands this near is one saying: a line that goes on in the next one counts with it. */
const SAYING_CHARS = 240;

/**
 * Who said what a summary claims. Words are compared line by line, a short line with those before it, so that a
 * large tool result does not seem to say everything; the work is linear in the messages.
 */
export class Attribution {
  readonly #found: ReadonlyMap<string, Tally>;
  #sayings = 0;

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
      const tally: Tally = { words: words.size, saying: 0, hits: 0, best: new Map() };
      tallies.set(claim, tally);
      for (const word of words) push(byWord, word, tally);
    }
    this.#found = tallies;
    if (byWord.size === 0) return;
    const hear = (text: string, voice: Voice): void => {
      for (const { words, said } of sayings(text, byWord)) {
        this.#sayings += 1;
        const voices: readonly Voice[] =
          voice === 'tool' && givesOrders(said) ? ['tool', 'planted'] : [voice];
        count(byWord, words, this.#sayings, voices);
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
  /** How many of the words were met in the saying that is being read. */
  saying: number;
  hits: number;
}

function push(byWord: Map<string, Tally[]>, word: string, tally: Tally): void {
  const known = byWord.get(word);
  if (known === undefined) byWord.set(word, [tally]);
  else known.push(tally);
}

interface Saying {
  readonly said: string;
  /** Those of its words that somebody claims. */
  readonly words: ReadonlySet<string>;
}

/** Each line of a text that holds a word of a claim, together with the lines before it that are near. */
function* sayings(text: string, claimed: ReadonlyMap<string, unknown>): Iterable<Saying> {
  let near: { readonly line: string; readonly words: readonly string[] }[] = [];
  let chars = 0;
  for (const line of text.split('\n')) {
    const words = contentWords(line).filter((word) => claimed.has(word));
    chars += line.length;
    near.push({ line, words });
    while (near.length > 1 && chars > SAYING_CHARS) chars -= near.shift()?.line.length ?? 0;
    if (line.trim() === '') [near, chars] = [[], 0];
    if (words.length > 0)
      yield {
        said: near.map((one) => one.line).join(' '),
        words: new Set(near.flatMap((one) => one.words)),
      };
  }
}

function count(
  byWord: ReadonlyMap<string, Tally[]>,
  words: ReadonlySet<string>,
  saying: number,
  voices: readonly Voice[],
): void {
  for (const word of words) {
    for (const tally of byWord.get(word) ?? []) {
      tally.hits = tally.saying === saying ? tally.hits + 1 : 1;
      tally.saying = saying;
      for (const voice of voices)
        if (tally.hits > (tally.best.get(voice) ?? 0)) tally.best.set(voice, tally.hits);
    }
  }
}
