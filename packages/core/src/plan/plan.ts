import { lastOf } from '../check/list.ts';
import type { JsonObject } from '../message/json.ts';
import type { ArtifactId, MessageId, ThreadId } from '../message/message.ts';
import type { Span } from '../thread/thread.ts';
import type { Summary } from './summary.ts';

export const PLAN_FORMAT = 1;

/** Content moved to an artifact. One message keeps its place and shows an excerpt; a longer span becomes a pointer. */
export interface ExternalizeRecord {
  readonly kind: 'externalize';
  readonly span: Span;
  readonly artifactId: ArtifactId;
  readonly summary: string;
  /** When an agent should read it back. */
  readonly hint: string;
  /** Which stretches of each part's text stay in the prompt, part by part; a part without any shows nothing. */
  readonly kept: readonly (readonly Stretch[])[];
  /** Arguments of calls longer than this are cut, field by field. */
  readonly argsChars: number;
  /** Made by trimming: shown with the fewest words, arguments without a key of ours. */
  readonly trimmed?: true;
  /** The reasoning of the message stays: a running turn must keep it, and trimming takes only tools' text. */
  readonly keepsReasoning?: true;
  /** Only pictures and files are moved: a pointer takes the place of each, and everything else stays. */
  readonly withoutMedia?: true;
  /** Fields of results that always stay, by call id. */
  readonly preserved?: JsonObject;
  /** The artifact store failed: only the thread holds the content, and recall finds it. */
  readonly unstored?: true;
}

/** Part of a text: from a character up to another. */
export type Stretch = readonly [start: number, end: number];

/** Messages replaced by a summary, which contains the summaries before it. */
export interface SummarizeRecord {
  readonly kind: 'summarize';
  /** What this round summarised; earlier rounds' spans are in the plans before. */
  readonly span: Span;
  readonly summary: Summary;
  /** The summary as it is shown: its data rendered within the space it had. */
  readonly text: string;
  readonly summaryTokens: number;
  /** The index of the first message that it replaces, rounds before included: its place in the prompt. */
  readonly at: number;
  /** How many messages it replaces, rounds before included. */
  readonly messages: number;
}

/** Tool results replaced by a placeholder that keeps their key fields. */
export interface ClearRecord {
  readonly kind: 'clear';
  readonly span: Span;
  /** By call id. */
  readonly preserved: JsonObject;
}

/** Messages left out of the prompt. */
export interface DropRecord {
  readonly kind: 'drop';
  readonly span: Span;
  readonly reason: string;
  readonly index: DropIndex;
  /** What could not be asked for again, and was stored before it was left out. */
  readonly artifacts?: readonly ArtifactId[];
}

/** What remains known of a dropped span, so that recall can find it. */
export interface DropIndex {
  readonly keywords: readonly string[];
  readonly description: string;
  readonly time: number;
}

export type PlanRecord = ExternalizeRecord | SummarizeRecord | ClearRecord | DropRecord;

/** A message whose time to live is over: its replacement takes its place. */
export interface Hide {
  readonly id: MessageId;
  readonly replacement: string;
}

/** An earlier message that stays whole. */
export interface Carried {
  readonly id: MessageId;
  readonly index: number;
}

/** Says how a summary is shown in a prompt. It is part of the plan, so that a past prompt can be rendered again. */
export interface RenderStyle {
  readonly summaryRole: 'assistant' | 'user' | 'pair';
  /**
   * The line before a summary. `{first}` and `{last}` are replaced by the numbers of the turns, `{round}` by the number
   * of the compaction.
   */
  readonly summaryPrefix: string;
  /**
   * `'first'`: the summary is in the place of the first message that it replaces. `'last'`: it comes after the carried
   * messages.
   */
  readonly summaryAt: 'first' | 'last';
  /** True if the model has the tools `read_artifact` and `recall`. Only then does a prompt mention them. */
  readonly offersReadArtifact?: boolean;
  /** With `summaryRole: 'pair'`: the text of the user message before the summary. */
  readonly shadowPrompt?: string;
}

/** Says what a prompt shows of a thread, as data. Every compaction makes a new plan. */
export interface Plan {
  readonly format: typeof PLAN_FORMAT;
  readonly thread: ThreadId;
  /** The head of the thread when the plan was made. `threadVersion` is the number of messages up to this head. */
  readonly head: MessageId | null;
  readonly threadVersion: number;
  readonly createdAt: number;
  readonly policy: string;
  readonly style: RenderStyle;
  /** The index at which the prompt begins. Every message before it is carried (shown whole) or replaced by a record. */
  readonly start: number;
  readonly carried: readonly Carried[];
  readonly records: readonly PlanRecord[];
  readonly hides: readonly Hide[];
  /** The messages that the host pinned. They are never compacted. */
  readonly pins: readonly MessageId[];
  /** The index at which the last batch of trimming ended. Nothing before it is trimmed again. */
  readonly trimmedTo?: number;
  /**
   * From this index on, the signatures of reasoning are valid. Earlier reasoning was bound to bytes that have changed
   * since.
   */
  readonly signedFrom: number;
  /**
   * Ranges of indexes before `signedFrom` whose signatures are valid nevertheless, because the changes came after them.
   */
  readonly stillSigned?: readonly (readonly [from: number, to: number])[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /**
   * How many messages the thread had when the whole ladder last ran. The ladder could not free more of these messages.
   */
  readonly climbedAt?: number;
  /** By how many tokens pins were shortened. They are shown whole again as soon as this many tokens fit. */
  readonly cutPinTokens?: number;
  readonly warnings: readonly string[];
  /** The version that was undone. A trigger alone does not compact again; only a prompt that does not fit does. */
  readonly undid?: number;
}

/**
 * The default style: a summary is shown as a message of the assistant, in the place of the first message that it
 * replaces.
 */
export const DEFAULT_STYLE: RenderStyle = {
  summaryRole: 'assistant',
  summaryPrefix: '[Context Summary - Turns {first}-{last}]',
  summaryAt: 'first',
};

/** The first messages of a path. */
export interface Beginning {
  readonly head: MessageId | null;
  readonly length: number;
  /** The newest of them that a user sent, which no plan changes. */
  readonly request: MessageId | undefined;
}

/**
 * The plan for the first messages of the path that it was made for: it shows them as before. Undefined if it begins
 * after them, or changes others, or the newest request among them.
 */
export function planOfBeginning(
  plan: Plan,
  { head, length, request }: Beginning,
  indexOf: (id: MessageId) => number,
): Plan | undefined {
  if (plan.threadVersion <= length) return plan;
  const isOfBeginning = (id: MessageId): boolean => indexOf(id) < length && id !== request;
  const changed = [
    ...plan.records.flatMap(({ span }) => span.ids),
    ...plan.hides.map(({ id }) => id),
  ];
  if (plan.start >= length || !changed.every(isOfBeginning)) return undefined;
  const { trimmedTo, climbedAt } = plan;
  return {
    ...plan,
    head,
    threadVersion: length,
    pins: plan.pins.filter((id) => indexOf(id) < length),
    signedFrom: Math.min(plan.signedFrom, length),
    ...(trimmedTo === undefined ? {} : { trimmedTo: Math.min(trimmedTo, length) }),
    ...(climbedAt === undefined ? {} : { climbedAt: Math.min(climbedAt, length) }),
  };
}

/** The plan that shows everything. */
export function emptyPlan(thread: ThreadId, style: RenderStyle = DEFAULT_STYLE): Plan {
  return {
    format: PLAN_FORMAT,
    thread,
    head: null,
    threadVersion: 0,
    createdAt: 0,
    policy: 'none',
    style,
    start: 0,
    carried: [],
    records: [],
    hides: [],
    pins: [],
    signedFrom: 0,
    tokensBefore: 0,
    tokensAfter: 0,
    warnings: [],
  };
}

/** The summary that the prompt begins with, if any. */
export function currentSummary(plan: Plan): SummarizeRecord | undefined {
  return lastOf(plan.records, (record) => record.kind === 'summarize');
}

/** Every artifact that a plan points to: none of them may be swept. */
export function planArtifacts(plan: Plan): readonly ArtifactId[] {
  const ids = new Set<ArtifactId>();
  for (const record of plan.records) {
    if (record.kind === 'externalize' && record.unstored !== true) ids.add(record.artifactId);
    if (record.kind === 'drop') for (const id of record.artifacts ?? []) ids.add(id);
    if (record.kind === 'summarize')
      for (const a of record.summary.artifacts) ids.add(a.artifactId);
  }
  return [...ids];
}

/** True if nothing before a message has changed since it was written: a provider still takes its signed reasoning. */
export function holdsReasoning({ signedFrom, stillSigned = [] }: Plan, index: number): boolean {
  return index >= signedFrom || stillSigned.some(([from, to]) => index >= from && index < to);
}

/** The plan once the prompt has changed from an index of the path on: only reasoning before the change still holds. */
export function withoutReasoningFrom(plan: Plan, changedFrom: number, length: number): Plan {
  const { stillSigned: before = [], ...rest } = plan;
  const stillSigned = [...before, [plan.signedFrom, length] as const]
    .map(([from, to]) => [from, Math.min(to, changedFrom)] as const)
    .filter(([from, to]) => from < to);
  return {
    ...rest,
    signedFrom: length,
    ...(stillSigned.length === 0 ? {} : { stillSigned }),
  };
}
