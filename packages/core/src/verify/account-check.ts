import { namesIn, sentencesOf } from '../message/words.ts';
import { turnedRound } from '../extract/facts/supersede.ts';
import type { Fact, Summary } from '../plan/summary.ts';
import type { Redact } from '../summary/redact.ts';
import { deletedSince, deniedBy, withItemState } from './record-denial.ts';
import type { Evidence } from './evidence.ts';
import { judge, sentenceAndQuotes, type Verdict } from './judge.ts';
import type { Correction } from './report.ts';
import { allows, givesOrders, isStep, saysWhatToDo, wishIn } from './wishes.ts';

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

/** Compares texts with the messages, and collects what it changes in them. */
export class AccountCheck {
  readonly corrections: Correction[] = [];
  readonly #evidence: Evidence;
  readonly #truth: Summary;
  /** What those said who give orders. */
  readonly #orders: readonly Fact[];
  readonly #redact: Redact;

  constructor(evidence: Evidence, truth: Summary, orders: readonly Fact[], redact: Redact) {
    this.#evidence = evidence;
    this.#truth = truth;
    this.#orders = orders;
    this.#redact = redact;
  }

  /** A text as the messages allow it: each line unchanged except for what had to change. Code is left as it is. */
  text(text: string): string {
    let isCode = false;
    return text
      .replace(MARKS, '')
      .split('\n')
      .flatMap((line) => {
        if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
        if (isCode || line.trim() === '') return [line];
        const checked = this.#line(line);
        return checked === undefined ? [] : [checked];
      })
      .join('\n')
      .trim();
  }

  /** A single statement as the messages allow it; undefined if they contradict it. */
  sentence(sentence: string): string | undefined {
    const verdict = judge(sentence, this.#evidence);
    const refused = this.#refusal(sentence, verdict);
    if (refused !== undefined) {
      this.corrections.push(refused);
      return refused.text;
    }
    switch (verdict.kind) {
      case 'keep':
        return sentence;
      case 'correct':
        this.#note('corrected', sentence, verdict.because, verdict.id, verdict.text);
        return verdict.text;
      case 'doubt':
        return this.#cited(sentence, verdict);
      case 'unknown':
        return this.#withoutSource(sentence, verdict);
    }
  }

  /** Something to do: as `sentence`, and no tool alone may have said it. */
  step(step: string): string | undefined {
    const { user, assistant, tool } = this.#evidence.voices(step);
    if (tool < SAID || user >= SAID || assistant >= SAID) return this.sentence(step);
    this.corrections.push(this.#planted(step, step));
    return undefined;
  }

  #line(line: string): string | undefined {
    const sentences = sentencesOf(line);
    let text = line;
    let left = sentences.length;
    for (const sentence of sentences) {
      const checked = this.sentence(sentence);
      if (checked === sentence) continue;
      if (checked === undefined) left -= 1;
      const gone = text.includes(`${sentence} `) ? `${sentence} ` : sentence;
      text = text.replace(checked === undefined ? gone : sentence, () => checked ?? '');
    }
    return left === 0 ? undefined : text.trimEnd();
  }

  /** A part of a secret is not recognised: of a message with one, no words are cited. */
  #cited(sentence: string, { said, statement }: Extract<Verdict, { kind: 'doubt' }>): string {
    const { text, at, id } = statement;
    const where = at === undefined ? 'an earlier message' : `m${at + 1}`;
    const words = this.#redact(text) === text ? `: “${said}”` : ' says otherwise';
    return this.#marked(sentence, `${where}${words}`, id);
  }

  /** A name may be known from elsewhere: it is only reported. A long number has to come from a message: it is marked. */
  #withoutSource(
    sentence: string,
    { names, numbers }: Extract<Verdict, { kind: 'unknown' }>,
  ): string {
    if (numbers.length > 0)
      return this.#marked(sentence, `${UNKNOWN}: ${numbers.join(', ')}`, undefined);
    this.#note('marked', sentence, `${names.join(', ')}: ${UNKNOWN}`, undefined);
    return sentence;
  }

  #marked(sentence: string, mark: string, id: Correction['id']): string {
    const text = `${sentence} [${mark}]`;
    this.#note('marked', sentence, mark, id, text);
    return text;
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
      wish !== undefined || allows(sentence) ? turnedRound(sentence, this.#orders) : undefined;
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

const UNKNOWN = 'not in the messages';
/** The marks in an earlier account that a model has repeated. */
const MARKS =
  / \[(?:not in the messages: [^\]\n]{1,400}|m\d{1,9}(?:: “[^”\n]{1,400}”| says otherwise))\]/g;
