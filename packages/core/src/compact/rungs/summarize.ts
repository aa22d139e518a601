import { lastIndex } from '../../check/list.ts';
import {
  isHostMade,
  isSummary,
  startsTurn,
  textOf,
  type MessageId,
} from '../../message/message.ts';
import { type Node, spanOf } from '../../thread/thread.ts';
import { showsTask, type Kept } from '../../extract/extract.ts';
import { accountOf } from '../../summary/account.ts';
import { fitSummaryText } from '../../summary/account-render.ts';
import { EMPTY_SUMMARY, type Summary } from '../../plan/summary.ts';
import { describeCut, mostKept } from '../../plan/cut.ts';
import type { Draft, Entry } from '../draft.ts';
import {
  fraction,
  integerFrom,
  nonNegative,
  optional,
  optionsParser,
  string,
} from '../../check/shape.ts';
import type { PlanRecord, SummarizeRecord } from '../../plan/plan.ts';
import {
  besideAccount,
  floorExcess,
  LARGE_SHARE,
  shorteningProposals,
  SHORTENS,
  shortenToTarget,
} from './beside-summary.ts';
import { summaryMessages } from '../../render/record.ts';
import { afterRequest } from './after-request.ts';
import { shorten } from './shorten.ts';
import type { Effects, Proposal, RungContext, Rung } from './rung.ts';

export interface SummarizeOptions {
  /** The largest number of tokens that a summary may have. */
  readonly maxTokens: number;
  /** The largest share of the replaced messages' tokens that the summary may have. */
  readonly ratio: number;
  /** How many tokens of the newest user messages before the cut stay whole. */
  readonly keepUserTokens: number;
  /** How many of the kept messages the summarizer also reads, as context. */
  readonly overlapMessages: number;
  /** If the cut falls inside a turn: the largest number of tokens for the summary of the turn's beginning. */
  readonly splitTurnTokens: number;
  /** The share of the target that should be free for the summary: the cut moves on until it is. 0 leaves the cut. */
  readonly leastShare: number;
  /** Instructions for the summarizing model, in place of the summarizer's own. */
  readonly systemPrompt?: string;
}

const parseOptions = optionsParser<SummarizeOptions>(
  'summarize',
  {
    maxTokens: nonNegative,
    ratio: fraction,
    keepUserTokens: nonNegative,
    overlapMessages: integerFrom(0),
    splitTurnTokens: nonNegative,
    leastShare: fraction,
    systemPrompt: optional(string),
  },
  {
    maxTokens: 8_000,
    ratio: 0.25,
    keepUserTokens: 0,
    overlapMessages: 0,
    splitTurnTokens: 400,
    leastShare: 0,
  },
);
/** The least that a summary may take: a smaller one says nothing. */
const LEAST_TOKENS = 120;

/** Replaces the last summary and all messages up to the cut by one new summary, with the content of the last one. */
export function summarize(options: Partial<SummarizeOptions> = {}): Rung {
  const whole = parseOptions(options);
  const { keepUserTokens } = whole;
  return {
    name: 'summarize',
    replacesMessages: true,
    propose(proposed) {
      const context = withWideCut(withUnpinned(proposed), whole);
      const { draft, cut } = context;
      const { held, crossing } = newestUserMessages(context, keepUserTokens);
      const covered = draft.entries
        .slice(0, cut.index)
        .filter((entry) => !draft.stays(entry) && !held.has(entry) && !draft.isGone(entry));
      const span = spanOf(covered.map(({ node }) => node));
      if (span === undefined) return [];
      const tokens = covered.reduce((sum, entry) => sum + draft.cost(entry), 0);
      const space = summarySpace(context, tokens, whole);
      const reason = `${covered.length} messages before the cut, ${cut.split ? 'inside turn' : 'at turn'} ${span.lastTurn}`;
      const ids = new Set(span.ids);
      const excess = floorExcess(context, ids, Math.min(whole.maxTokens, tokens));
      return [
        ...truncation(crossing),
        ...shorteningProposals(context, ids, { share: LARGE_SHARE, tokens: excess }),
        { strategy: 'summarize', span, tokensFreed: tokens - space, reason },
        ...besideAccount(context, ids),
      ];
    },
    execute(proposal, proposed, effects) {
      if (proposal.strategy === TRUNCATES) return shorten(proposal, proposed, effects);
      if (proposal.strategy === SHORTENS) return shortenToTarget(proposal, proposed, effects);
      const context = withWideCut(withUnpinned(proposed), whole);
      const { held } = newestUserMessages(context, keepUserTokens);
      for (const entry of held) context.draft.hold(entry);
      return summarizeSpan(proposal, context, effects, whole);
    },
  };
}

/**
 * Moves the cut forward if something older than the summary comes before it, because it is no longer pinned. The next
 * unit goes with it: a summary is updated with what was said later, never only with what was said before.
 */
function withUnpinned(context: RungContext): RungContext {
  const { draft, cut } = context;
  const until = draft.summary?.summary.until ?? -1;
  const loose = draft.entries.filter((entry) => !entry.pinned && !draft.isGone(entry));
  const next = loose.find(({ node, unit }) => node.index > until && unit !== draft.newestUnit);
  if (next === undefined || (loose[0]?.node.index ?? until) >= until) return context;
  const index = 1 + lastIndex(draft.entries, ({ unit }) => unit === next.unit);
  return index <= cut.index ? context : { ...context, cut: describeCut(draft.entries, index) };
}

/** Moves the cut forward if what stays after it would leave no space for a summary; the newest unit always stays. */
function withWideCut(
  context: RungContext,
  { maxTokens, leastShare }: SummarizeOptions,
): RungContext {
  const { draft, cut, targetTokens } = context;
  if (leastShare === 0) return context;
  const wanted = Math.min(maxTokens, targetTokens * leastShare);
  let kept = draft.tokens - (draft.summary?.summaryTokens ?? 0);
  let index = 0;
  for (const [i, entry] of draft.entries.entries()) {
    if (entry.startsUnit) {
      const enough = i >= cut.index && kept + wanted <= targetTokens;
      if (enough || entry.unit === draft.newestUnit) break;
    }
    if (!entry.pinned) kept -= draft.cost(entry);
    index = i + 1;
  }
  return index <= cut.index ? context : { ...context, cut: describeCut(draft.entries, index) };
}

/** An account that is longer than its space gets what the messages next to it can give up. */
function moreForAccount(
  context: RungContext,
  { prose }: Summary,
  covered: ReadonlySet<MessageId>,
  space: number,
): number {
  const lacking =
    prose === null ? 0 : context.counter.text(accountOf(prose)) * (1 + RECORD_SHARE) - space;
  const freed = besideAccount(context, covered).reduce((sum, one) => sum + one.tokensFreed, 0);
  return Math.max(0, Math.floor(Math.min(lacking, freed)));
}

/** What a record next to an account should have, compared with the account. */
const RECORD_SHARE = 0.05;

async function summarizeSpan(
  proposal: Proposal,
  context: RungContext,
  effects: Effects,
  whole: SummarizeOptions,
): Promise<SummarizeRecord | undefined> {
  const { draft, cut, counter, task, instructions, signal } = context;
  const ids = new Set(proposal.span.ids);
  const covered = draft.entries.filter(({ node }) => ids.has(node.id));
  const tokens = covered.reduce((sum, entry) => sum + draft.cost(entry), 0);
  const previous = draft.summary;
  const space = summarySpace(context, tokens, whole);
  const splitTurn = cut.split ? draft.entries[cut.index]?.node.turn : undefined;
  const answered = await effects.summarizer.summarize({
    nodes: covered
      .filter(({ message }) => !isSummary(message))
      .map((entry) => shownNode(draft, entry)),
    previous: handedOver(previous?.summary ?? null, covered),
    task,
    round: (previous?.summary.round ?? 0) + 1,
    maxTokens: space,
    counter,
    kept: uncovered(draft, ids),
    overlap: draft.entries
      .slice(cut.index, cut.index + whole.overlapMessages)
      .map((entry) => shownNode(draft, entry)),
    ...(instructions === undefined ? {} : { instructions }),
    ...(whole.systemPrompt === undefined ? {} : { systemPrompt: whole.systemPrompt }),
    ...(splitTurn === undefined
      ? {}
      : { splitTurn: { turn: splitTurn, maxTokens: whole.splitTurnTokens } }),
    ...(signal === undefined ? {} : { signal }),
  });
  const summary = withArtifacts(answered, draft.records, ids);
  const first = covered[0];
  if (first === undefined) return undefined;
  const at = previous?.at ?? first.node.index;
  const most = space + moreForAccount(context, summary, ids, space);
  const isShown = taskIsShown(draft, summary, ids);
  const end = afterRequest(draft, covered, { at, tokens });
  const fitted = fitSummaryText(summary, most - counter.text(end), counter, isShown);
  if (fitted === undefined) return undefined;
  const text = fitted + end;
  return {
    kind: 'summarize',
    span: proposal.span,
    summary,
    text,
    summaryTokens: counter.text(text),
    at,
    messages: (previous?.messages ?? 0) + covered.length,
  };
}

const MOST_ARTIFACTS = 100;

/** What was moved to artifacts before it was summarised can still be read back: the summary says where it is. */
function withArtifacts(
  summary: Summary,
  records: readonly PlanRecord[],
  covered: ReadonlySet<MessageId>,
): Summary {
  const artifacts = new Map(summary.artifacts.map((artifact) => [artifact.artifactId, artifact]));
  for (const record of records) {
    if (record.kind !== 'externalize' || !record.span.ids.every((id) => covered.has(id))) continue;
    // Trimmed results are many, and the summary says what matters of them; recall finds the rest.
    if (record.unstored === true || record.trimmed === true) continue;
    const { artifactId, summary: description, hint } = record;
    artifacts.set(artifactId, { artifactId, description, hint });
  }
  return { ...summary, artifacts: [...artifacts.values()].slice(-MOST_ARTIFACTS) };
}

/** The messages that stay next to a summary, as the prompt shows them. */
function uncovered(draft: Draft, covered: ReadonlySet<MessageId>): readonly Kept[] {
  return draft.entries.flatMap((entry) => {
    if (covered.has(entry.node.id) || draft.isGone(entry) || entry.pending) return [];
    return [{ node: shownNode(draft, entry), shown: draft.shown(entry) }];
  });
}

/** True if the prompt shows the message that gave the task, so that the summary need not repeat it. */
function taskIsShown(draft: Draft, { task }: Summary, covered: ReadonlySet<MessageId>): boolean {
  return draft.entries.some(
    (entry) =>
      !covered.has(entry.node.id) &&
      !draft.isGone(entry) &&
      !entry.pending &&
      showsTask({ node: entry.node, shown: draft.shown(entry) }, task),
  );
}

/** The summary before this one, with those that the host's messages hold: they are handed over, not summarised. */
function handedOver(previous: Summary | null, covered: readonly Entry[]): Summary | null {
  const texts = covered
    .filter(({ message }) => isSummary(message))
    .map(({ message }) => textOf(message));
  if (texts.length === 0) return previous;
  const known = previous ?? EMPTY_SUMMARY;
  return { ...known, prose: [known.prose, ...texts].filter((text) => text !== null).join('\n\n') };
}

/** What has expired is gone for a summarizer too: it reads the replacement. */
function shownNode(draft: Draft, entry: Entry): Node {
  const isHidden = draft.action(entry)?.kind === 'hide';
  return isHidden ? { ...entry.node, message: draft.shown(entry) } : entry.node;
}

/** What is left of the target for the summary once the one before it is gone. */
function summarySpace(
  context: RungContext,
  tokens: number,
  { maxTokens, ratio }: SummarizeOptions,
): number {
  const { draft, targetTokens, limitTokens } = context;
  const before = draft.summary?.summaryTokens ?? 0;
  const frame = draft.summary === undefined ? frameTokens(context) : 0;
  const around = draft.tokens - tokens - before + frame + BRIDGE_TOKENS;
  const fair = Math.max(Math.ceil((tokens + before) * ratio), before);
  const floor = Math.min(maxTokens, tokens + before, floorTokens(limitTokens));
  return Math.max(
    LEAST_TOKENS,
    Math.min(maxTokens, targetTokens - around, fair),
    Math.min(floor, Math.floor(limitTokens * MOST_OF_LIMIT) - around),
  );
}

/** What a summary gets even if it exceeds the target, as long as the limit holds. */
function floorTokens(limitTokens: number): number {
  return Math.max(FLOOR_TOKENS, Math.floor(limitTokens * FLOOR_OF_LIMIT));
}

const FLOOR_TOKENS = 1_000;
const FLOOR_OF_LIMIT = 0.05;
/** The renderer adds a little, and the next message should still fit. */
const MOST_OF_LIMIT = 0.85;

/** The renderer may have to put a line before a summary, so that the roles are in order. */
const BRIDGE_TOKENS = 16;

/** What the messages around a summary's text cost. */
function frameTokens({ draft, counter }: RungContext): number {
  const { style } = draft;
  const text = ' ';
  const bare = { summary: EMPTY_SUMMARY, text };
  const messages = summaryMessages(bare, style);
  return (
    messages.reduce((sum, message) => sum + counter.message(message), 0) +
    LONGEST_NUMBERS_TOKENS -
    counter.text(text)
  );
}

const LONGEST_NUMBERS_TOKENS = 4;

/** What stays of the user's messages next to a summary. */
interface HeldMessages {
  readonly held: ReadonlySet<Entry>;
  /** The oldest of them, if it is cut to what the others leave. */
  readonly crossing?: { readonly entry: Entry; readonly tokensFreed: number };
}

/** A smaller part of a message says nothing. */
const LEAST_HELD_TOKENS = 100;

/** The newest messages of the user within a number of tokens. The first one that exceeds it is cut, unless it is pinned. */
function newestUserMessages(context: RungContext, keepTokens: number): HeldMessages {
  const { draft, cut } = context;
  const held = new Set<Entry>();
  let left = Math.min(keepTokens, mostKept(draft.entries, context));
  for (let i = cut.index - 1; i >= 0 && left > 0; i--) {
    const entry = draft.entries[i] as Entry;
    if (!startsTurn(entry.message) || isHostMade(entry.message) || draft.isGone(entry)) continue;
    const tokens = draft.cost(entry);
    if (entry.pinned) {
      left -= tokens;
      continue;
    }
    const isText = entry.message.parts.every(({ kind }) => kind === 'text');
    if (tokens > left && (left < LEAST_HELD_TOKENS || !isText)) break;
    held.add(entry);
    if (tokens > left) return { held, crossing: { entry, tokensFreed: tokens - left } };
    left -= tokens;
  }
  return { held };
}

const TRUNCATES = 'truncate-user';

function truncation(crossing: HeldMessages['crossing']): readonly Proposal[] {
  const span = crossing === undefined ? undefined : spanOf([crossing.entry.node]);
  if (crossing === undefined || span === undefined) return [];
  const { tokensFreed } = crossing;
  return [{ strategy: TRUNCATES, span, tokensFreed, reason: 'a long message of the user' }];
}

/** Shows less of the present summary when what stays next to it leaves too little space. */
export function shrinkSummary(): Rung {
  return {
    name: 'shrink-summary',
    propose(context) {
      const { summary } = context.draft;
      if (summary === undefined) return [];
      const { span } = summary;
      const tokensFreed =
        shownTokens(summary, context) - shownTokens(shorter(summary, context), context);
      const reason = 'little space is left';
      return tokensFreed <= 0 ? [] : [{ strategy: 'shrink-summary', span, tokensFreed, reason }];
    },
    execute(_proposal, context) {
      const { summary } = context.draft;
      return Promise.resolve(summary === undefined ? undefined : shorter(summary, context));
    },
  };
}

const LEFT_OUT = '(left out for want of space)';

/** The summary in the space that is left: less of it, a note that it exists, or nothing. */
function shorter(record: SummarizeRecord, context: RungContext): SummarizeRecord {
  const { draft, counter, targetTokens } = context;
  const space = record.summaryTokens - (draft.tokens - targetTokens);
  const left = space < counter.text(LEFT_OUT) ? '' : LEFT_OUT;
  const isShown = taskIsShown(draft, record.summary, new Set());
  const text = fitSummaryText(record.summary, space, counter, isShown) ?? left;
  return { ...record, text, summaryTokens: counter.text(text) };
}

function shownTokens(record: SummarizeRecord, { draft, counter }: RungContext): number {
  const messages = summaryMessages(record, draft.style);
  return messages.reduce((sum, message) => sum + counter.message(message), 0);
}
