import type { SessionCompaction } from '@bobbin/codecs';
import { textMessage, type Counter, type Message } from '@bobbin/core';
import {
  inventory,
  isOpaque,
  ITEM_CLASSES,
  PRESETS,
  Wording,
  type AuditItem,
  type ItemClass,
  type Presence,
} from '@bobbin/core/internal';
import { compacted, settingsFor, type CompactRequest } from '../compact/compacted.ts';
import type { COUNTERS } from '../compact/counters.ts';
import type { Conversation } from '../input/conversation.ts';

/** An item of a conversation and what became of it in a compaction. */
export interface AuditedItem extends AuditItem {
  /** Whether it is in what the agent was given after the compaction. */
  readonly agent: Presence;
  /** Whether it is in what Bobbin would have given, of the same size. */
  readonly bobbin: Presence;
  /** The first message after the compaction in which the agent itself says or uses it. */
  readonly neededAt?: number;
}

interface CompactionPlace {
  /** How many messages came before it. */
  readonly after: number;
  readonly time?: number;
  /** The tokens of the prompt before it, as the file reports them, or as they are counted. */
  readonly tokensBefore: number;
}

/** One compaction that a harness made, and what was lost in it. */
export type CompactionAudit =
  | (CompactionPlace & {
      readonly kind: 'audited';
      /** The tokens of what the agent was given in place of the messages. */
      readonly tokensGiven: number;
      readonly bobbin: { readonly tokens: number; readonly fits: boolean };
      readonly items: readonly AuditedItem[];
    })
  /** Only the provider can read what the agent was given: nothing is known of a loss. */
  | (CompactionPlace & { readonly kind: 'unreadable' });

export interface SessionAudit {
  readonly format: string;
  readonly model?: string;
  readonly messages: number;
  readonly counter: string;
  readonly compactions: readonly CompactionAudit[];
}

export interface AuditRequest {
  readonly counter?: keyof typeof COUNTERS;
  readonly model?: string;
  /** Called before each compaction is audited. */
  readonly onProgress?: (done: number, of: number) => Promise<void>;
}

/** Audits every compaction of a session. */
export async function auditSession(
  conversation: Conversation,
  { onProgress, ...request }: AuditRequest = {},
): Promise<SessionAudit> {
  const compact: CompactRequest = { ...request, format: 'auto', policy: PRESETS.ladder };
  const { counter, model } = await settingsFor(compact, conversation);
  const { messages, compactions, format } = conversation;
  const spoken = messages.map((message) =>
    message.role === 'assistant' ? Wording.byAgent([message]) : undefined,
  );
  const found: CompactionAudit[] = [];
  for (const i of compactions.keys()) {
    await onProgress?.(i, compactions.length);
    found.push(await auditOf(conversation, i, { compact, counter, spoken }));
  }
  return {
    format,
    ...(model === undefined ? {} : { model }),
    messages: messages.length,
    counter: counter.name,
    compactions: found,
  };
}

interface Surroundings {
  readonly compact: CompactRequest;
  readonly counter: Counter;
  /** What the agent said and called in each message of the session; nothing for the messages of others. */
  readonly spoken: readonly (Wording | undefined)[];
}

async function auditOf(
  conversation: Conversation,
  at: number,
  { compact, counter, spoken }: Surroundings,
): Promise<CompactionAudit> {
  const { messages, compactions } = conversation;
  const compaction = compactions[at] as SessionCompaction;
  const { after, time, tokensBefore } = compaction;
  const sizeOf = (some: readonly Message[]): number =>
    some.reduce((sum, message) => sum + counter.message(message), 0);
  const before = { ...conversation, messages: messages.slice(0, after) };
  const place: CompactionPlace = {
    after,
    ...(time === undefined ? {} : { time }),
    tokensBefore: tokensBefore || sizeOf(before.messages),
  };
  const given = givenAfter(messages, compaction);
  if (!isReadable(given, compaction)) return { kind: 'unreadable', ...place };
  const tokensGiven = sizeOf(given);
  const settings = await settingsFor({ ...compact, budgetTokens: tokensGiven }, before);
  const { fitted } = await compacted(settings, before);
  const prompt = fitted.prompt.messages.map(({ message }) => message);
  const texts: Texts = { after, agent: Wording.of(given), bobbin: Wording.of(prompt), spoken };
  return {
    kind: 'audited',
    ...place,
    tokensGiven,
    bobbin: { tokens: fitted.prompt.tokens, fits: fitted.fits },
    items: known(messages, compactions, at).map((item) => audited(item, texts)),
  };
}

function isReadable(given: readonly Message[], { summary }: SessionCompaction): boolean {
  return summary !== '' || (given.length > 0 && !given.some(isOpaque));
}

/** What the agent was given in place of the messages before a compaction. */
function givenAfter(
  messages: readonly Message[],
  { summary, received, firstKept, after }: SessionCompaction,
): readonly Message[] {
  if (received !== undefined) return received;
  const kept = messages.slice(firstKept, after);
  return summary === '' ? kept : [textMessage('user', summary), ...kept];
}

/** What the agent knew just before a compaction: what it lost in an earlier one does not count again. */
function known(
  messages: readonly Message[],
  compactions: readonly SessionCompaction[],
  at: number,
): readonly AuditItem[] {
  const { after } = compactions[at] as SessionCompaction;
  const items = inventory(messages.slice(0, after));
  const previous = compactions[at - 1];
  if (previous === undefined) return items;
  const given = Wording.of(givenAfter(messages, previous));
  return items.filter((item) => item.at >= previous.after || given.holds(item) !== 'absent');
}

interface Texts extends Pick<Surroundings, 'spoken'> {
  readonly after: number;
  readonly agent: Wording;
  readonly bobbin: Wording;
}

function audited(item: AuditItem, { after, agent, bobbin, spoken }: Texts): AuditedItem {
  const neededAt = spoken.findIndex(
    (wording, i) => i >= after && wording !== undefined && wording.holds(item) !== 'absent',
  );
  return {
    ...item,
    agent: agent.holds(item),
    bobbin: bobbin.holds(item),
    ...(neededAt < 0 ? {} : { neededAt }),
  };
}

/** The items of all compactions of some sessions. */
export function itemsOf(sessions: readonly SessionAudit[]): readonly AuditedItem[] {
  return sessions
    .flatMap(({ compactions }) => compactions)
    .flatMap((compaction) => (compaction.kind === 'audited' ? compaction.items : []));
}

/** How many items of a class were there, and what became of them. */
export interface ClassTotal {
  readonly class: ItemClass | 'all';
  readonly said: number;
  readonly agent: Readonly<Record<Presence, number>>;
  readonly bobbin: Readonly<Record<Presence, number>>;
  /** How many of the lost ones the agent used later. */
  readonly agentNeeded: number;
  readonly bobbinNeeded: number;
}

/** The totals of each class that has items, and of all. */
export function totalsOf(items: readonly AuditedItem[]): readonly ClassTotal[] {
  const classes = ITEM_CLASSES.map((name) =>
    totalOf(
      name,
      items.filter((item) => item.class === name),
    ),
  );
  return [...classes.filter(({ said }) => said > 0), totalOf('all', items)];
}

function totalOf(name: ClassTotal['class'], items: readonly AuditedItem[]): ClassTotal {
  const count = (by: 'agent' | 'bobbin', presence: Presence): number =>
    items.filter((item) => item[by] === presence).length;
  const lost = (by: 'agent' | 'bobbin'): number =>
    items.filter((item) => item[by] === 'absent' && item.neededAt !== undefined).length;
  const presences = (by: 'agent' | 'bobbin'): Record<Presence, number> => ({
    exact: count(by, 'exact'),
    alike: count(by, 'alike'),
    absent: count(by, 'absent'),
  });
  return {
    class: name,
    said: items.length,
    agent: presences('agent'),
    bobbin: presences('bobbin'),
    agentNeeded: lost('agent'),
    bobbinNeeded: lost('bobbin'),
  };
}
