import { namesIn, oneLine } from '../message/text.ts';
import type { Kept } from '../extract/extract.ts';
import { constraints } from '../extract/facts/statements.ts';
import { plain, standingFacts, type Superseded } from '../extract/facts/supersede.ts';
import { accountParts, accountWithin, ANALYSIS_HEADING, cleanAccount } from '../summary/account.ts';
import { summaryText } from '../summary/account-render.ts';
import type { Redact } from '../summary/redact.ts';
import { EMPTY_SUMMARY, type Fact, type Note, type Summary } from '../plan/summary.ts';
import type { Node } from '../thread/thread.ts';
import type { Counter } from '../tokens/counter.ts';
import { AccountCheck, claimsOf, markedIn, unmarkedSentences } from './account-check.ts';
import { Evidence } from './evidence.ts';
import { mergedDecisions, mergedFacts, mergedFiles, mergedItems } from './merged-fields.ts';
import { lackingNotes } from './record.ts';
import type { Addition, Correction } from './report.ts';
import { wishIn } from './wishes.ts';

/** What a summary is checked against. */
export interface Grounds {
  readonly nodes: readonly Node[];
  /** Messages that stay in the prompt, as it shows them: what they say was said, and need not be said again. */
  readonly kept?: readonly Kept[];
  /** What the user asks of this summary: their words too. */
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
  readonly corrections: readonly Correction[];
  readonly superseded: readonly Superseded[];
}

const LONGEST_LINE = 300;

/**
 * Checks a summary against the messages that it replaces. The record (task, facts, files, outcomes, artifacts) comes
 * from the extract and from the summary before, as data. A model adds its account, decisions, items and plan; what the
 * messages contradict in them is corrected or left out. What a model leaves out is there nevertheless.
 */
export function verify(summary: Summary, grounds: Grounds): Verified {
  const { nodes, kept = [], truth, previous, redact = (text) => text } = grounds;
  const orders = ordersOf(grounds);
  const account = cleanAccount(summary.prose ?? '');
  const evidence = evidenceFor({ ...summary, prose: account }, grounds, orders);
  const check = new AccountCheck(evidence, truth, orders, {
    nodes: [...nodes, ...kept.map(({ node }) => node)],
    redact,
  });
  const prose = checkedAccount(account, check);
  const facts = mergedFacts(
    summary.facts,
    [...(previous?.facts ?? []), ...truth.facts],
    check,
    evidence,
  );
  const standing = standingFacts(facts);
  const verified: Summary = {
    ...truth,
    facts: standing.facts,
    decisions: mergedDecisions(summary.decisions, truth.decisions, check),
    items: mergedItems(summary.items, truth, previous, check),
    files: mergedFiles(summary.files, truth.files, check, evidence),
    artifacts: unique([...(previous?.artifacts ?? []), ...truth.artifacts], (a) => a.artifactId),
    currentTask: step(check, summary.currentTask) ?? truth.currentTask,
    currentPlan: planOf(check, summary.currentPlan) ?? truth.currentPlan,
    prose: prose === '' ? truth.prose : prose,
    splitTurn: splitTurnOf(summary, truth, check),
  };
  return {
    summary: withNotesBesideAccount(verified, grounds),
    added: additions(summary, truth),
    corrections: check.corrections,
    superseded: standing.superseded,
  };
}

/** An account and its analysis as the messages allow them. */
function checkedAccount(account: string, check: AccountCheck): string {
  const { body, analysis } = accountParts(account);
  const checked = check.text(body);
  const led = analysis === '' ? '' : check.text(analysis);
  return led === '' ? checked : `${checked}\n\n${ANALYSIS_HEADING}\n${led}`;
}

/** What those said who give orders, in messages that stay too. */
function ordersOf({
  kept = [],
  previous,
  truth,
  redact = (text) => text,
}: Grounds): readonly Fact[] {
  const stays = constraints(kept.map(({ node }) => node)).map((fact) => ({
    ...fact,
    text: redact(fact.text),
  }));
  return [...(previous?.facts ?? []), ...truth.facts, ...stays].filter(
    ({ by }) => by === 'user' || by === 'system',
  );
}

const ITEM_STATE = { done: 'completed', current: 'in progress', open: 'pending' } as const;

/** What the messages, and the summary before them, say about the claims of a summary. */
function evidenceFor(summary: Summary, grounds: Grounds, orders: readonly Fact[]): Evidence {
  const { nodes, kept = [], instructions = '', previous, truth } = grounds;
  const texts = [
    summary.prose ?? '',
    summary.splitTurn?.text ?? '',
    ...[summary.facts, summary.decisions, summary.items].flat().map(({ text }) => text),
    ...summary.files.flatMap(({ note }) => note ?? []),
    ...summary.currentPlan,
    summary.currentTask ?? '',
  ];
  const before =
    previous === null
      ? ''
      : summaryText({ ...previous, facts: [], notes: [], outcomes: [], files: [] });
  return new Evidence(
    texts.flatMap((text) => [...claimsOf(text), text]),
    [...nodes, ...kept.map(({ node }) => node)],
    {
      named: recordedNames(previous),
      account: previous?.prose ?? '',
      marked: markedIn(previous?.prose ?? ''),
      user: [
        truth.task ?? '',
        instructions,
        ...orders.map(({ text }) => text),
        ...wishesBefore(previous),
      ],
      assistant: [
        before,
        ...truth.items.map(({ text, state }) => `${text} - ${ITEM_STATE[state]}`),
      ],
    },
  );
}

/** The texts of an earlier summary that are taken from messages. */
function recordedNames(previous: Summary | null): readonly string[] {
  if (previous === null) return [];
  const { files, notes, outcomes } = previous;
  return [
    ...files.map(({ path }) => path),
    ...notes.map(({ text }) => text),
    ...outcomes.flatMap(({ call, error = '', result = '' }) => [call, error, result]),
  ];
}

/** What the user is on record for in an earlier summary, in addition to its facts. */
function wishesBefore(previous: Summary | null): readonly string[] {
  if (previous === null) return [];
  const said = previous.notes.filter(({ by }) => by === 'user').map(({ text }) => text);
  const wished = (previous.prose ?? '').split('\n').filter((line) => wishIn(line) !== undefined);
  return [...said, ...wished];
}

function step(check: AccountCheck, text: string | null): string | undefined {
  const checked = text === null || text.trim() === '' ? undefined : check.step(text);
  return checked === undefined ? undefined : oneLine(checked, LONGEST_LINE);
}

function planOf(check: AccountCheck, texts: readonly string[]): readonly string[] | undefined {
  const kept = texts.flatMap((text) => step(check, text) ?? []);
  return kept.length === 0 ? undefined : kept;
}

/**
 * The model's text of the beginning of a split turn. If it is absent, the account covers the turn; if it is empty, or
 * there is no account at all, the extract describes the turn.
 */
function splitTurnOf(
  summary: Summary,
  { splitTurn }: Summary,
  check: AccountCheck,
): Summary['splitTurn'] {
  if (splitTurn === null) return null;
  const text = check.text(summary.splitTurn?.text ?? '');
  if (text !== '') return { ...splitTurn, text };
  return summary.splitTurn === null && (summary.prose ?? '') !== '' ? null : splitTurn;
}

/** Next to an account, the notes are those that the account does not say. */
function withNotesBesideAccount(summary: Summary, grounds: Grounds): Summary {
  const { prose } = summary;
  if (prose === null || prose === grounds.truth.prose) return summary;
  const { nodes, kept = [], truth, maxTokens, counter, redact = (text) => text } = grounds;
  const chars = maxTokens * (prose.length / Math.max(1, counter.text(prose)));
  const account = accountWithin(prose, chars);
  return {
    ...summary,
    notes: lackingNotes({
      account,
      nodes,
      kept,
      notes: [...earlierLines(grounds.previous), ...truth.notes],
      chars,
      redact,
    }),
  };
}

/** The sentences of the account before: a model that updates it may lose some of what it names. */
function earlierLines(previous: Summary | null): readonly Note[] {
  return (previous?.prose ?? '')
    .split('\n')
    .flatMap(unmarkedSentences)
    .filter((text) => namesIn(text).size > 0)
    .map((text) => ({ text, by: 'assistant', turn: previous?.lastTurn ?? 0 }));
}

function additions(given: Summary, truth: Summary): readonly Addition[] {
  const text = plain(summaryText({ ...EMPTY_SUMMARY, ...given }));
  const missing = (kind: Addition['kind'], texts: readonly string[]): readonly Addition[] =>
    texts
      .filter((item) => !text.includes(plain(item)))
      .map((one) => ({ kind, text: oneLine(one) }));
  const open = truth.items.filter(({ state }) => state !== 'done');
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
      open.map((item) => item.text),
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
