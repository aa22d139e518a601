import {
  callsOf,
  resultsOf,
  resultText,
  startsTurn,
  textOf,
  type MessageId,
} from '../message/message.ts';
import { contentWords } from '../message/text.ts';
import { sentences } from '../extract/story/passages.ts';
import { saidByUser } from '../extract/story/user-words.ts';
import type { Speaker } from '../plan/summary.ts';
import type { Node } from '../thread/thread.ts';
import { affirmedIn, deniedIn } from './denied-words.ts';
import { digitsIn, wordsBesideNumbers } from './other-number.ts';
import { codeNamesIn, LocatedNames, type Place } from './located-names.ts';
import { nameOf } from '../summary/file-texts.ts';
import { fileNamesIn, foldedPaths, PATH } from './paths.ts';

/** A line of a message that has words of a claim in it. */
export interface Statement extends Place {
  readonly text: string;
  readonly by: Speaker;
  /** True if a person or the agent says it; a call or a result may hold anything. */
  readonly isSaid: boolean;
}

/** A statement and how much of a claim it says: the share of the claim's words, rare words counting more. */
export interface Match {
  readonly statement: Statement;
  readonly share: number;
}

/** What a statement says in another way than a sentence about the same. */
export interface Detail {
  readonly said: string;
  readonly statement: Place;
}

/** How much of a claim each speaker says in one line, at most. */
export type Voices = Readonly<Record<Speaker, number>>;

/** What the messages say about each of some claims. The work is linear in the messages. */
export class Evidence {
  readonly #claims = new Map<string, Claim>();
  readonly #words = new Map<string, Word>();
  readonly #statements: Found[] = [];
  readonly #texts: string[] = [];
  /** Those of them that a person or the agent says. */
  readonly #spoken: string[] = [];
  /** The texts of a message, and of the calls and results that belong to it, by the message's index. */
  readonly #unitAt = new Map<number, readonly string[]>();
  readonly #userTexts: string[] = [];
  #all: string | undefined;
  readonly #originals: string[] = [];
  readonly #account: string;
  /** The names that are marked in an earlier account. */
  readonly marked: ReadonlySet<string>;
  #paths: Map<string, Set<string>> | undefined;
  #fileNames: Set<string> | undefined;
  #numbers: Set<string> | undefined;
  #besideNumbers: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  #affirmed: ReadonlySet<string> | undefined;
  #denied: ReadonlyMap<string, Detail> | undefined;
  #located: LocatedNames | undefined;
  readonly #nodes: readonly Node[];

  constructor(
    claims: readonly string[],
    nodes: readonly Node[],
    also: {
      readonly user: readonly string[];
      readonly assistant: readonly string[];
      /** What earlier messages named, by the record of them. */
      readonly named?: readonly string[];
      /** The account of earlier messages, and the names that are marked in it. */
      readonly account?: string;
      readonly marked?: ReadonlySet<string>;
    },
  ) {
    this.#account = (also.account ?? '').toLowerCase();
    this.marked = also.marked ?? new Set();
    this.#nodes = nodes;
    for (const text of claims) this.#learn(text);
    this.#readNodes(nodes);
    for (const text of also.named ?? []) {
      this.#texts.push(text.toLowerCase());
      this.#originals.push(text);
    }
    for (const text of also.user) this.#read(text, { by: 'user', isSaid: true });
    // What an earlier account names need not have been in a message.
    const named = this.#texts.length;
    for (const text of also.assistant) this.#read(text, { by: 'assistant', isSaid: true });
    this.#texts.length = named;
    this.#originals.length = named;
    this.#match();
  }

  /** The statements that say most of a claim, the best first. */
  matches(claim: string): readonly Match[] {
    return this.#claims.get(claim)?.best ?? [];
  }

  /** The statements of messages that say half of a claim or more, the best first: they are about the same. */
  aboutTheSame(claim: string): readonly Statement[] {
    return this.matches(claim)
      .filter(({ share, statement }) => share >= SAME_SHARE && statement.id !== undefined)
      .map(({ statement }) => statement);
  }

  /** How many words of a claim say what it is about. */
  size(claim: string): number {
    return this.#claims.get(claim)?.words ?? 0;
  }

  voices(claim: string): Voices {
    return this.#claims.get(claim)?.voices ?? SILENT;
  }

  /** True if a person named a text. */
  isNamedByUser(text: string): boolean {
    return this.#userTexts.some((said) => said.includes(text.toLowerCase()));
  }

  /** True if a text occurs in the messages, in any spelling. */
  mentions(text: string): boolean {
    this.#all ??= this.#texts.join('\n');
    return this.#all.includes(text.toLowerCase());
  }

  /** True if an earlier account has a text without a mark. It need not have been in a message. */
  wasAccepted(text: string): boolean {
    return !this.marked.has(text) && this.#account.includes(text.toLowerCase());
  }

  /** True if a number without gaps occurs in the messages, where its digits may be in groups. */
  hasNumber(digits: string): boolean {
    this.#numbers ??= new Set(this.#texts.flatMap(digitsIn));
    return digits.includes('.') ? this.mentions(digits) : this.#numbers.has(digits);
  }

  /** The words that the messages have beside a number of a claim. */
  besideNumber(digits: string): ReadonlySet<string> {
    this.#besideNumbers ??= wordsBesideNumbers(this.#originals, [...this.#claims.keys()]);
    return this.#besideNumbers.get(digits) ?? new Set();
  }

  /** True if a text in lower case is in a statement's message, or in the call or the results that belong to it. */
  isNear(wanted: string | RegExp, { at }: Statement): boolean {
    const unit = at === undefined ? undefined : this.#unitAt.get(at);
    return (
      unit !== undefined &&
      unit.some((text) => (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)))
    );
  }

  /** What people and the agent say in lines with a text in lower case. */
  linesWith(text: string): readonly string[] {
    return this.#spoken.flatMap((one) =>
      one.includes(text) ? one.split('\n').filter((line) => line.includes(text)) : [],
    );
  }

  /** Where the names of code in the claims are. */
  get located(): LocatedNames {
    this.#located ??= new LocatedNames(
      codeNamesIn([...this.#claims.keys()].join('\n')),
      this.#nodes,
    );
    return this.#located;
  }

  /** True if the messages affirm somewhere what a claim affirms. */
  affirms(key: string): boolean {
    this.#affirmed ??= affirmedIn(this.#texts, [...this.#claims.keys()]);
    return this.#affirmed.has(key);
  }

  /** What a person or the agent denies somewhere, if a claim affirms it. */
  denial(key: string): Detail | undefined {
    this.#denied ??= deniedIn(
      this.#statements.map(({ statement }) => statement).filter(({ id }) => id !== undefined),
      [...this.#claims.keys()],
    );
    return this.#denied.get(key);
  }

  /** The names of the files that the messages name. */
  get fileNames(): ReadonlySet<string> {
    this.#fileNames ??= new Set(this.#originals.flatMap(fileNamesIn));
    return this.#fileNames;
  }

  /** The paths with a folder that the messages name, by the name of the file. */
  get paths(): ReadonlyMap<string, ReadonlySet<string>> {
    if (this.#paths === undefined) {
      this.#paths = new Map();
      for (const path of new Set(this.#originals.flatMap(foldedPaths))) {
        const base = nameOf(path);
        const known = this.#paths.get(base);
        if (known === undefined) this.#paths.set(base, new Set([path]));
        else known.add(path);
      }
    }
    return this.#paths;
  }

  #learn(text: string): void {
    if (this.#claims.has(text)) return;
    const words = coreWords(text);
    const claim: Claim = {
      words: words.length,
      weight: 0,
      best: [],
      voices: { ...SILENT },
      hit: 0,
      at: -1,
    };
    this.#claims.set(text, claim);
    for (const word of words) {
      const known = this.#words.get(word);
      if (known === undefined)
        this.#words.set(word, {
          lines: 0,
          weight: 0,
          claims: [claim],
        });
      else known.claims.push(claim);
    }
  }

  #readNodes(nodes: readonly Node[]): void {
    let unit: string[] = [];
    for (const { message, id, index: at } of nodes) {
      if (message.role !== 'tool') unit = [];
      this.#unitAt.set(at, unit);
      const known = this.#texts.length;
      const by =
        message.role === 'system'
          ? 'system'
          : startsTurn(message)
            ? 'user'
            : message.role === 'tool'
              ? 'tool'
              : 'assistant';
      this.#read(textOf(message), { by, id, at, isSaid: by !== 'tool' });
      for (const { tool, args } of callsOf(message)) {
        this.#read(`${tool} ${unescaped(args)}`, { by: 'assistant', id, at, isSaid: false });
      }
      if (by !== 'user')
        for (const text of saidByUser(message))
          this.#read(text, { by: 'user', id, at, isSaid: true });
      for (const result of resultsOf(message)) {
        this.#read(unwrapped(resultText(result)), { by: 'tool', id, at, isSaid: false });
      }
      unit.push(...this.#texts.slice(known));
    }
  }

  #read(text: string, source: Source): void {
    if (text === '') return;
    const { by, id, at, isSaid } = source;
    const lower = text.toLowerCase();
    this.#texts.push(lower);
    this.#originals.push(text);
    if (isSaid) this.#spoken.push(lower);
    if (by === 'user') this.#userTexts.push(lower);
    for (const line of text.split('\n'))
      for (const piece of by === 'tool' ? pieces(line) : saidPieces(line)) {
        const words: Word[] = [];
        for (const word of new Set(contentWords(piece))) {
          const known = this.#words.get(word);
          if (known !== undefined) words.push(known);
        }
        if (words.length < 2) continue;
        for (const word of words) word.lines += 1;
        this.#statements.push({ words, statement: { text: piece, by, id, at, isSaid } });
      }
  }

  /** Words that are in few lines say more about which line a claim is from. */
  #match(): void {
    const total = this.#statements.length + 1;
    for (const word of this.#words.values()) {
      word.weight = Math.log(1 + total / (1 + word.lines));
      for (const claim of word.claims) claim.weight += word.weight;
    }
    for (const [i, { words, statement }] of this.#statements.entries()) {
      const touched: Claim[] = [];
      for (const { claims, weight } of words)
        for (const claim of claims) {
          if (claim.at !== i) {
            claim.at = i;
            claim.hit = 0;
            touched.push(claim);
          }
          claim.hit += weight;
        }
      for (const claim of touched) note(claim, statement, claim.hit / claim.weight);
    }
  }
}

interface Source extends Pick<Statement, 'by' | 'isSaid'> {
  readonly id?: MessageId | undefined;
  readonly at?: number | undefined;
}

/** Words that turn a sentence round: two sentences that differ in these only are about the same. */
const POLAR =
  /^(?:never|always|avoid|prefer|forbid\w*|forbad|allow|permit\w*|prohibit\w*|may|must|can|cannot|should|pend|complet|incomplet|done|finish|unfinish|fix|fail\w*|pass|progress|yet|still|don|doesn|didn|isn|wasn|aren|won|shouldn|couldn|wouldn|haven|hasn|hadn|only|todo|remain)$/;

/** The words of a claim that say what it is about. */
function coreWords(text: string): readonly string[] {
  // What a path is made of is in many lines that are about something else.
  const rest = plainWords(text.replace(PATH, ' '));
  return rest.length >= LEAST_WORDS ? rest : plainWords(text);
}

function plainWords(text: string): readonly string[] {
  return [...new Set(contentWords(text))].filter((word) => !POLAR.test(word));
}

const LEAST_WORDS = 2;

/** The sentences of a line, and the line if it has several: a claim may repeat one or all of them. */
function saidPieces(line: string): readonly string[] {
  const all = sentences(line);
  return all.length > 1 && line.length <= LINE_CHARS ? [line, ...all] : all.flatMap(pieces);
}

function pieces(line: string): readonly string[] {
  if (line.length <= LINE_CHARS) return [line];
  return Array.from({ length: Math.ceil(line.length / LINE_CHARS) }, (_, i) =>
    line.slice(i * LINE_CHARS, (i + 1) * LINE_CHARS),
  );
}

const SILENT: Voices = { system: 0, user: 0, assistant: 0, tool: 0 };
const LINE_CHARS = 600;
const MOST_MATCHES = 12;
const LEAST_SHARE = 0.3;
/** A statement with less of a claim may be about something else. */
const SAME_SHARE = 0.5;

interface Claim {
  readonly words: number;
  readonly voices: Record<Speaker, number>;
  best: Match[];
  /** The weight of all its words. */
  weight: number;
  /** The weight of its words in the statement that is being read. */
  hit: number;
  at: number;
}

interface Word {
  readonly claims: Claim[];
  lines: number;
  weight: number;
}

interface Found {
  readonly words: readonly Word[];
  readonly statement: Statement;
}

function note(claim: Claim, statement: Statement, share: number): void {
  const { by } = statement;
  if (share > claim.voices[by]) claim.voices[by] = share;
  if (share < LEAST_SHARE) return;
  const least = claim.best.at(-1)?.share ?? 0;
  if (claim.best.length === MOST_MATCHES && share <= least) return;
  const at = claim.best.findIndex((match) => match.share < share);
  claim.best.splice(at < 0 ? claim.best.length : at, 0, { statement, share });
  if (claim.best.length > MOST_MATCHES) claim.best.pop();
}

/** Prose that was wrapped, with each sentence on one line again. */
function unwrapped(text: string): string {
  return text.replace(/([a-z,])\n(?=[a-z])/g, '$1 ');
}

/** JSON's escapes as what they are read as. */
function unescaped(text: string): string {
  return text
    .replace(/\\n/g, '\n')
    .replace(/\\[rt]/g, ' ')
    .replace(/\\(["'\\/])/g, '$1');
}
