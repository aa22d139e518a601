import type { CompactorConfig } from '../../compact/compaction.ts';
import type { CompactionEvent } from '../../events.ts';
import { expiryOf, nextExpiry, type ToolPolicies } from '../../plan/tool-policy.ts';
import { currentSummary, emptyPlan, type Plan } from '../../plan/plan.ts';
import type { StoredWindow, ThreadKey } from '../../ports.ts';
import { PromptBuilder } from '../../render/builder.ts';
import {
  isSentMedia,
  startsTurn,
  textOf,
  type Message,
  type MessageId,
  type Part,
} from '../../message/message.ts';
import { type Node, Thread } from '../../thread/thread.ts';
import { budget as budgetOf, inWindow, messageLimit, type Budget } from '../../tokens/budget.ts';
import { scaled } from '../../tokens/calibration.ts';
import { type Counter, largestResultTokens } from '../../tokens/counter.ts';
import { usageTokens, validUsage } from '../../tokens/usage.ts';
import { learn, type Learning } from './learning.ts';
import { NO_REMINDERS, type Reminding } from './reminding.ts';
import type { Sent } from './sent.ts';
import { policyOf, shownBy } from '../config/config.ts';
import type {
  CompactOptions,
  Refusal,
  SessionChanges,
  SessionConfig,
} from '../config/session-config.ts';

/** What a session knows about its path without reading it again. Each figure is updated when a message arrives. */
export interface Figures {
  /** The thread's first user message. */
  readonly task: string | null;
  /** How many messages of the path were sent to a model. */
  readonly sentMessages: number;
  /** When the last prompt was made. */
  readonly sentAt?: number;
  /** What that prompt and the messages since cost; absent once the provider has reported its usage. */
  readonly unreportedTokens?: number;
  /** The largest tool result that no model has seen. */
  readonly largestUnsentTokens: number;
  /** The bytes of all pictures and files on the path, shown or not. */
  readonly mediaBytes: number;
  /** The index of the newest message in which the provider compacted the conversation. */
  readonly compactionAt?: number;
  /** The running turn contains reasoning that a provider bound to everything before it. */
  readonly signedInTurn: boolean;
  /** The newest answer calls tools: what the user says before the next one does not end the loop. */
  readonly inLoop: boolean;
  /** When the next message expires. */
  readonly nextExpiry: number;
  /** When the newest user message expires: it stays as long as it is the newest. */
  readonly newestExpiry: number;
  /** How long the path was when a compaction found nothing to do: it is not tried again until something is said. */
  readonly triedAt?: number;
  /** The budget has changed since the plan was made: the trigger is asked again. */
  readonly hasNewBudget?: boolean;
  /** The whole context as the provider reported it last, plus what came since; absent after a compaction. */
  readonly reportedTokens?: number;
}

const NO_FIGURES: Figures = {
  task: null,
  sentMessages: 0,
  largestUnsentTokens: 0,
  mediaBytes: 0,
  signedInTurn: false,
  inLoop: false,
  nextExpiry: Number.POSITIVE_INFINITY,
  newestExpiry: Number.POSITIVE_INFINITY,
};

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
  for (const { message } of thread.window(plan).carried)
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
    const { tokens } = new PromptBuilder(thread.window(plan, index), plan, state.config);
    state = learnt(state, { ...state.figures, unreportedTokens: tokens }, reported);
  }
  return state;
}

/** Messages were appended and stored. */
export function appended(before: SessionState, nodes: readonly Node[]): SessionState {
  let state = before;
  let { figures } = before;
  const { threadVersion } = before.plan;
  for (const node of nodes) {
    figures = withMessage(figures, node, state.config, threadVersion);
    if (node.message.meta?.usage === undefined) continue;
    state = learnt(state, figures, reportedInput(node, threadVersion));
    figures = state.figures;
  }
  return { ...state, thread: before.thread.extended(nodes), figures };
}

/** The input that a provider reported for the request that a message answers, if it reported any. */
function reportedInput(node: Node, since: number): number | undefined {
  const usage = node.index < since ? undefined : validUsage(node.message);
  return usage && usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** The figures with one more message. Usage reported before `since` describes another prompt and is ignored. */
function withMessage(
  before: Figures,
  { message, index }: Node,
  { counter, tools }: Pick<CompactorConfig, 'counter' | 'tools'>,
  since: number,
): Figures {
  let figures = before;
  // A model wrote it, so everything before it was sent.
  if (message.role === 'assistant') {
    const sentMessages = Math.max(figures.sentMessages, index);
    figures = { ...figures, sentMessages, largestUnsentTokens: 0, inLoop: false };
  }
  if (message.meta?.time !== undefined) figures = withExpiryOf(figures, message, tools);
  for (const part of message.parts) figures = withPart(figures, part, index);
  if (startsTurn(message)) figures = withTurn(figures, message, tools);
  const tokens = counter.message(message);
  const largest = largestResultTokens(message, tokens);
  if (largest > figures.largestUnsentTokens) figures = { ...figures, largestUnsentTokens: largest };
  const isReported = message.meta?.usage !== undefined && index >= since;
  const usage = isReported ? validUsage(message) : undefined;
  if (usage !== undefined) return { ...figures, reportedTokens: usageTokens(usage) };
  const { reportedTokens, unreportedTokens } = figures;
  if (reportedTokens === undefined && unreportedTokens === undefined) return figures;
  return {
    ...figures,
    ...(reportedTokens === undefined ? {} : { reportedTokens: reportedTokens + tokens }),
    ...(unreportedTokens === undefined ? {} : { unreportedTokens: unreportedTokens + tokens }),
  };
}

/** The figures with one part of the message at an index. */
function withPart(figures: Figures, part: Part, index: number): Figures {
  switch (part.kind) {
    case 'reasoning':
      return part.signature === undefined ? figures : { ...figures, signedInTurn: true };
    case 'opaque':
      return part.compaction === true ? { ...figures, compactionAt: index } : figures;
    case 'image':
    case 'file': {
      const bytes = isSentMedia(part) ? part.source.length : 0;
      return { ...figures, mediaBytes: figures.mediaBytes + bytes };
    }
    case 'result':
      return part.content.reduce((sum, inner) => withPart(sum, inner, index), figures);
    case 'call':
      return { ...figures, inLoop: true };
    case 'text':
      return figures;
  }
}

/** The newest user message does not expire; with a new one, the one before it may. */
function withTurn(figures: Figures, message: Message, tools: ToolPolicies): Figures {
  return {
    ...figures,
    task: figures.task ?? textOf(message),
    signedInTurn: figures.signedInTurn && figures.inLoop,
    nextExpiry: Math.min(figures.nextExpiry, figures.newestExpiry),
    newestExpiry:
      message.meta?.time === undefined ? Number.POSITIVE_INFINITY : expiryOf(message, tools),
  };
}

/** A shown message may expire. */
function withExpiryOf(figures: Figures, message: Message, tools: ToolPolicies): Figures {
  return { ...figures, nextExpiry: Math.min(figures.nextExpiry, expiryOf(message, tools)) };
}

/** The state with newer figures, and with what they teach if a provider has said how large the last request was. */
function learnt(
  state: SessionState,
  figures: Figures,
  reportedTokens: number | undefined,
): SessionState {
  const { unreportedTokens, ...known } = figures;
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
    figures: known,
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
export function sentElsewhere(state: SessionState, at: number): SessionState {
  const sentAt = Math.max(at, state.figures.sentAt ?? 0);
  return { ...state, figures: { ...state.figures, sentAt } };
}

/** The plan shows something else than before: what a provider reported no longer holds. */
export function withoutReports(state: SessionState): SessionState {
  const { reportedTokens: _, ...figures } = state.figures;
  return { ...state, figures: { ...figures, hasNewBudget: false } };
}

/** A compaction found nothing to do. */
export function tried(state: SessionState): SessionState {
  const figures = { ...state.figures, triedAt: state.thread.length, hasNewBudget: false };
  return { ...state, figures };
}

/** What has expired is hidden by now: notes when the next message expires. */
export function withNextExpiry(state: SessionState, now: number): SessionState {
  const { carried, tail } = state.thread.window(state.plan);
  const next = nextExpiry([...carried, ...tail], state.config.tools, now);
  return { ...state, figures: { ...state.figures, nextExpiry: next } };
}

function withBudget(state: SessionState, budget: Budget): SessionState {
  const { config, figures } = state;
  const isSame = messageLimit(budget) === messageLimit(config.budget);
  return {
    ...state,
    figures: isSame ? figures : { ...figures, hasNewBudget: true },
    config: { ...config, budget },
  };
}

/** A state whose host has changed the budget or the policy. */
export function withChanges(state: SessionState, changes: SessionChanges): SessionState {
  const { config } = state;
  const { policy: changed = config.policy } = changes;
  const policy = shownBy(policyOf(changed, 'policy'), config.policy.style);
  return withBudgetChanges({ ...state, config: { ...config, policy } }, changes.budget);
}

/** A state whose budget has some other figures. */
function withBudgetChanges(
  state: SessionState,
  changed: Partial<Budget> | undefined,
): SessionState {
  return changed === undefined
    ? state
    : withBudget(state, budgetOf({ ...state.config.budget, ...changed }));
}

/** A state that takes over what a request says of the host. */
export function withOptions(given: SessionState, options: CompactOptions): SessionState {
  const state = withBudgetChanges(given, options.budget);
  const policy = shownBy(state.config.policy, options);
  return policy === state.config.policy ? state : { ...state, config: { ...state.config, policy } };
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
