import type { CompactorConfig } from '../../compact/compaction.ts';
import type { CompactionEvent } from '../../events.ts';
import { nextExpiry } from '../../plan/expiry.ts';
import { currentSummary, emptyPlan, windowOf, type Plan } from '../../plan/plan.ts';
import type { StoredWindow, ThreadKey } from '../../ports.ts';
import { PromptBuilder } from '../../render/builder.ts';
import type { Message, MessageId } from '../../message/message.ts';
import { Thread, type Node } from '../../thread/thread.ts';
import { inWindow, messageLimit, type Budget } from '../../tokens/budget.ts';
import { scaled } from '../../tokens/calibration.ts';
import type { Counter } from '../../tokens/counter.ts';
import {
  NO_FIGURES,
  reportedInput,
  withExpiryOf,
  withMessage,
  withoutReport,
  withoutUnreported,
  type Figures,
} from './figures.ts';
import { learn, type Learning } from './learning.ts';
import { NO_REMINDERS, type Reminding } from './reminding.ts';
import type { Sent } from './sent.ts';
import type { Refusal, SessionConfig } from '../config/session-config.ts';

/** A plan that is in force but could not be committed. */
export interface UncommittedPlan {
  readonly plan: Plan;
  readonly events: readonly CompactionEvent[];
}

/** All that a session knows. It is never changed: each function below returns the next state. */
export interface SessionState {
  readonly key: ThreadKey;
  /** The configuration in force; its counter contains what was learnt. */
  readonly config: CompactorConfig;
  /** The counter without what was learnt. */
  readonly unscaled: Counter;
  readonly learning: Learning;
  /** The path of the conversation, as far as it is in memory. */
  readonly thread: Thread;
  readonly plan: Plan;
  /** The version of the plan in force; 0 if there is none. */
  readonly version: number;
  /** The newest version of the whole thread, forks included: a commit must expect it. */
  readonly latest: number;
  /** Plans that the store did not take, oldest first. Each is based on the one before it. */
  readonly uncommitted: readonly UncommittedPlan[];
  readonly figures: Figures;
  /** The forms in which the host sent known messages last: it may move its cache markers. */
  readonly resent: ReadonlyMap<MessageId, Message>;
  readonly reminding: Reminding;
  readonly sent: Sent;
}

/** The state of a new session, or of one that the store knows. */
export function startState(
  key: ThreadKey,
  config: SessionConfig<unknown>,
  stored?: StoredWindow,
): SessionState {
  const { calibration } = config;
  const plan = stored?.current?.plan ?? emptyPlan(key.thread, config.policy.style);
  const fresh: SessionState = {
    key,
    config,
    unscaled: config.unscaled,
    learning: { calibration, besideTokens: 0, lastUnits: Number.POSITIVE_INFINITY },
    thread: new Thread(key.thread),
    plan,
    version: 0,
    latest: 0,
    uncommitted: [],
    figures: NO_FIGURES,
    resent: new Map(),
    reminding: NO_REMINDERS,
    sent: { kind: 'nothing' },
  };
  return stored === undefined ? fresh : withStored(fresh, stored);
}

/** More reports than these teach nothing new, and each one checks the prompt that it is about. */
const MOST_REPORTS = 20;

/** Reads the stored messages, and learns from the newest answers to prompts of the plan in force, oldest first. */
function withStored(fresh: SessionState, stored: StoredWindow): SessionState {
  const { plan, config, key } = fresh;
  const thread = Thread.resume(key.thread, stored.carried, stored.tail);
  let figures: Figures = { ...NO_FIGURES, task: currentSummary(plan)?.summary.task ?? null };
  const answers: (readonly [index: number, reportedTokens: number])[] = [];
  for (const node of thread.path()) {
    const reported = reportedInput(node, plan.threadVersion);
    figures = withMessage(figures, node, config, plan.threadVersion);
    if (reported !== undefined) answers.push([node.index, reported]);
  }
  for (const { message } of windowOf(thread, plan).carried)
    figures = withExpiryOf(figures, message, config.tools);
  let state: SessionState = {
    ...fresh,
    thread,
    version: stored.current?.version ?? 0,
    latest: stored.version,
    figures,
    ...(plan.records.length === 0 ? {} : { sent: { kind: 'resumed' } }),
  };
  const taught = plan.undid === undefined ? answers.slice(-MOST_REPORTS) : [];
  for (const [index, reported] of taught) {
    const { tokens } = new PromptBuilder(windowOf(thread, plan, index), plan, state.config);
    state = learnt(state, { ...state.figures, unreportedTokens: tokens }, reported);
  }
  return state;
}

/** Messages were appended and stored. */
export function appended(before: SessionState, nodes: readonly Node[]): SessionState {
  let state: SessionState = { ...before, thread: before.thread.extended(nodes) };
  let { figures } = before;
  const { threadVersion } = before.plan;
  for (const node of nodes) {
    figures = withMessage(figures, node, state.config, threadVersion);
    if (node.message.meta?.usage === undefined) continue;
    state = learnt(state, figures, reportedInput(node, threadVersion));
    figures = state.figures;
  }
  return { ...state, figures };
}

/** The state with newer figures, and with what they teach if a provider has said how large the last request was. */
function learnt(
  state: SessionState,
  figures: Figures,
  reportedTokens: number | undefined,
): SessionState {
  const { unreportedTokens } = figures;
  if (unreportedTokens === undefined || reportedTokens === undefined) return { ...state, figures };
  const { learning, budget, recalibrated } = learn(
    state.learning,
    state.config.budget,
    unreportedTokens,
    reportedTokens,
  );
  const counter = recalibrated
    ? scaled(state.unscaled, learning.calibration)
    : state.config.counter;
  return {
    ...state,
    learning,
    config: { ...state.config, budget, counter },
    figures: withoutUnreported(figures),
  };
}

/** A provider refused a request: its size is known, and perhaps the window. */
export function withRefusal(
  state: SessionState,
  { requestTokens, limitTokens }: Refusal,
): SessionState {
  const known = learnt(state, state.figures, requestTokens);
  const { budget } = known.config;
  const windowTokens = Math.min(budget.windowTokens, limitTokens ?? Number.POSITIVE_INFINITY);
  return withBudget(known, inWindow(budget, windowTokens));
}

/** Another process sent a prompt at some time, unless this one has sent a later one. */
export function sentBefore(state: SessionState, at: number): SessionState {
  const sentAt = Math.max(at, state.figures.sentAt ?? 0);
  return { ...state, figures: { ...state.figures, sentAt } };
}

/** A plan is in force and committed as the next version. */
export function committed(state: SessionState, plan: Plan): SessionState {
  const version = state.latest + 1;
  return { ...state, thread: released(state.thread, plan), plan, version, latest: version };
}

/** Messages that a plan does not show are in the store: from this many on, they leave the memory. */
const RELEASED_MESSAGES = 32;

function released(thread: Thread, plan: Plan): Thread {
  return plan.start - thread.base < RELEASED_MESSAGES
    ? thread
    : thread.released(plan.start, windowOf(thread, plan).carried);
}

/** A plan is in force although the store did not take it. */
export function uncommitted(state: SessionState, pending: UncommittedPlan): SessionState {
  return { ...state, plan: pending.plan, uncommitted: [...state.uncommitted, pending] };
}

/** The oldest plan that the store had not taken is committed. */
export function withOldestCommitted(state: SessionState): SessionState {
  const version = state.latest + 1;
  return { ...state, version, latest: version, uncommitted: state.uncommitted.slice(1) };
}

/** Another writer committed first: its plan is in force. */
export function overtaken(state: SessionState, stored: StoredWindow | undefined): SessionState {
  return {
    ...state,
    plan: stored?.current?.plan ?? state.plan,
    version: stored?.current?.version ?? state.version,
    latest: stored?.version ?? state.latest,
    uncommitted: [],
  };
}

/** The plan shows something else than before: what a provider reported no longer holds. */
export function compacted(state: SessionState): SessionState {
  return { ...state, figures: { ...withoutReport(state.figures), hasNewBudget: false } };
}

/** A compaction found nothing to do. */
export function tried(state: SessionState): SessionState {
  const figures = { ...state.figures, triedAt: state.thread.length, hasNewBudget: false };
  return { ...state, figures };
}

/** Everything that has expired is hidden. */
export function expired(state: SessionState, now: number): SessionState {
  const { carried, tail } = windowOf(state.thread, state.plan);
  const next = nextExpiry([...carried, ...tail], state.config.tools, now);
  return { ...state, figures: { ...state.figures, nextExpiry: next } };
}

export function withBudget(state: SessionState, budget: Budget): SessionState {
  const { config, figures } = state;
  const isSame = messageLimit(budget) === messageLimit(config.budget);
  return {
    ...state,
    figures: isSame ? figures : { ...figures, hasNewBudget: true },
    config: { ...config, budget },
  };
}

/** The host sent known messages again, in another form. */
export function resent(
  state: SessionState,
  messages: readonly Message[],
  index: number,
): SessionState {
  if (messages.length === 0) return state;
  const forms = new Map(state.resent);
  for (const [i, message] of messages.entries()) {
    const node = state.thread.at(index + i);
    if (node !== undefined) forms.set(node.id, message);
  }
  return { ...state, resent: forms };
}
