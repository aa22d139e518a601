import type {
  Budget,
  Counter,
  Message,
  MessageId,
  Part,
  Plan,
  Prompt,
  ProviderRules,
} from '@bobbin/core';
import {
  isOpaque,
  resultsOf,
  callsOf,
  hasCalls,
  hasResults,
  startsTurn,
  unitStarts,
  type CacheLimits,
  type Node,
  type PlanRecord,
  type PromptMessage,
  type Thread,
} from '@bobbin/core/internal';
import { withoutReminders } from '../reminders.ts';

/** What a prompt was made under. */
export interface LawContext {
  readonly rules: ProviderRules;
  /** The counter that the prompt was made with. Every message is counted afresh. */
  readonly counter: Counter;
  /** The most that the messages may cost; no bound if absent. */
  readonly limitTokens?: number;
  /** What the session reported: false if the pins alone exceed the limit. */
  readonly fits?: boolean;
  /** The share of the limit beyond which the policy shortens pins although other messages stay. */
  readonly largePinsShare?: number;
  readonly cacheLimits?: CacheLimits;
  /** What the host sends before the messages; nothing if absent. */
  readonly budget?: Pick<Budget, 'systemTokens' | 'toolTokens'>;
  /** What reminders may cost in addition to the limit; nothing if absent. */
  readonly reserveTokens?: number;
  /** The plans of the thread before this one, oldest first. */
  readonly earlier?: readonly Plan[];
  /** Prompts that went out before, each with the length of the path then. */
  readonly sent?: readonly SentPrompt[];
  /** What runs the case again, named in the error. */
  readonly seed?: number | string;
}

export interface SentPrompt {
  readonly length: number;
  readonly messages: readonly PromptMessage[];
  /** The plan that it was made with, if the same process goes on: it alone knows its reminders. */
  readonly plan?: Plan;
}

/** A law that a prompt breaks, and where. */
export interface Breach {
  readonly law: string;
  readonly detail: string;
}

/** A prompt with all that led to it, read once so that each law can be short. */
export interface Scene {
  readonly thread: Thread;
  readonly plan: Plan;
  /** What the model reads. */
  readonly whole: Prompt;
  /** The same without reminders: what the plan makes. */
  readonly prompt: Prompt;
  readonly context: LawContext;
  /** The messages that the plan lets into the prompt's making, in order. */
  readonly window: readonly Node[];
  /** The record that names a message, if one does. */
  readonly recordOf: ReadonlyMap<MessageId, PlanRecord>;
  /** Positions in the prompt that show a message of the thread. */
  readonly positionsOf: ReadonlyMap<MessageId, readonly number[]>;
  /** Messages that are never compacted while there is another way. */
  readonly pins: ReadonlySet<MessageId>;
  /** Pins, and the messages that cannot be parted from them. */
  readonly pinnedUnits: ReadonlySet<MessageId>;
  /** Messages of the last round while it waits for results. */
  readonly pending: ReadonlySet<MessageId>;
}

export function sceneOf(thread: Thread, plan: Plan, whole: Prompt, context: LawContext): Scene {
  const prompt = withoutReminders(whole);
  const { carried, tail } = thread.window(plan);
  const window = [...carried, ...tail];
  const recordOf = new Map<MessageId, PlanRecord>();
  for (const record of plan.records) for (const id of record.span.ids) recordOf.set(id, record);
  const pins = pinsOf(window, plan);
  return {
    thread,
    plan,
    whole,
    prompt,
    context,
    window,
    recordOf,
    positionsOf: positions(prompt),
    pins,
    pinnedUnits: wholeUnits(window, pins),
    pending: pendingRound(thread.path()),
  };
}

/** True for a record that leaves nothing in its messages' own places. */
export function takesAway(record: PlanRecord | undefined): boolean {
  switch (record?.kind) {
    case undefined:
    case 'clear':
      return false;
    case 'externalize':
      return record.span.ids.length > 1;
    case 'summarize':
    case 'drop':
      return true;
  }
}

function positions(prompt: Prompt): ReadonlyMap<MessageId, readonly number[]> {
  const found = new Map<MessageId, number[]>();
  prompt.messages.forEach(({ source }, position) => {
    if (source.kind !== 'kept' && source.kind !== 'changed') return;
    found.set(source.id, [...(found.get(source.id) ?? []), position]);
  });
  return found;
}

function pinsOf(window: readonly Node[], plan: Plan): ReadonlySet<MessageId> {
  const pinned = new Set(plan.pins);
  const newestUser = window.findLast(({ message }) => startsTurn(message));
  const stays = (node: Node): boolean =>
    node === newestUser || pinned.has(node.id) || isPinnedByItself(node.message);
  return new Set(window.filter(stays).map(({ id }) => id));
}

function isPinnedByItself(message: Message): boolean {
  return message.role === 'system' || message.meta?.pinned === true || isOpaque(message);
}

function wholeUnits(window: readonly Node[], pins: ReadonlySet<MessageId>): ReadonlySet<MessageId> {
  const starts = unitStarts(window.map(({ message }) => message));
  const found = new Set<MessageId>();
  starts.forEach((start, i) => {
    const unit = window.slice(start, starts[i + 1] ?? window.length);
    if (unit.some(({ id }) => pins.has(id))) for (const { id } of unit) found.add(id);
  });
  return found;
}

/**
 * The messages of the path's last round, while calls of it wait for their results. A round is a run of assistant
 * messages with calls and the results after it; any other speaker ends it, but a tool without a result does not.
 */
function pendingRound(path: readonly Node[]): ReadonlySet<MessageId> {
  let start: number | undefined;
  let answering = false;
  const open = new Set<string>();
  path.forEach(({ message }, i) => {
    const answers = hasResults(message) && message.role !== 'assistant';
    if (message.role === 'assistant' ? answering : message.role !== 'tool' && !answers) {
      start = undefined;
      open.clear();
    }
    answering = answers || (answering && message.role === 'tool');
    if (hasCalls(message)) start ??= i;
    for (const { callId } of callsOf(message)) open.add(callId);
    for (const { callId } of resultsOf(message)) open.delete(callId);
    if (open.size === 0) start = undefined;
  });
  return new Set(start === undefined ? [] : path.slice(start).map(({ id }) => id));
}

/** What a message says, without what a session notes about it: only that is sent. */
export function withoutMeta<T extends Message | Part>(value: T): Omit<T, 'meta'> {
  const { meta: _, ...content } = value as T & { readonly meta?: unknown };
  return content;
}
