import type { MessageId, ThreadId, Usage } from '@bobbin/core';
import type { Erasure, StoredPlace } from '@bobbin/core/internal';

/** One request of a client, when it goes out. */
export interface LedgerRequest {
  /** Any name that no other request has. */
  readonly id: string;
  readonly tenant: string;
  /** Absent if the request belongs to no conversation, or to one that could not be recognised. */
  readonly thread?: ThreadId;
  /** The name that the client gave to its conversation; absent if it gave none. */
  readonly name?: string;
  /** The last message of the request, if it has a thread. */
  readonly head?: MessageId;
  readonly at: number;
  readonly model: string;
  readonly protocol: string;
  /** What was done with it: the gateway's word. */
  readonly action: string;
  /** The whole request as the client sent it, and as it went out. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The client did not send it: the gateway did, to answer calls of its own tools. */
  readonly isToolRound?: true;
}

/** What is known of a request once it was answered. */
export interface LedgerAnswer {
  readonly status: number;
  /** From the provider's own response; absent if it reported nothing. */
  readonly usage?: Usage;
  /** What the input cost, and what the full history would have cost, in tokens of fresh input. */
  readonly paidTokens?: number;
  readonly fullTokens?: number;
  /** The answer in the provider's own form. */
  readonly answer?: string;
  /** The action, if it changed after the request went out. */
  readonly action?: string;
  readonly tokensAfter?: number;
}

export type LedgerEntry = LedgerRequest & Partial<LedgerAnswer>;

/** What some requests came to. */
export interface LedgerSum {
  /** Those that clients sent: the steps of their agents. */
  readonly requests: number;
  /** Those that the gateway sent in addition, to answer calls of its own tools. */
  readonly toolRounds: number;
  readonly compactions: number;
  readonly usage: Usage;
  readonly paidTokens: number;
  readonly fullTokens: number;
  /** What summaries by a model cost in addition to the requests. */
  readonly summaryTokens: number;
  /** The net saving: what the full histories would have cost, less what requests and summaries cost. */
  readonly savedTokens: number;
}

/** Rounds of a model that its client has not seen, in the provider's own form. */
export interface HiddenRounds {
  /** The name of the client's list that the rounds follow. */
  readonly key: string;
  readonly rounds: string;
}

export interface NotedThread {
  readonly thread: ThreadId;
  /** When the newest note was made. */
  readonly at: number;
}

/**
 * Keeps what each request cost, and finds the thread of a list of messages that this process has not seen. It is shared
 * by as many processes as its store.
 */
export interface Ledger {
  /** Bytes that only the processes of this ledger know, the same for all of them. */
  secret(): Promise<Uint8Array>;
  /** Notes a request before its answer, so that any process recognises what follows it. Repeated, it changes nothing. */
  begin(request: LedgerRequest): Promise<void>;
  finish(tenant: string, id: string, answer: LedgerAnswer): Promise<void>;
  /** Notes what a summary by a model cost, in tokens of fresh input. */
  addSummary(tenant: string, thread: ThreadId, at: number, tokens: number): Promise<void>;
  /** Keeps rounds that a client's next list does not have. */
  addRounds(tenant: string, thread: ThreadId, at: number, hidden: HiddenRounds): Promise<void>;
  /** The hidden rounds that follow some lists, the newest first. */
  rounds(tenant: string, keys: readonly string[]): Promise<readonly HiddenRounds[]>;
  /** The newest request before a time on a thread. */
  previous(tenant: string, thread: ThreadId, before: number): Promise<LedgerEntry | undefined>;
  /**
   * The place of the last of some ids that ended a request, also of a request that this process is still writing. With a name, only requests under that name, and those of the
   * thread that is called so, are looked at.
   */
  locate(
    tenant: string,
    ids: readonly MessageId[],
    name?: string,
  ): Promise<StoredPlace | undefined>;
  /** The requests of a thread, oldest first, after a time. */
  entries(tenant: string, thread: ThreadId, after?: number): Promise<readonly LedgerEntry[]>;
  sum(tenant?: string, thread?: ThreadId, since?: number): Promise<LedgerSum>;
  /** All threads of a tenant that something is noted of. */
  threads(tenant: string): Promise<readonly NotedThread[]>;
  delete(what: Erasure): Promise<void>;
  close(): Promise<void>;
}

/** A row of either database. */
export interface LedgerRow {
  readonly id: string;
  readonly tenant: string;
  readonly thread: string | null;
  readonly name: string | null;
  readonly head: string | null;
  readonly at: number | string;
  readonly model: string;
  readonly protocol: string;
  readonly action: string;
  readonly tokens_before: number | string;
  readonly tokens_after: number | string;
  readonly tool_round: number;
  readonly status: number | null;
  readonly usage: string | null;
  readonly paid: number | null;
  readonly whole: number | null;
  readonly answer: string | null;
}

export interface PlaceRow extends Pick<LedgerRow, 'name' | 'at' | 'usage'> {
  readonly thread: string;
  readonly head: string;
}

/** The columns of a new request, in the order of `REQUEST_COLUMNS`. */
export function requestValues(request: LedgerRequest): readonly (string | number | null)[] {
  const { tenant, id, thread = null, name = null, head = null, at, model } = request;
  const { protocol, action, tokensBefore, tokensAfter, isToolRound } = request;
  const sizes = [tokensBefore, tokensAfter, isToolRound === true ? 1 : 0];
  return [tenant, id, thread, name, head, at, model, protocol, action, ...sizes];
}

export const REQUEST_COLUMNS =
  'tenant, id, thread, name, head, at, model, protocol, action, tokens_before, tokens_after, tool_round';

/** What an answer adds to its request: status, usage, paid, whole, answer, action, tokens_after. */
export function answerValues(answer: LedgerAnswer): readonly (string | number | null)[] {
  const { status, usage, paidTokens = null, fullTokens = null } = answer;
  return [
    status,
    usage === undefined ? null : JSON.stringify(usage),
    paidTokens,
    fullTokens,
    // PostgreSQL keeps no NUL.
    answer.answer?.replaceAll('\u0000', '') ?? null,
    answer.action ?? null,
    answer.tokensAfter ?? null,
  ];
}

export function entryOf(row: LedgerRow): LedgerEntry {
  return {
    id: row.id,
    tenant: row.tenant,
    ...(row.thread === null ? {} : { thread: row.thread as ThreadId }),
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.head === null ? {} : { head: row.head as MessageId }),
    at: Number(row.at),
    model: row.model,
    protocol: row.protocol,
    action: row.action,
    tokensBefore: Number(row.tokens_before),
    tokensAfter: Number(row.tokens_after),
    ...(row.tool_round === 0 ? {} : { isToolRound: true }),
    ...(row.status === null ? {} : { status: row.status }),
    ...(row.usage === null ? {} : { usage: JSON.parse(row.usage) as Usage }),
    ...(row.paid === null ? {} : { paidTokens: row.paid }),
    ...(row.whole === null ? {} : { fullTokens: row.whole }),
    ...(row.answer === null ? {} : { answer: row.answer }),
  };
}

export function placeOf(row: PlaceRow): StoredPlace {
  return {
    thread: row.thread,
    ...(row.name === null ? {} : { name: row.name }),
    head: row.head as MessageId,
    sentAt: Number(row.at),
    ...(row.usage === null ? {} : { usage: JSON.parse(row.usage) as Usage }),
  };
}

/** A row of sums of either database. */
export interface SumRow {
  readonly requests: number | string | null;
  readonly tool_rounds: number | string | null;
  readonly compactions: number | string | null;
  readonly fresh: number | string | null;
  readonly cache_write: number | string | null;
  readonly cache_read: number | string | null;
  readonly output: number | string | null;
  readonly paid: number | string | null;
  readonly whole: number | string | null;
}

export function sumOf(row: SumRow, summaryTokens: number): LedgerSum {
  const [paidTokens, fullTokens] = [Number(row.paid ?? 0), Number(row.whole ?? 0)];
  return {
    requests: Number(row.requests ?? 0),
    toolRounds: Number(row.tool_rounds ?? 0),
    compactions: Number(row.compactions ?? 0),
    usage: {
      inputTokens: Number(row.fresh ?? 0),
      cacheWriteTokens: Number(row.cache_write ?? 0),
      cacheReadTokens: Number(row.cache_read ?? 0),
      outputTokens: Number(row.output ?? 0),
    },
    paidTokens,
    fullTokens,
    summaryTokens,
    savedTokens: fullTokens - paidTokens - summaryTokens,
  };
}
