import { errorText } from '../check/error-text.ts';
import { lastOf } from '../check/list.ts';
import { compact } from '../compact/compact.ts';
import type { Compaction, Job } from '../compact/compaction.ts';
import { firstSightTokens } from '../compact/policy.ts';
import { externalizeMedia } from '../compact/rungs/externalize-media.ts';
import { firstSight } from '../compact/rungs/first-sight.ts';
import type { Rung } from '../compact/rungs/rung.ts';
import type { CompactionEvent, EventDetail } from '../events.ts';
import { startsTurn, type MessageId } from '../message/message.ts';
import { type Plan, planOfBeginning, withoutReasoningFrom } from '../plan/plan.ts';
import { firedBecause, type Trigger, unseenTokens } from '../plan/trigger.ts';
import { unaggressive } from '../recall/reminder.ts';
import type { PromptBuilder } from '../render/builder.ts';
import type { Prompt } from '../render/prompt.ts';
import type { Node } from '../thread/thread.ts';
import { boundedTo, messageLimit } from '../tokens/budget.ts';
import { type Commit, commitPlan, commitUncommitted, uncommitted } from './commit.ts';
import { type Fitted, fittedPrompt, sendPrompt } from './fitted.ts';
import { startAtCompaction } from './provider-start.ts';
import { isBound, type Step, triggerInput } from './state/next.ts';
import { withPathFor, withUnitOf, withWholePath } from './path.ts';
import { pinUnit, unpinUnit } from './pinning.ts';
import { restoredPlan } from './plan-history.ts';
import { remind } from './remind.ts';
import { isReminded, messagesIn, withinReserve } from './state/reminding.ts';
import { changedFrom, isInLoop, isSignedFrom, type Sent } from './state/sent.ts';
import type { CompactOptions, Refusal } from './config/session-config.ts';
import {
  withoutReports,
  withNextExpiry,
  type SessionState,
  tried,
  withRefusal,
} from './state/state.ts';
import { callHook, emit, MOST_RACES, NOTHING_DONE, type Outcome, warn, type Work } from './work.ts';

type WorkOptions = CompactOptions & Pick<Job, 'forced' | 'rungs'>;

/** Compacts at any pressure. */
export async function compactNow<Wire>(
  work: Work<Wire>,
  options: CompactOptions = {},
): Promise<Fitted<Wire>> {
  const limit = messageLimit(work.state.config.budget);
  const outcome = await compactTo(work, limit, 'asked for', options);
  // A person who asks for a compaction says what comes next.
  return fittedPrompt(work, shownPrompt(work), outcome);
}

/** Compacts once if a trigger fires. If another writer was faster, its plan is in force. */
export async function compactIf<Wire>(
  work: Work<Wire>,
  trigger: Trigger,
  options: CompactOptions,
): Promise<Fitted<Wire>> {
  const reason = firedBecause(trigger, triggerInput(work.state, promptOf(work)));
  if (reason === undefined) return fittedPrompt(work, shownPrompt(work), NOTHING_DONE);
  const outcome = await compactOnce(work, reason, options);
  return fittedPrompt(work, shownPrompt(work), outcome, work.state.config.policy.continueWith);
}

/** Learns from a provider's refusal, and makes a prompt of at most half the size. */
export async function refused<Wire>(
  work: Work<Wire>,
  refusal: Refusal,
  options: CompactOptions,
): Promise<Fitted<Wire>> {
  const event = emit(work, { kind: 'refused', ...refusal });
  work.state = withRefusal(work.state, refusal);
  const half = Math.floor(promptOf(work).tokens / 2);
  const why = 'the provider refused the prompt';
  const { events, changed = false } = await compactTo(work, half, why, options);
  return sendPrompt(work, shownPrompt(work), { events: [event, ...events], changed });
}

/** Undoes the last compaction; false if there is none. */
export async function undo(work: Work): Promise<boolean> {
  const { store } = work.config;
  settled(work, await commitUncommitted(store, work.state));
  const restored = await restoredPlan(store, work.state);
  if (restored === undefined) return false;
  const [state, plan] = restored;
  work.state = state;
  const isCommitted = settled(work, await commitPlan(store, work.state, plan, []));
  // What was reported was about the prompt that is undone.
  work.state = withoutReports(work.state);
  if (isCommitted)
    work.state = { ...work.state, reminding: { ...work.state.reminding, placed: [] } };
  return isCommitted;
}

/** Keeps a message whole, with its calls or results. */
export async function pin(work: Work, id: MessageId): Promise<void> {
  if (work.state.plan.pins.includes(id)) return;
  const { store } = work.config;
  const [state, unit] = await withUnitOf(store, work.state, id);
  work.state = state;
  await commitSurely(work, `pin ${id}`, async () => {
    const [loaded, plan] = await pinUnit(store, work.state, unit);
    work.state = loaded;
    return plan;
  });
}

/** Undoes `pin`. */
export async function unpin(work: Work, id: MessageId): Promise<void> {
  const [state, unit] = await withUnitOf(work.config.store, work.state, id);
  work.state = state;
  if (!state.plan.pins.includes(id)) return;
  await commitSurely(work, `unpin ${id}`, async () => unpinUnit(work.state, unit));
}

/** Starts with the plan of a thread that shares its first messages. */
export async function takeOver(work: Work, plan: Plan): Promise<boolean> {
  if (plan.records.length > 0) work.state = { ...work.state, sent: { kind: 'elsewhere' } };
  const { lost } = await enforce(work, { ...plan, thread: work.state.key.thread }, []);
  return lost !== true;
}

/**
 * Goes on from the first messages of another session: with its plan, as far as that is about them, and with what it has
 * learnt. False if its plan is about other messages too. `answersLast` says that what follows answers the prompt that the
 * other session sent last.
 */
export async function inherit(
  work: Work,
  from: SessionState,
  answersLast: boolean,
): Promise<boolean> {
  const { thread, config, version } = work.state;
  const { counter } = from.config;
  work.state = { ...work.state, learning: from.learning, config: { ...config, counter } };
  const request = lastOf(thread.path(), ({ message }) => startsTurn(message))?.id;
  const beginning = { head: thread.head?.id ?? null, length: thread.length, request };
  const plan = planOfBeginning(from.plan, beginning, (id) => from.thread.get(id)?.index ?? 0);
  if (plan === undefined) return false;
  // What follows may answer a prompt that an earlier plan showed: its signed reasoning would be refused after this one.
  if (config.rules.bindsReasoning && !answersLast) return false;
  // What the other session sent of these messages was shown by the same plan.
  if (from.reminding.placed.length === 0) work.state = { ...work.state, sent: { kind: 'nothing' } };
  const isKnown = from.key.thread === work.state.key.thread && from.version === version;
  if (plan.threadVersion === 0 || isKnown) return true;
  work.state = await withPathFor(work.config.store, work.state, plan);
  await enforce(work, { ...plan, thread: work.state.key.thread }, []);
  return true;
}

/** Carries out a step towards a prompt. */
export async function takeStep(
  work: Work,
  step: Exclude<Step, { kind: 'ready' }>,
  options: CompactOptions,
): Promise<Outcome> {
  const { policy, budget } = work.state.config;
  const by = (reason: string, rungs: readonly Rung[]): Promise<Outcome> =>
    compactOnce(work, reason, { ...options, rungs });
  switch (step.kind) {
    case 'start-at-compaction':
      return startAtProviderCompaction(work, step.index);
    case 'expire':
      return by('time to live is over', []);
    case 'externalize-media':
      return leaveMediaOut(work, options);
    case 'shorten-unread': {
      const { sentMessages } = work.state.figures;
      return by('a large new result', [firstSight(sentMessages, firstSightTokens(policy, budget))]);
    }
    case 'restore-pins':
      return by('pins fit whole again', []);
    case 'trim':
      return by(
        step.reason,
        policy.ladder.filter(({ trims }) => trims !== undefined),
      );
    case 'compact':
      return compactOnce(work, step.reason, options);
    case 'postpone':
      return { events: [emit(work, { kind: 'postponed', reason: step.reason })] };
    case 'remind':
      return remindOfTurn(work);
    case 'release-reasoning':
      return releaseReasoning(work, options);
  }
}

/** Leaves pictures and files out. A running loop would be refused after that, so it is summarised instead. */
function leaveMediaOut(work: Work, options: CompactOptions): Promise<Outcome> {
  const reason = 'pictures and files have more bytes than a request may';
  const { mediaBytes = Number.POSITIVE_INFINITY } = work.state.config.rules;
  return isBound(work.state)
    ? compactOnce(work, reason, { ...options, forced: true })
    : compactOnce(work, reason, { ...options, rungs: [externalizeMedia(mediaBytes)] });
}

/** Begins at the provider's own compaction; pins that it no longer reads are reported. */
async function startAtProviderCompaction(work: Work, index: number): Promise<Outcome> {
  work.state = await withWholePath(work.config.store, work.state);
  const tokensBefore = promptOf(work).tokens;
  const start = startAtCompaction(work.state, index, tokensBefore);
  if (start === undefined) return NOTHING_DONE;
  const { plan, unreadPins } = start;
  const freed = tokensBefore - plan.tokensAfter;
  const events = [emit(work, { kind: 'provider-compacted', messages: index, freed })];
  const message = `the provider compacted the conversation: ${unreadPins} pinned messages before its compaction are no longer read; say them again`;
  if (unreadPins > 0) events.push(warn(work, message));
  const enforced = await enforce(work, plan, events);
  if (enforced.lost === true) return { events, lost: true };
  // The provider answered from its compaction on: what was sent before binds nothing that comes after it.
  work.state = { ...withoutReports(work.state), sent: { kind: 'nothing' } };
  return { events: [...events, ...enforced.events], changed: true };
}

/** Brings back what the present turn asks for, and records that in the store. */
async function remindOfTurn(work: Work): Promise<Outcome> {
  const [state, details] = await remind(work.config, work.state, promptOf(work));
  work.state = state;
  const events = details.map((detail) => emit(work, detail));
  if (events.length > 0)
    await work.config.store.record(work.state.key, [...events]).catch((error: unknown) => {
      events.push(warn(work, errorText(error)));
    });
  return { events };
}

/**
 * Leaves out reasoning that was signed after another prompt than the present one: a provider would refuse it. A
 * running loop would be refused without its reasoning, so it is summarised first.
 */
async function releaseReasoning(work: Work, options: CompactOptions): Promise<Outcome> {
  const from = await staleReasoningFrom(work);
  if (from === undefined) return NOTHING_DONE;
  const reason = 'the prompt of a running loop has changed';
  const folded = isInLoop(work.state)
    ? await compactOnce(work, reason, { ...options, forced: true })
    : NOTHING_DONE;
  if (folded.lost === true) return folded;
  const rest = await staleReasoningFrom(work);
  if (rest === undefined) return folded;
  const { plan, thread } = work.state;
  const enforced = await enforce(work, withoutReasoningFrom(plan, rest, thread.length), []);
  return { ...folded, ...enforced, events: [...folded.events, ...enforced.events] };
}

/** The index from which reasoning no longer holds although the plan shows it; undefined if there is none. */
async function staleReasoningFrom(work: Work): Promise<number | undefined> {
  if (work.state.sent.kind === 'resumed')
    work.state = { ...work.state, sent: await sentEarlier(work) };
  const from = changedFrom(work.state, messagesIn(work.state, promptOf(work)));
  return from !== undefined && isSignedFrom(work.state, from) ? from : undefined;
}

const REMINDERS: ReadonlySet<EventDetail['kind']> = new Set(['rehydrated', 'retrieved']);

/** What an earlier process sent had no reminders if it recorded none. */
async function sentEarlier({ config, state }: Work): Promise<Sent> {
  const events = await config.store.events(state.key).catch(() => undefined);
  const wasReminded = events?.some(({ event }) => REMINDERS.has(event.kind)) ?? true;
  return { kind: wasReminded ? 'elsewhere' : 'nothing' };
}

/** Compacts at any pressure, and again if another writer was faster with a plan that leaves too much. */
function compactTo(
  work: Work,
  mostTokens: number,
  reason: string,
  options: CompactOptions,
): Promise<Outcome> {
  const forced = { ...options, forced: true };
  const { reminding, config } = work.state;
  const bound = mostTokens < messageLimit(config.budget) ? mostTokens : undefined;
  work.state = { ...work.state, reminding: withinReserve(reminding, config) };
  return retryOnConflict(async () => {
    const { lost, ...made } = await compactOnce(work, reason, forced, bound);
    if (lost === true && promptOf(work).tokens > mostTokens) return { ...made, lost };
    if (!work.state.config.rules.bindsReasoning) return made;
    const released = await releaseReasoning(work, options);
    return { ...made, ...released, events: [...made.events, ...released.events] };
  });
}

/** Compacts to at most so many tokens, or to what the budget allows. */
async function compactOnce(
  work: Work,
  reason: string,
  options: WorkOptions,
  mostTokens?: number,
): Promise<Outcome> {
  const { config, thread } = work.state;
  const beforeTokens = promptOf(work).tokens;
  if (thread.head === undefined) return NOTHING_DONE;
  callHook(work.config.hooks, (hooks) => hooks.onBeforeCompaction?.({ beforeTokens }));
  const isCalm = options.forced !== true && isReminded(work.state);
  const policy = isCalm ? unaggressive(config.policy) : config.policy;
  const budget = mostTokens === undefined ? config.budget : boundedTo(config.budget, mostTokens);
  const job = jobOf(work, thread.head, reason, options);
  const made = await compact({ ...config, policy, budget }, job);
  const outcome = made.changed ? await putInForce(work, made) : { events: made.events };
  if (made.changed) work.state = withoutReports(work.state);
  else if (options.rungs === undefined && mostTokens === undefined) work.state = tried(work.state);
  if (outcome.lost !== true) work.state = withNextExpiry(work.state, config.clock.now());
  const afterTokens = promptOf(work).tokens;
  const figures = { beforeTokens, afterTokens, compactedTokens: beforeTokens - afterTokens };
  callHook(work.config.hooks, (hooks) => hooks.onAfterCompaction?.(figures));
  return outcome;
}

function jobOf(work: Work, head: Node, reason: string, options: WorkOptions): Job {
  const { thread, plan, figures } = work.state;
  const { task, sentMessages } = figures;
  return {
    key: work.state.key,
    head,
    window: thread.window(plan),
    plan,
    task,
    sent: sentMessages,
    reason,
    unseenTokens: unseenTokens(triggerInput(work.state, promptOf(work))),
    onEvent: (event) => callHook(work.config.hooks, (hooks) => hooks.onEvent?.(event)),
    ...options,
  };
}

async function putInForce(work: Work, { plan, events }: Compaction): Promise<Outcome> {
  const { undid: _, ...made } = plan;
  const enforced = await enforce(work, made, events);
  if (enforced.lost === true) return { events, lost: true };
  const { embedder, store } = work.config;
  if (embedder !== undefined)
    work.embedding.start(embedder, store, work.state.key, (why) =>
      warn(work, `recall goes by words alone: ${why}`),
    );
  return { events: [...events, ...enforced.events], changed: true };
}

/** Puts a plan in force. A store that fails costs the record of it, never the prompt. */
async function enforce(
  work: Work,
  plan: Plan,
  events: readonly CompactionEvent[],
): Promise<Outcome> {
  const commit = await commitPlan(work.config.store, work.state, plan, events);
  if (commit.kind !== 'failed')
    return settled(work, commit) ? NOTHING_DONE : { events: [], lost: true };
  work.state = uncommitted(commit.state, { plan, events });
  const message = `the plan could not be committed and holds in this process alone: ${errorText(commit.error)}`;
  return { events: [warn(work, message)] };
}

/** Continues with the state that a commit has left; false if another writer was faster. */
function settled(work: Work, commit: Commit): boolean {
  work.state = commit.state;
  if (commit.kind === 'failed') throw commit.error;
  return commit.kind === 'committed';
}

/** Commits a plan that is made again from the winner's if a race is lost. */
async function commitSurely(work: Work, what: string, make: () => Promise<Plan>): Promise<void> {
  const { lost } = await retryOnConflict(async () => {
    const plan = await make();
    const commit = await commitPlan(work.config.store, work.state, plan, []);
    return settled(work, commit) ? NOTHING_DONE : { events: [], lost: true };
  });
  if (lost === true)
    throw new Error(
      `thread ${work.state.key.thread} has other writers all the time: ${what} again`,
    );
}

function promptOf({ prompt, state }: Work): PromptBuilder {
  return prompt.of(state);
}

function shownPrompt(work: Work): Prompt {
  return promptOf(work).finish(work.state.config);
}

/** Runs something again while another writer is faster, from the state that the winner has left. */
async function retryOnConflict(run: () => Promise<Outcome>): Promise<Outcome> {
  let done = await run();
  for (let tries = 1; tries < MOST_RACES && done.lost === true; tries++) done = await run();
  return done;
}
