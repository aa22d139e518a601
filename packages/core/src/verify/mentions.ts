import type { Node } from '../thread/thread.ts';
import { callsOf, resultsOf, resultText, textOf } from '../message/message.ts';
import { namesIn } from '../extract/anchors/names.ts';

/** All that was said, to look up whether somebody spoke of what a sentence names or says was done. */
export class Mentions {
  readonly #text: string;
  readonly #lower: string;
  readonly #names: ReadonlySet<string>;
  #folded: string | undefined;

  constructor(nodes: readonly Node[], also: readonly string[]) {
    this.#text = [...nodes.map(wholeText), ...also].join('\n');
    this.#lower = this.#text.toLowerCase();
    this.#names = namesIn(this.#text);
  }

  holds(text: string): boolean {
    return this.#text.includes(text);
  }

  /** What of a sentence nobody spoke of: an exact string, a numbered thing, or a deed. */
  lacks(sentence: string): string | undefined {
    const name = this.unknownName(sentence);
    if (name !== undefined) return `${name} is nowhere in the messages`;
    const deed = DEEDS.find(({ done, told }) => claims(sentence, done) && !told.test(this.#text));
    return deed === undefined ? undefined : `nobody spoke of anything ${deed.name}`;
  }

  unknownName(sentence: string): string | undefined {
    for (const name of namesIn(sentence))
      if (isTelling(name) && !this.#names.has(name) && !this.#tells(name)) return name;
    for (const [thing, noun = '', number = ''] of sentence.matchAll(NUMBERED))
      if (!this.#numbers(noun, number)) return thing;
    return undefined;
  }

  /** True where a name stands in the text, however it is spelled: `PR-79` is `PR #79`. */
  #tells(name: string): boolean {
    if (this.#lower.includes(name.toLowerCase())) return true;
    if (!CODE.test(name)) return false;
    this.#folded ??= folded(this.#lower);
    return this.#folded.includes(folded(name.toLowerCase()));
  }

  #numbers(noun: string, number: string): boolean {
    const stem = noun.replace(/e?s$/i, '');
    return new RegExp(
      String.raw`[#:]${number}\b|\b${stem}\w*\W{0,4}(?:[\w.]+\W{1,3}){0,4}?v?${number}\b`,
      'i',
    ).test(this.#text);
  }
}

function wholeText({ message }: Node): string {
  return [
    textOf(message),
    ...callsOf(message).map(({ tool, args }) => `${tool} ${args}`),
    ...resultsOf(message).map(resultText),
  ].join('\n');
}

/** A word with a number: `blue-7`. */
const CODE = /^[A-Za-z]\w*-\d+$/;
/** Such words that everybody knows, or that number what a text itself has in order. */
const COMMON =
  /^(?:utf|sha|iso|rfc|aes|md|http|ipv|es|web|gpt|top|day|step|phase|part|round|option|level|tier|type)-\d+$/i;

/** A name that says something about this one history: a path, a file, an id. `TypeScript` and `CI/CD` do not. */
export function isTelling(name: string): boolean {
  if (/^\d[\d.,:]*$/.test(name) || /^[A-Z]\w+\.js$/.test(name)) return false;
  if (CODE.test(name)) return !COMMON.test(name);
  return /\/.*[/._]|^[/~]|_|\.[a-z]{1,5}$|[a-f0-9]{7}|[A-Za-z]\d{3}/.test(name);
}

const folded = (text: string): string => text.replace(/[^a-z0-9]+/g, '');

/** One of many of its kind, known by its number. */
const NUMBERED =
  /\b(nodes?|clusters?|servers?|hosts?|pods?|shards?|instances?|replicas?|databases?|partitions?|volumes?|disks?|machines?|workers?|containers?|regions?|zones?|issues?|tickets?|PRs?|pull requests?|builds?|jobs?|invoices?|ports?) #?(\d+)\b/gi;

/** What cannot be taken back, or is seen by others: nobody does it without a word of it. */
const DEEDS: readonly {
  readonly name: string;
  readonly done: RegExp;
  readonly told: RegExp;
}[] = [
  {
    name: 'deployed',
    done: /\b(?:re)?deploy(?:ed|ments?)\b|\brolled out\b/i,
    told: /deploy|roll\w* ?out|\bship|releas|kubectl|\bhelm\b|terraform|publish/i,
  },
  {
    name: 'deleted',
    done: /\b(?:deleted|wiped?|erased?|purged?|destroyed)\b/i,
    told: /delet|remov|\brm\b|unlink|\bdrop|wipe|eras|purg|clean|clear|truncat|destroy/i,
  },
  {
    name: 'pushed or merged',
    done: /\b(?:pushed|merged)\b/i,
    told: /push|merg|rebas|cherry-pick/i,
  },
  {
    name: 'published',
    done: /\b(?:published|released)\b/i,
    told: /publish|releas|\bship|deploy|\btag/i,
  },
  { name: 'migrated', done: /\bmigrated\b/i, told: /migrat/i },
  { name: 'paid', done: /\b(?:paid|refunded|charged)\b/i, told: /\bpa(?:y|id)|refund|charg|bill/i },
  {
    name: 'reverted',
    done: /\b(?:reverted|rolled back)\b/i,
    told: /revert|roll\w* ?back|reset|restor|undo|checkout/i,
  },
];

/** What is said not to have been done is no deed. */
function claims(sentence: string, deed: RegExp): boolean {
  const found = deed.exec(sentence);
  return (
    found !== null &&
    !/\b(?:not|no|never|nothing|without)\b|n't\b/i.test(sentence.slice(0, found.index))
  );
}
