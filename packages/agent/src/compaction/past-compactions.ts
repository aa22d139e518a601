import type { Message, Plan, Session } from '@bobbin/core';
import {
  contextSize,
  currentSummary,
  renderSummary,
  type Node,
  type StoredEvent,
} from '@bobbin/core/internal';
import { compactionEnd, isCompaction } from './compaction-report.ts';
import type { CompactionEnd } from '../events.ts';
import type { AgentSession } from '../session/session.ts';
import { addUsage, NO_USAGE } from '../model/usage.ts';

/** A compaction that is in force. */
export interface PastCompaction {
  /** Of the plan that it made. */
  readonly version: number;
  readonly plan: Plan;
  /** What it reported; nothing if a branch took it over from the session that it comes from. */
  readonly events: readonly StoredEvent[];
}

/**
 * The compactions in force, the newest first. A plan may also be new because a long result was shortened, a message
 * pinned or a compaction undone; and what was made on another fork is not shown here.
 */
export async function compactionsInForce(
  { store, key, handle }: AgentSession,
  path: readonly Node[],
): Promise<readonly PastCompaction[]> {
  const ids = new Set<string>(path.map(({ id }) => id));
  const reported = Map.groupBy(await store.events(key), ({ version }) => version);
  const found: PastCompaction[] = [];
  for (let version = versionInForce(handle); version > 0; version--) {
    const plan = (await store.plan(key, version))?.plan;
    if (plan?.undid !== undefined) version = plan.undid;
    if (plan === undefined || plan.undid !== undefined) continue;
    const events = reported.get(version) ?? [];
    const isOnPath = plan.head !== null && ids.has(plan.head);
    if (isOnPath && isCompactionOf(plan, version, events)) found.push({ version, plan, events });
  }
  return found;
}

function isCompactionOf(plan: Plan, version: number, events: readonly StoredEvent[]): boolean {
  if (events.some(({ event }) => isCompaction(event))) return true;
  // A branch begins with the plan of the session it comes from, whose events stay there.
  const isTakenOver = version === 1 && events.length === 0;
  return isTakenOver && plan.records.some(({ kind }) => kind !== 'externalize');
}

/** The version of the newest plan whose changes are shown. */
export function versionInForce({ plan, version }: Session<unknown>): number {
  return plan.undid === undefined ? version : plan.undid - 1;
}

/** A compaction as it was shown when it was made, and after how many messages of the path that was. */
export interface ShownCompaction {
  readonly after: number;
  readonly end: CompactionEnd;
}

/** The compactions in force for a person who comes back, the oldest first. */
export async function shownCompactions(session: AgentSession): Promise<readonly ShownCompaction[]> {
  if (session.handle.version === 0) return [];
  const path = await session.path();
  const past = (await compactionsInForce(session, path)).toReversed();
  const messages = path.map(({ message }) => message);
  return past.map((compaction, i) => {
    const since = past[i - 1]?.plan.threadVersion ?? 0;
    const { threadVersion: after } = compaction.plan;
    return { after, end: endOf(compaction, i + 1, messages.slice(since, after), session) };
  });
}

function endOf(
  { version, plan, events }: PastCompaction,
  count: number,
  since: readonly Message[],
  { handle, systemTokens, toolTokens }: AgentSession,
): CompactionEnd {
  const own = events.map(({ event }) => event);
  const done = own.filter(isCompaction);
  const beside = systemTokens + toolTokens;
  const before = (done[0]?.tokensBefore ?? plan.tokensAfter) + beside;
  const after = (done.at(-1)?.tokensAfter ?? plan.tokensAfter) + beside;
  const { tokens, reportedTokens } = contextSize(since, handle.counter);
  const tokensBefore = reportedTokens === 0 ? before : tokens;
  const tokensAfter = Math.round(after * (tokensBefore / before));
  const paid = own.flatMap((event) =>
    event.kind === 'summary-report' && event.report.kind === 'called' ? [event.report.usage] : [],
  );
  const usage = paid.length === 0 ? undefined : paid.reduce(addUsage, NO_USAGE);
  const end = compactionEnd({ events: own, version }, { tokensBefore, tokensAfter, count }, usage);
  const summary = currentSummary(plan)?.summary;
  return end.summary !== undefined || summary === undefined
    ? end
    : { ...end, summary: renderSummary(summary) };
}
