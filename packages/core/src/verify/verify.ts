import type { Node } from '../thread/thread.ts';
import { oneLine } from '../message/text.ts';
import type { Counter } from '../tokens/counter.ts';
import { lackingNotes } from './record.ts';
import { cleanAccount, accountWithin } from '../summary/account.ts';
import { ACCOUNT_SHARE } from '../summary/account-render.ts';
import type { Kept } from '../extract/extract.ts';
import { deniedBy, deniedFiles, reversedOutcomes, type Contradiction } from './contradiction.ts';
import { Mentions, isTelling } from './mentions.ts';
import { KnownTexts } from './known.ts';
import { contentWords, namesIn, sentencesOf } from '../extract/anchors/names.ts';
import { allows, saysWhatToDo, wishIn } from './imperatives.ts';
import type { Redact } from '../summary/redact.ts';
import { renderSummary } from '../summary/render.ts';
import type { Addition } from './report.ts';
import { constraints } from '../extract/facts/statements.ts';
import { plain, standingFacts, turnedRound, type Superseded } from '../extract/facts/supersede.ts';
import {
  EMPTY_SUMMARY,
  type Fact,
  type FileRecord,
  type Item,
  type Note,
  type Summary,
} from '../plan/summary.ts';
import { Attribution } from './attribution.ts';

/** What a summary is checked against. */
export interface Grounds {
  readonly nodes: readonly Node[];
  /** Messages that stay in the prompt, pins among them: what they say was said. */
  readonly kept?: readonly Node[];
  readonly shown?: readonly Kept[];
  readonly names?: readonly string[];
  /** What the user asks of this summary (B1): their words too. */
  readonly instructions?: string;
  /** What the other texts have gone through: what is quoted from kept messages goes through it too. */
  readonly redact?: Redact;
  readonly previous: Summary | null;
  /** The extract of the same nodes and the same previous summary: what certainly happened. */
  readonly truth: Summary;
  readonly maxTokens: number;
  readonly counter: Counter;
}

export interface Verified {
  readonly summary: Summary;
  readonly added: readonly Addition[];
  readonly contradictions: readonly Contradiction[];
  readonly superseded: readonly Superseded[];
}

/** A claim counts as said by somebody when this share of its words stands in one line of theirs. */
const HEARD = 0.6;
const MOST_DECISIONS = 60;
const MOST_ITEMS = 80;
const MOST_FACTS_FROM_MODEL = 20;
const LONGEST_LINE = 300;

/**
 * Checks a summary against the messages it stands for. The record (task, facts, files, outcomes, notes, artifacts)
 * comes from the extract and from the summary before, as data; a model adds its account, decisions, items and plan, as
 * far as nothing denies them. Whatever a model leaves out is there nevertheless.
 */
export function verify(summary: Summary, grounds: Grounds): Verified {
  const check = new Check(summary, grounds);
  const verified = check.run();
  return {
    summary: withRecord(verified, grounds),
    added: additions(summary, grounds.truth),
    contradictions: check.contradictions,
    superseded: check.superseded,
  };
}

function withRecord(summary: Summary, grounds: Grounds): Summary {
  const { prose } = summary;
  if (prose === null) return summary;
  const { nodes, shown: kept = [], truth, names = [], maxTokens, counter, redact = (text: string) => text } = grounds;
  const chars = maxTokens * (prose.length / Math.max(1, counter.text(prose)));
  const shown = accountWithin(prose, chars * ACCOUNT_SHARE);
  const notes = lackingNotes({ account: shown, nodes, kept, notes: truth.notes, names, chars, redact });
  return { ...summary, notes };
}

class Check {
  readonly contradictions: Contradiction[] = [];
  superseded: readonly Superseded[] = [];
  readonly #summary: Summary;
  readonly #grounds: Grounds;
  readonly #witness: Attribution;
  readonly #corpus: Mentions;
  /** What those said who give orders. */
  readonly #orders: readonly Fact[];
  readonly #quoted: Note[] = [];

  constructor(summary: Summary, grounds: Grounds) {
    const { nodes, kept = [], instructions = '', previous, truth } = grounds;
    const { redact = (text: string) => text } = grounds;
    this.#summary = summary;
    this.#grounds = grounds;
    const stands = constraints(kept).map((fact) => ({ ...fact, text: redact(fact.text) }));
    const spoken = [...(previous?.facts ?? []), ...truth.facts, ...stands].filter(isInstructing);
    const heard = [...nodes, ...kept];
    const before = previous === null ? '' : renderSummary({ ...previous, facts: [], notes: [] });
    const bare = { facts: [], notes: [], outcomes: [], files: [] };
    this.#witness = new Attribution(claimsOf(summary), heard, {
      user: [
        truth.task ?? '',
        instructions,
        ...spoken.map(({ text }) => text),
        ...wishesBefore(previous),
      ],
      assistant: previous === null ? [] : [renderSummary({ ...previous, ...bare })],
    });
    this.#orders = spoken;
    this.#corpus = new Mentions(heard, [
      before,
      truth.task ?? '',
      instructions,
      renderSummary(truth),
    ]);
  }

  run(): Summary {
    const { truth, previous } = this.#grounds;
    const { splitTurn } = this.#summary;
    this.contradictions.push(...reversedOutcomes(this.#summary.outcomes, truth));
    const account = process.env['RAW'] ? cleanAccount(this.#summary.prose ?? '') : this.#passages(cleanAccount(this.#summary.prose ?? ''));
    const split = splitTurn === null ? '' : this.#passages(splitTurn.text);
    const summary: Summary = {
      ...truth,
      facts: this.#facts(),
      decisions: this.#decisions(),
      items: this.#items(),
      files: this.#files(),
      artifacts: unique([...(previous?.artifacts ?? []), ...truth.artifacts], (a) => a.artifactId),
      currentTask: this.#step(this.#summary.currentTask) ?? truth.currentTask,
      currentPlan: this.#steps(this.#summary.currentPlan) ?? truth.currentPlan,
      prose: account === '' ? truth.prose : account,
      splitTurn: this.#splitTurn(split, account),
    };
    const notes = [...truth.notes, ...this.#quoted];
    return {
      ...summary,
      notes: [...notes, ...lostLines(previous?.prose ?? null, { ...summary, notes })],
    };
  }

  /** The model's text of a split turn; the extract's where the model gave none and no account covers the turn. */
  #splitTurn(text: string, account: string): Summary['splitTurn'] {
    const { splitTurn } = this.#grounds.truth;
    if (splitTurn === null) return null;
    if (text !== '') return { ...splitTurn, text };
    return this.#summary.splitTurn === null && account !== '' ? null : splitTurn;
  }

  #deny(kind: Contradiction['kind'], claim: string, because: string): void {
    this.contradictions.push({ kind, claim, because });
  }

  /** The passages of a text that nothing denies, line by line as they were. */
  #passages(text: string): string {
    return text
      .split('\n')
      .map((line) => {
        const sentences = sentencesOf(line);
        const kept = sentences.filter((sentence) => this.#mayStand(sentence));
        return kept.length === sentences.length ? line : kept.join(' ');
      })
      .join('\n')
      .trim();
  }

  #step(text: string | null): string | undefined {
    return text !== null && text.trim() !== '' && this.#mayBeDone(text)
      ? oneLine(text, LONGEST_LINE)
      : undefined;
  }

  #steps(texts: readonly string[]): readonly string[] | undefined {
    const kept = texts.flatMap((text) => this.#step(text) ?? []);
    return kept.length === 0 ? undefined : kept;
  }

  /** True for something to do that somebody other than a tool spoke of, and that nothing denies. */
  #mayBeDone(step: string): boolean {
    if (!this.#isHearsay(step)) return this.#mayStand(step);
    this.#denyPlanted(step);
    return false;
  }

  /** True for a sentence that nothing denies. What a tool alone says may be told, unless it says what to do. */
  #mayStand(claim: string): boolean {
    const { user, assistant, planted } = this.#witness.hears(claim);
    const isPlanted = planted >= HEARD && user < HEARD && assistant < HEARD;
    if (isPlanted || (saysWhatToDo(claim) && this.#isHearsay(claim))) {
      this.#denyPlanted(claim);
      return false;
    }
    if (!this.#isWished(claim)) return false;
    const unknown = this.#corpus.lacks(claim);
    if (unknown !== undefined) {
      this.#deny('invented', claim, unknown);
      return false;
    }
    const denied = deniedBy(claim, this.#grounds.truth);
    if (denied !== undefined) this.contradictions.push(denied);
    return denied === undefined;
  }

  /** True where a tool said so and nobody else did. */
  #isHearsay(claim: string): boolean {
    const { user, assistant, tool } = this.#witness.hears(claim);
    return tool >= HEARD && user < HEARD && assistant < HEARD;
  }

  #denyPlanted(claim: string): void {
    this.#deny('planted', claim, 'only a tool said so; nobody else asked for it');
    this.#quote(claim);
  }

  /** True for a sentence that says nothing of what the user wants, or says it truly. */
  #isWished(claim: string): boolean {
    const wish = wishIn(claim);
    const said = wish !== undefined || allows(claim) ? turnedRound(claim, this.#orders) : undefined;
    if (said !== undefined) {
      this.#deny('speaker', claim, `the ${said.by} said: ${said.text}`);
      return false;
    }
    if (wish === undefined) return true;
    const { user, tool } = this.#witness.hears(wish);
    if (user >= HEARD || contentWords(wish).length === 0) return true;
    if (tool >= HEARD) {
      this.#deny('speaker', claim, 'a tool, not the user, said so');
      this.#quote(wish);
    } else this.#deny('invented', claim, 'the user did not say so');
    return false;
  }

  /** Says who said it, instead of saying it. */
  #quote(text: string): void {
    const turn = this.#grounds.truth.lastTurn;
    this.#quoted.push({
      text: oneLine(text),
      by: 'tool',
      source: 'quoted, asked for by nobody',
      turn,
    });
  }

  #noteOf(text: string): string | undefined {
    return text.trim() !== '' && this.#mayStand(text) ? oneLine(text, LONGEST_LINE) : undefined;
  }

  #facts(): readonly Fact[] {
    const { truth, previous } = this.#grounds;
    const carried = [...(previous?.facts ?? []), ...truth.facts];
    const known = new KnownTexts(carried);
    const own: Fact[] = [];
    for (const fact of this.#summary.facts) {
      if (own.length === MOST_FACTS_FROM_MODEL) break;
      const heard = this.#heard(fact);
      if (heard === undefined || known.has(heard.text)) continue;
      known.add(heard.text);
      own.push(heard);
    }
    const { facts, superseded } = standingFacts([...carried, ...own]);
    this.superseded = superseded;
    return facts;
  }

  /** A fact with the one who really said it: a tool's or a model's word is never a constraint. */
  #heard(fact: Fact): Fact | undefined {
    const text = oneLine(fact.text, LONGEST_LINE);
    const { user, assistant, tool } = this.#witness.hears(fact.text);
    if (this.#corpus.unknownName(text) !== undefined || Math.max(user, assistant, tool) < HEARD) {
      this.#deny('invented', text, 'nobody said so');
      return undefined;
    }
    if (isInstructing(fact) && user >= HEARD) return { ...fact, text };
    const by = tool >= HEARD && tool >= assistant ? 'tool' : 'assistant';
    if (isInstructing(fact)) this.#deny('speaker', text, `${by}, not ${fact.by}, said so`);
    return { ...fact, text, kind: 'value', by };
  }

  #decisions(): Summary['decisions'] {
    const { decisions } = this.#grounds.truth;
    const known = new KnownTexts(decisions);
    const own = this.#summary.decisions.filter(
      ({ text }) => !known.has(text) && this.#mayStand(text),
    );
    return [
      ...decisions,
      ...own.map((one) => ({ ...one, text: oneLine(one.text, LONGEST_LINE) })),
    ].slice(-MOST_DECISIONS);
  }

  /** Items as the messages have them; a model may close what only summaries say is open, and add its own. */
  #items(): readonly Item[] {
    const { truth, previous } = this.#grounds;
    const before = new Map((previous?.items ?? []).map((item) => [plain(item.text), item.state]));
    const items = new Map(truth.items.map((item) => [plain(item.text), item]));
    const texts = new KnownTexts(truth.items);
    for (const item of this.#summary.items) {
      const key = plain(item.text);
      const known = items.get(key);
      if (known === undefined) {
        if (texts.has(item.text) || !this.#mayBeDone(item.text)) continue;
        items.set(key, { ...item, text: oneLine(item.text, LONGEST_LINE) });
        texts.add(item.text);
      } else if (known.state !== item.state) {
        const seen = before.get(key) !== known.state;
        if (item.state === 'done' && !seen) items.set(key, { ...known, state: 'done' });
        else if (item.state === 'done' || known.state === 'done')
          this.#deny('item', `${item.text}: ${item.state}`, `it is ${known.state}`);
      }
    }
    return newestItems([...items.values()]);
  }

  #files(): readonly FileRecord[] {
    const { truth } = this.#grounds;
    this.contradictions.push(...deniedFiles(this.#summary.files, truth));
    const files = new Map(truth.files.map((file) => [file.path, file]));
    for (const claim of this.#summary.files) {
      const known = files.get(claim.path);
      const note = claim.note === undefined ? undefined : this.#noteOf(claim.note);
      if (known === undefined && this.#corpus.holds(claim.path)) files.set(claim.path, claim);
      else if (known === undefined)
        this.#deny('invented', claim.path, 'the file is nowhere in the messages');
      else if (note !== undefined && known.note === undefined)
        files.set(claim.path, { ...known, note });
    }
    return [...files.values()];
  }
}

/** What the user is on record for in an earlier summary, beside its facts. */
function wishesBefore(previous: Summary | null): readonly string[] {
  if (previous === null) return [];
  const said = previous.notes.filter(({ by }) => by === 'user').map(({ text }) => text);
  const told = sentencesOf(previous.prose ?? '').filter((line) => wishIn(line) !== undefined);
  return [...said, ...told];
}

const isInstructing = ({ by }: Fact): boolean => by === 'user' || by === 'system';

/** Open items are never left out; of what is done, the newest stay. */
function newestItems(items: readonly Item[]): readonly Item[] {
  let excess = items.length - MOST_ITEMS;
  return items.filter((item) => {
    if (item.state !== 'done' || excess <= 0) return true;
    excess -= 1;
    return false;
  });
}

const MOST_LOST_LINES = 12;

/** Lines of the last account whose exact strings would be named nowhere any more. */
function lostLines(account: string | null, summary: Summary): readonly Note[] {
  if (account === null || account === summary.prose) return [];
  const named = namesIn(renderSummary(summary));
  const lost = sentencesOf(account).filter((line) =>
    [...namesIn(line)].some((name) => isTelling(name) && !named.has(name)),
  );
  return lost.slice(-MOST_LOST_LINES).map((line) => ({
    text: oneLine(line, LONGEST_LINE),
    by: 'assistant',
    source: 'an earlier summary',
    turn: summary.firstTurn,
  }));
}

/** All that a summary claims, and what it says that the user wants. */
function claimsOf(summary: Summary): readonly string[] {
  const passages = [summary.prose ?? '', summary.splitTurn?.text ?? ''];
  const claims = [
    ...passages.flatMap((text) => text.split('\n').flatMap(sentencesOf)),
    ...[summary.facts, summary.decisions, summary.items].flat().map(({ text }) => text),
    ...summary.files.flatMap(({ note }) => note ?? []),
    ...summary.currentPlan,
    ...(summary.currentTask === null ? [] : [summary.currentTask]),
  ];
  return [...claims, ...claims.flatMap((claim) => wishIn(claim) ?? [])];
}

function additions(given: Summary, truth: Summary): readonly Addition[] {
  const text = plain(renderSummary({ ...EMPTY_SUMMARY, ...given }));
  const lacks = (item: string): boolean => !text.includes(plain(item));
  const missing = (kind: Addition['kind'], texts: readonly string[]): readonly Addition[] =>
    texts.filter(lacks).map((one) => ({ kind, text: oneLine(one) }));
  return [
    ...missing('task', truth.task === null ? [] : [truth.task]),
    ...missing(
      'fact',
      truth.facts.map((fact) => fact.text),
    ),
    ...missing(
      'decision',
      truth.decisions.map((decision) => decision.text),
    ),
    ...missing(
      'item',
      truth.items.filter(({ state }) => state !== 'done').map((item) => item.text),
    ),
    ...missing(
      'artifact',
      truth.artifacts.map(({ artifactId }) => artifactId),
    ),
    ...missing(
      'outcome',
      truth.outcomes.flatMap(({ error }) => error ?? []),
    ),
    ...missing(
      'file',
      truth.files.map(({ path }) => path),
    ),
    ...missing(
      'note',
      truth.notes.map((note) => note.text),
    ),
  ];
}

function unique<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
