import { lastIndex } from '../check/list.ts';
import { currentSummary, type ExternalizeRecord, type Plan } from '../plan/plan.ts';
import type { Sensitivity } from '../ports.ts';
import type { ArtifactReference } from '../plan/summary.ts';
import {
  callsOf,
  resultsOf,
  startsTurn,
  textOf,
  type ArtifactId,
  type CallPart,
} from '../message/message.ts';
import type { Node } from '../thread/thread.ts';
import { queryWords, wordsOf } from './words.ts';

/** What one turn may bring back. */
export interface RehydrationLimits {
  readonly mostArtifacts: number;
  readonly tokensEach: number;
  readonly tokensInAll: number;
  /** How many turns must begin before the same artifact comes again. */
  readonly cooldownTurns: number;
  /** More sensitive content needs an explicit call. */
  readonly sensitivities: readonly Sensitivity[];
}

export const REHYDRATION_LIMITS: RehydrationLimits = {
  mostArtifacts: 3,
  tokensEach: 4_000,
  tokensInAll: 8_000,
  cooldownTurns: 2,
  sensitivities: ['public', 'internal'],
};

/** The present turn: what was said in it so far. */
export interface NewestTurn {
  readonly turn: number;
  /** The index of the user's message that began it. */
  readonly openerIndex: number;
  /** The user's message and what the agent said after it. */
  readonly texts: readonly string[];
  /** Calls whose results are not there yet. */
  readonly pending: readonly CallPart[];
}

/** When each artifact was last shown, by turn. */
export type Shown = ReadonlyMap<ArtifactId, number>;

export interface WantedArtifact {
  readonly artifactId: ArtifactId;
  readonly because: 'named' | 'called' | 'hint';
}

/** Reading further back than this costs more than it finds. */
const MOST_REFERENCES = 200;
/** Words that every hint contains, so they distinguish none. */
const HINT_WORDS: ReadonlySet<string> = new Set(
  wordsOf('full content needed lines success failure'),
);

/** What is said in the newest turn of some messages. */
export function newestTurnOf(nodes: readonly Node[]): NewestTurn | undefined {
  const start = lastIndex(nodes, ({ message }) => startsTurn(message));
  const opener = nodes[start];
  if (opener === undefined) return undefined;
  const texts: string[] = [];
  const pending = new Map<string, CallPart>();
  for (const { message } of nodes.slice(start)) {
    if (message.role !== 'tool' && message.role !== 'system') texts.push(textOf(message));
    for (const call of callsOf(message)) pending.set(call.callId, call);
    for (const { callId } of resultsOf(message)) pending.delete(callId);
  }
  return { turn: opener.turn, openerIndex: opener.index, texts, pending: [...pending.values()] };
}

const referenceOfRecord = new WeakMap<ExternalizeRecord, ArtifactReference>();

function referenceOf(record: ExternalizeRecord): ArtifactReference {
  const { artifactId, summary: description, hint } = record;
  const reference = referenceOfRecord.get(record) ?? { artifactId, description, hint };
  referenceOfRecord.set(record, reference);
  return reference;
}

/** The artifacts that a plan points to, the newest last. */
export function newestArtifactReferences(plan: Plan): readonly ArtifactReference[] {
  const summarized = currentSummary(plan)?.summary.artifacts ?? [];
  const moved = plan.records.flatMap((record) =>
    record.kind === 'externalize' && record.unstored !== true ? [referenceOf(record)] : [],
  );
  const byId = new Map([...summarized, ...moved].map((each) => [each.artifactId, each]));
  return [...byId.values()].slice(-MOST_REFERENCES);
}

/**
 * The artifacts that a turn asks for and may have: those named by id first, then those that a pending call names, then
 * those whose hint a question matches. One that is cooling down is not among them.
 */
export function wantedArtifacts(
  references: readonly ArtifactReference[],
  speech: NewestTurn,
  shown: Shown,
  limits: RehydrationLimits = REHYDRATION_LIMITS,
): readonly WantedArtifact[] {
  const questions = speech.texts
    .filter((text) => /[?？]/.test(text))
    .map((text) => queryWords(text));
  const reasons: readonly [WantedArtifact['because'], (each: ArtifactReference) => boolean][] = [
    ['named', ({ artifactId }) => speech.texts.some((text) => names(text, artifactId))],
    ['called', ({ artifactId }) => speech.pending.some(({ args }) => names(args, artifactId))],
    ['hint', (each) => questions.some((asked) => asksFor(asked, each))],
  ];
  const wanted = new Map<ArtifactId, WantedArtifact>();
  for (const [because, holds] of reasons) {
    for (const each of references) {
      const { artifactId } = each;
      if (wanted.has(artifactId) || isCooling(artifactId, speech.turn, shown, limits)) continue;
      if (holds(each)) wanted.set(artifactId, { artifactId, because });
    }
  }
  return [...wanted.values()].slice(0, limits.mostArtifacts);
}

function isCooling(
  id: ArtifactId,
  turn: number,
  shown: Shown,
  { cooldownTurns }: RehydrationLimits,
): boolean {
  const last = shown.get(id);
  return last !== undefined && last !== turn && turn - last < cooldownTurns;
}

/** True if a text holds an id as a whole word, never as a part of a longer one. */
export function names(text: string, id: string): boolean {
  for (let at = text.indexOf(id); at !== -1; at = text.indexOf(id, at + 1)) {
    if (!isWordChar(text[at - 1]) && !isWordChar(text[at + id.length])) return true;
  }
  return false;
}

function isWordChar(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}_-]/u.test(char);
}

const topics = new WeakMap<ArtifactReference, ReadonlySet<string>>();

/** The words that describe what an artifact holds; read once, since every step of a turn asks for them. */
function topicOf(reference: ArtifactReference): ReadonlySet<string> {
  const known = topics.get(reference);
  if (known !== undefined) return known;
  const words = queryWords(`${reference.hint} ${reference.description}`, 64);
  const topic = new Set(words.filter((word) => !HINT_WORDS.has(word)));
  topics.set(reference, topic);
  return topic;
}

/** True if a question shares at least two words, and half of its or the hint's, with what an artifact holds. */
function asksFor(asked: readonly string[], reference: ArtifactReference): boolean {
  const topic = topicOf(reference);
  const matching = asked.filter((word) => topic.has(word)).length;
  return matching >= 2 && matching >= Math.min(asked.length, topic.size) / 2;
}

/** Whether a text is a question that recall could answer: it asks, and about something. */
export function isQuestion(text: string): boolean {
  return /[?？]/.test(text) && wordsOf(text.slice(0, 400)).length > 1;
}
