import { sorted } from '../check/list.ts';
import { callsOf, resultsOf, resultText, textOf, type Message } from '../message/message.ts';
import { contentWords, sentencesOf } from '../message/text.ts';
import { keyOfPath } from '../extract/anchors/anchor.ts';
import { redactSecrets } from '../summary/redact.ts';
import type { AuditItem } from './inventory.ts';

/**
 * How a text holds an item: `exact` if the same string is in it, `alike` if most of its words are in one sentence (for a
 * file its name, for a command its program), otherwise `absent`. What is said in other words altogether is absent.
 */
export type Presence = 'exact' | 'alike' | 'absent';

/** The least share of an item's words in one sentence that makes it alike. */
const ALIKE_SHARE = 0.6;
const LEAST_WORDS = 2;
const LONGEST_SENTENCE = 400;

/** Words that say how binding a sentence is, not what it is about. */
const MOOD = new Set('never always must only don doesn need want make sure also just'.split(' '));

/**
 * What a reader has before them, read once so that any number of items can be looked for in it. Secrets are taken out,
 * as they are of items.
 */
export class Wording {
  readonly #text: string;
  readonly #said: string;
  /** The sentences that hold a word. */
  readonly #sentences = new Map<string, number[]>();

  /** `said` is what is searched for sentences; it is a part of all the text. */
  private constructor(whole: string, saidWhole: string) {
    const text = redactSecrets(whole);
    const said = saidWhole === whole ? text : redactSecrets(saidWhole);
    this.#text = normalized(text);
    this.#said = normalized(said);
    let count = 0;
    for (const sentence of sentencesOf(said))
      for (let from = 0; from < sentence.length; from += LONGEST_SENTENCE) {
        const words = new Set(contentWords(sentence.slice(from, from + LONGEST_SENTENCE)));
        for (const word of words) {
          const known = this.#sentences.get(word);
          if (known === undefined) this.#sentences.set(word, [count]);
          else known.push(count);
        }
        count++;
      }
  }

  /** All that a model reads in some messages. */
  static of(messages: readonly Message[]): Wording {
    const text = messages
      .flatMap((message) => [...spoken(message), ...results(message)])
      .join('\n');
    return new Wording(text, text);
  }

  /** What an agent says and calls itself; sentences are looked for only in what it says. */
  static byAgent(messages: readonly Message[]): Wording {
    const own = messages.filter(({ role }) => role === 'assistant');
    return new Wording(own.flatMap(spoken).join('\n'), own.map(textOf).join('\n'));
  }

  holds(item: AuditItem): Presence {
    switch (item.class) {
      case 'path':
        if (contains(this.#text, normalized(keyOfPath(item.text)))) return 'exact';
        return this.#namesFile(baseOf(item.text)) ? 'alike' : 'absent';
      case 'number':
        return contains(this.#text, normalized(item.text)) ? 'exact' : 'absent';
      case 'command':
        if (this.#text.includes(bare(item.text))) return 'exact';
        return contains(this.#text, normalized(item.kind ?? '')) ? 'alike' : 'absent';
      case 'rule':
      case 'decision':
      case 'open item':
        if (this.#said.includes(bare(item.text))) return 'exact';
        return this.#share(item.text) >= ALIKE_SHARE ? 'alike' : 'absent';
    }
  }

  /** A folder's name alone could be any folder's. */
  #namesFile(name: string): boolean {
    return name.includes('.') && contains(this.#text, normalized(name));
  }

  /** The largest share of a text's words that one sentence holds. */
  #share(text: string): number {
    const words = [...new Set(contentWords(text))].filter((word) => !MOOD.has(word));
    if (words.length < LEAST_WORDS) return 0;
    const hits = new Map<number, number>();
    for (const word of words)
      for (const sentence of this.#sentences.get(word) ?? [])
        hits.set(sentence, (hits.get(sentence) ?? 0) + 1);
    const [most = 0] = sorted([...hits.values()], (a, b) => b - a);
    return most < LEAST_WORDS ? 0 : most / words.length;
  }
}

function spoken(message: Message): readonly string[] {
  return [textOf(message), ...callsOf(message).map((call) => unescaped(call.args))];
}

function results(message: Message): readonly string[] {
  return resultsOf(message).map(resultText);
}

/** The escapes of JSON, as what they are read as. */
function unescaped(args: string): string {
  return args
    .replace(/\\n/g, '\n')
    .replace(/\\t/g, ' ')
    .replace(/\\(["\\/])/g, '$1');
}

/** A text without the marks of Markdown, in one case and with single spaces. */
function normalized(text: string): string {
  return text
    .toLowerCase()
    .replace(/[`*"“”„]/g, '')
    .replaceAll('’', "'")
    .replace(/\s+/g, ' ');
}

/** A sentence without its end, which another text may have written in another way. */
function bare(text: string): string {
  return normalized(text).replace(/[\s.!?:;,…]+$/, '');
}

function baseOf(path: string): string {
  return path.slice(path.replace(/\/+$/, '').lastIndexOf('/') + 1);
}

const INNER = /[\p{L}\p{N}_]/u;

/** True if a text holds a string that is not a part of a longer name. */
function contains(text: string, part: string): boolean {
  if (part === '') return false;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const isStart = at === 0 || !INNER.test(text.charAt(at - 1)) || !INNER.test(part.charAt(0));
    const end = at + part.length;
    if (isStart && !INNER.test(text.charAt(end))) return true;
  }
  return false;
}
