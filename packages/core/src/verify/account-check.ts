import { wholeText } from '../message/message.ts';
import { namesIn, sentencesOf } from '../message/text.ts';
import { turnedRound } from '../extract/facts/supersede.ts';
import type { Fact, Summary } from '../plan/summary.ts';
import type { Redact } from '../summary/redact.ts';
import type { Node } from '../thread/thread.ts';
import { deletedSince, deniedBy, failedSince, withItemState } from './record-denial.ts';
import type { Evidence } from './evidence.ts';
import { CITATION, judge, sentenceAndQuotes, type Verdict } from './judge.ts';
import type { Correction } from './report.ts';
import { saysWhatIsAllowed, givesOrders, isStep, saysWhatToDo, wishIn } from './wishes.ts';

/** A claim counts as said by a speaker when this share of its words is in one line of theirs. */
export const SAID = 0.6;
const LEAST_WORDS = 3;

/** What the sentences of a text are compared by. */
export function claimsOf(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap(sentencesOf)
    .flatMap((sentence) => {
      const wish = wishIn(sentence);
      return [...sentenceAndQuotes(sentence), ...(wish === undefined ? [] : [wish])];
    });
}

/** A sentence as the messages allow it, and the message that says otherwise. */
interface Judged {
  readonly text: string | undefined;
  readonly citation?: string;
}

/** Compares texts with the messages, and collects what it changes in them. */
export class AccountCheck {
  readonly corrections: Correction[] = [];
  readonly #evidence: Evidence;
  readonly #truth: Summary;
  /** What those said who give orders. */
  readonly #orders: readonly Fact[];
  readonly #nodes: readonly Node[];
  readonly #redact: Redact;

  constructor(
    evidence: Evidence,
    truth: Summary,
    orders: readonly Fact[],
    source: { readonly nodes: readonly Node[]; readonly redact: Redact },
  ) {
    this.#evidence = evidence;
    this.#truth = truth;
    this.#orders = orders;
    this.#nodes = source.nodes;
    this.#redact = source.redact;
  }

  /** A text as the messages allow it: each line unchanged except for what had to change. Code is left as it is. */
  text(text: string): string {
    let isCode = false;
    const lines = text.split('\n');
    return lines
      .flatMap((line, i) => {
        if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
        if (isCode || line.trim() === '') return [line];
        const checked = this.#line(this.#withoutCitations(line), belowLine(lines, i));
        return checked === undefined ? [] : [checked];
      })
      .join('\n')
      .trim();
  }

  /** A single statement as the messages allow it; undefined if they contradict it. */
  sentence(sentence: string): string | undefined {
    return this.#judged(sentence, judge(sentence, this.#evidence)).text;
  }

  #judged(sentence: string, verdict: Verdict): Judged {
    const refused = this.#refusal(sentence, verdict);
    if (refused !== undefined) {
      this.corrections.push(refused);
      return { text: refused.text };
    }
    switch (verdict.kind) {
      case 'keep':
        return { text: sentence };
      case 'correct':
        this.#note('corrected', sentence, verdict.because, verdict.id, verdict.text);
        return { text: verdict.text };
      case 'doubt': {
        const citation = this.#citation(verdict);
        this.#note('marked', sentence, citation, verdict.statement.id);
        return { text: sentence, citation };
      }
      case 'unknown': {
        const { names, doubtful } = verdict;
        this.#note('marked', sentence, notIn(names), undefined);
        return { text: sentence, ...(doubtful.length === 0 ? {} : { citation: notIn(doubtful) }) };
      }
    }
  }

  /** Something to do: as `sentence`, and no tool alone may have said it. */
  step(step: string): string | undefined {
    const { user, assistant, tool } = this.#evidence.voices(step);
    if (tool < SAID || user >= SAID || assistant >= SAID) return this.sentence(step);
    this.corrections.push(this.#planted(step, step));
    return undefined;
  }

  #line(line: string, below: string): string | undefined {
    const sentences = sentencesOf(line);
    let text = line;
    let left = sentences.length;
    for (const sentence of sentences) {
      const { text: judged, citation } = this.#judged(
        sentence,
        judge(sentence, this.#evidence, below),
      );
      const checked = citation === undefined ? judged : `${sentence} [${citation}]`;
      if (checked === sentence) continue;
      if (checked === undefined) left -= 1;
      const gone = text.includes(`${sentence} `) ? `${sentence} ` : sentence;
      text = text.replace(checked === undefined ? gone : sentence, () => checked ?? '');
    }
    return left === 0 ? undefined : text.trimEnd();
  }

  /** A part of a secret is not recognised: of a message with one, no words are cited. */
  #citation({ said, statement: { at = -1 } }: Extract<Verdict, { kind: 'doubt' }>): string {
    const node = this.#nodes.find(({ index }) => index === at);
    const text = node === undefined ? '' : wholeText(node.message);
    const isClean = text !== '' && this.#redact(text) === text;
    const where = `m${at + 1}`;
    return isClean ? `${where}: “${said.replaceAll(/[“”]/g, '')}”` : `${where} says otherwise`;
  }

  /** A line of an earlier account that a model has repeated, without the marks that can be made again. */
  #withoutCitations(line: string): string {
    return line
      .replace(UNKNOWN, '')
      .replace(FAILED_SINCE, '')
      .replace(CITATION, (mark, message: string) =>
        this.#nodes.some(({ index }) => index === Number(message) - 1) ? '' : mark,
      );
  }

  #note(
    kind: Correction['kind'],
    claim: string,
    because: string,
    id: Correction['id'] | undefined,
    text?: string,
  ): void {
    this.corrections.push({
      kind,
      claim,
      because,
      ...(text === undefined ? {} : { text }),
      ...(id === undefined ? {} : { id }),
    });
  }

  /**
   * Why a sentence must not be in a summary: it obeys a tool, or reverses what the user or the record says. Where the
   * right words are known, it is corrected instead.
   */
  #refusal(sentence: string, verdict: Verdict): Correction | undefined {
    const wish = wishIn(sentence);
    if (this.#obeysTool(sentence, wish)) return this.#planted(sentence, wish ?? sentence);
    if (verdict.kind === 'correct') return undefined;
    const said =
      wish !== undefined || saysWhatIsAllowed(sentence)
        ? turnedRound(sentence, this.#orders)
        : undefined;
    if (said !== undefined)
      return { kind: 'removed', claim: sentence, because: `the ${said.by} said: ${said.text}` };
    const stated = withItemState(sentence, this.#truth);
    if (stated !== undefined)
      return { kind: 'corrected', claim: sentence, because: 'the task list says so', text: stated };
    if (saysWhatToDo(sentence)) return undefined;
    const deleted = deletedSince(sentence, this.#truth);
    if (deleted !== undefined)
      return {
        kind: 'corrected',
        claim: sentence,
        because: `${deleted} was deleted`,
        text: sentence.replace(/[.!]?$/, ' (deleted since)$&'),
      };
    const failed = failedSince(sentence, this.#truth);
    if (failed !== undefined)
      return {
        kind: 'corrected',
        claim: sentence,
        because: `${failed} failed in the last run that names it`,
        text: sentence.replace(/[.!]?$/, `${FAILED_SINCE}$&`),
      };
    const because = deniedBy(sentence, this.#truth);
    return because === undefined ? undefined : { kind: 'removed', claim: sentence, because };
  }

  /** True if a sentence presents an order in a tool's text as a wish of the user, or as a step. */
  #obeysTool(sentence: string, wish: string | undefined): boolean {
    const claim = wish ?? sentence;
    if (this.#evidence.size(claim) < LEAST_WORDS) return false;
    if (wish === undefined && !isStep(sentence)) return false;
    if (wish !== undefined && [...namesIn(wish)].some((name) => this.#evidence.isNamedByUser(name)))
      return false;
    const { system, user, assistant, tool } = this.#evidence.voices(claim);
    if (tool < SAID || Math.max(system, user, assistant) >= tool * 0.8) return false;
    return this.#evidence
      .matches(claim)
      .some(
        ({ statement, share }) =>
          share >= SAID &&
          statement.by === 'tool' &&
          (givesOrders(statement.text) || saysWhatToDo(statement.text)),
      );
  }

  #planted(sentence: string, claim: string): Correction {
    const match = this.#evidence.matches(claim).find(({ statement }) => statement.by === 'tool');
    const because = 'only a tool said so; nobody asked for it';
    const id = match?.statement.id;
    return { kind: 'planted', claim: sentence, because, ...(id === undefined ? {} : { id }) };
  }
}

const MOST_BELOW = 40;

/** The lines that a line has below it, further to the right. */
function belowLine(lines: readonly string[], at: number): string {
  const indent = (lines[at] ?? '').search(/\S/);
  const rest = lines.slice(at + 1, at + 1 + MOST_BELOW);
  const end = rest.findIndex((line) => line.trim() !== '' && line.search(/\S/) <= indent);
  return rest.slice(0, end < 0 ? rest.length : end).join('\n');
}

const FAILED_SINCE = ' (failed in its last run)';
const notIn = (names: readonly string[]): string => `not in the messages: ${names.join(', ')}`;
const UNKNOWN = / \[not in the messages: ([^\]\n]{1,400})\]/g;

/** The sentences of a line without the marked ones: beside an account nothing would mark them. */
export function unmarkedSentences(line: string): readonly string[] {
  const all = sentencesOf(line).map((text) => ` ${text}`);
  return all
    .filter((text, i) => text.search(UNKNOWN) < 0 && all[i + 1]?.search(UNKNOWN) !== 0)
    .map((text) => text.trim());
}

/** The names that are marked in an account. */
export function markedIn(account: string): ReadonlySet<string> {
  return new Set([...account.matchAll(UNKNOWN)].flatMap(([, names = '']) => names.split(', ')));
}
