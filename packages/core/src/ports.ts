import type { JsonObject } from './message/json.ts';
import type {
  ArtifactId,
  Determinism,
  Message,
  MessageId,
  ThreadId,
  Usage,
} from './message/message.ts';
import type { Node } from './thread/thread.ts';
import type { Kept } from './extract/extract.ts';
import type { Redact } from './summary/redact.ts';
import type { SummaryReport } from './verify/report.ts';
import type { Summary } from './plan/summary.ts';
import type { Plan } from './plan/plan.ts';
import type { Counter } from './tokens/counter.ts';
import type { CompactionEvent, ProviderReport } from './events.ts';
import type { ProviderRules } from './render/rules.ts';

/** Milliseconds since the epoch. The engine has no clock. */
export interface Clock {
  now(): number;
  /** Starts a time limit. It keeps the process alive until it is over or cleared. Without it nothing is ever late. */
  deadline?(ms: number): Deadline;
  /** Lets the process do its other work for a moment. Without it, very many messages are taken all at once. */
  pause?(): Promise<void>;
}

/** A time limit that has begun. */
export interface Deadline {
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  clear(): void;
}

export type Sensitivity = 'public' | 'internal' | 'confidential' | 'restricted';

/** Names a thread for one tenant. Every key leads with the tenant; tenants never meet. */
export interface ThreadKey {
  readonly tenant: string;
  readonly thread: ThreadId;
}

/** What a summarizer is asked for. */
export interface SummaryRequest {
  /** Whose messages they are: a summary that is kept in a cache is erased with its thread. */
  readonly thread?: ThreadKey;
  /** The messages to summarise, oldest first. */
  readonly nodes: readonly Node[];
  /** The summary that this one updates; it is integrated, not summarised again. */
  readonly previous: Summary | null;
  /** The first user message of the thread, verbatim. */
  readonly task: string | null;
  /** Which compaction of the thread this is, from 1. */
  readonly round: number;
  /** The user's instructions for this summary. */
  readonly instructions?: string;
  /** What a model is asked instead of the summarizer's own request; rules about tools' text and secrets stay. */
  readonly systemPrompt?: string;
  /** The turn whose beginning is among the nodes, summarised apart, and the most that this may take. */
  readonly splitTurn?: { readonly turn: number; readonly maxTokens: number };
  /** Messages after the cut, which stay in the prompt: context for the summarizer, not part of the summary. */
  readonly overlap: readonly Node[];
  /** Every message that stays in the prompt, as it is shown there: the summary need not repeat their content. */
  readonly kept?: readonly Kept[];
  /** Takes secrets out of everything that leaves the process for this summary; `redactSecrets` if absent. */
  readonly redact?: Redact;
  /** The space for the summary's text, as `counter` counts it. */
  readonly maxTokens: number;
  readonly counter?: Counter;
  readonly signal?: AbortSignal;
  /** Lets the process do its other work for a moment, while very many messages are read. */
  readonly pause?: () => Promise<void>;
  /** Called with what happens while the summary is made, and what it costs. */
  readonly report?: (report: SummaryReport) => void;
}

/** Makes summaries. It may fail in any way: the compactor then falls back to the built-in extract. */
export interface Summarizer {
  /** Model and prompt version: part of the cache key. */
  readonly id: string;
  summarize(request: SummaryRequest): Promise<Summary>;
}

export interface ArtifactMetadata {
  readonly thread: ThreadId;
  readonly tenant: string;
  readonly createdAt: number;
  readonly mediaType: string;
  readonly sensitivity: Sensitivity;
  readonly ttlMs?: number;
  readonly keyId?: string;
  /** A reader needs one of these; absent: any reader of the tenant. */
  readonly permissions?: readonly string[];
}

/** Who asks for an artifact. */
export interface Requester {
  readonly tenant: string;
  readonly permissions?: readonly string[];
  /** The most sensitive content that it may read; absent: any. */
  readonly clearance?: Sensitivity;
}

/** Keeps what was taken out of the prompt. No access looks like absence, and so does an artifact that has expired. */
export interface ArtifactStore {
  /** Stores content under its hash and returns the id. Storing it again only restarts its time to live. */
  put(content: string | Uint8Array, metadata: ArtifactMetadata): Promise<ArtifactId>;
  metadata(id: ArtifactId, requester: Requester): Promise<ArtifactMetadata | undefined>;
  /** The content as text. */
  get(id: ArtifactId, requester: Requester): Promise<string | undefined>;
  /** The content as it was put, for content that is not text. */
  bytes(id: ArtifactId, requester: Requester): Promise<Uint8Array | undefined>;
  /**
   * Erases what some threads put, or all that a tenant has, and counts the artifacts that are gone. Content that another
   * thread put as well stays for that one.
   */
  delete(what: Erasure): Promise<number>;
}

/** What is erased: some threads of a tenant, or all that the tenant has. */
export interface Erasure {
  readonly tenant: string;
  readonly threads?: readonly ThreadId[];
}

export interface ErasureOptions {
  /** Only threads that nothing was written to after this time, in milliseconds since the epoch. */
  readonly unchangedSince?: number;
}

/** A plan as a store holds it. Version 0 is the empty plan that every thread starts with. */
export interface StoredPlan {
  readonly plan: Plan;
  readonly version: number;
}

/** The part of a thread that a prompt needs: carried messages and the path from the plan's start on. */
export interface StoredWindow {
  readonly carried: readonly Node[];
  readonly tail: readonly Node[];
  /** The newest plan that was made on this path; a fork before a compaction does not know it. */
  readonly current: StoredPlan | undefined;
  /** The newest version of the whole thread, other forks included: what a commit must expect. */
  readonly version: number;
}

/** An event as a store holds it, in the order in which events came. */
export interface StoredEvent {
  readonly sequence: number;
  /** The plan that it was committed with; 0 if it came without one. */
  readonly version: number;
  readonly event: CompactionEvent;
}

/** A thread in a list. One of length 0 exists but cannot be read: opening it reports why. */
export interface ThreadEntry {
  readonly thread: ThreadId;
  /** The newest message, and how many messages its path has. */
  readonly head: MessageId;
  readonly length: number;
  /** The newest version of its plan. */
  readonly version: number;
  /** When something was last written to it, in milliseconds since the epoch. */
  readonly changedAt: number;
}

export interface AppendOptions {
  /** The head that the thread must have; null: the thread must not be there yet. Absent: any head will do. */
  readonly expectedHead?: MessageId | null;
}

export type Appended =
  | { readonly kind: 'appended' }
  /** Nothing was written: the thread has another head than the expected one, or none. */
  | { readonly kind: 'conflict'; readonly head: MessageId | null };

/** A compacted message that was found, with how well it matches; only the order of scores means anything. */
export interface Found {
  readonly node: Node;
  readonly score: number;
}

/** A message that was found in one of a tenant's threads. */
export interface FoundInThread extends Found {
  readonly thread: ThreadId;
}

/** The vector of a message. */
export interface MessageVector {
  readonly id: MessageId;
  readonly vector: readonly number[];
}

/**
 * Finds what was compacted. A message is in it from the commit of the first plan whose records name it, and stays in it
 * under all later plans. If a plan names very many messages, they are in it a moment before the commit, also if another plan wins. If a head is
 * given, only messages on the path to it are found: other forks said other things.
 */
export interface RecallIndex {
  /** The messages that hold some of the words, which are those of `queryWords`, best first. */
  search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]>;
  /** The messages whose vectors are nearest to one, best first. */
  nearest(
    key: ThreadKey,
    embedder: string,
    vector: readonly number[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]>;
  /** Messages that have no vector of an embedder yet. */
  unembedded(key: ThreadKey, embedder: string, most: number): Promise<readonly Node[]>;
  keepVectors(key: ThreadKey, embedder: string, vectors: readonly MessageVector[]): Promise<void>;
}

/**
 * Keeps threads and plans. What was acknowledged is durable. Appending is idempotent; exactly one of several concurrent
 * commits of one version wins. The key of another tenant's thread is treated as one that does not exist.
 */
export interface Store extends RecallIndex {
  /**
   * Adds messages, parents first: a message whose parent is not there is refused. The last of them becomes the thread's
   * head, also if it was there already. If several writers expect the same head, exactly one wins; the others get a
   * conflict. A repeated append is not a conflict.
   *
   * Many messages are written in parts. If the process ends meanwhile, the parts that were written stay, and the same
   * append, repeated, goes on after them.
   */
  append(key: ThreadKey, nodes: readonly Node[], options?: AppendOptions): Promise<Appended>;
  /** The active window of the thread's latest head, or of a given one. Undefined if there is no such thread. */
  window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined>;
  /** The whole path to a head, from an index on. */
  path(key: ThreadKey, head: MessageId, from?: number): Promise<readonly Node[]>;
  /** Some messages of a thread, in the order of their ids; one that is not there is left out. */
  messages(key: ThreadKey, ids: readonly MessageId[]): Promise<readonly Node[]>;
  /** The messages on the path to a head that start turns: the places to branch off. */
  turns(key: ThreadKey, head: MessageId): Promise<readonly Node[]>;
  /** Every message of the thread with all its forks, parents first, in parts. */
  nodes(key: ThreadKey): AsyncIterable<readonly Node[]>;
  /** The last message of every fork, the latest head first. */
  heads(key: ThreadKey): Promise<readonly MessageId[]>;
  /** The threads of a tenant by name, after a given one. */
  threads(tenant: string, most: number, after?: ThreadId): Promise<readonly ThreadEntry[]>;
  /** The tenants whose data the opener of the store may see completely: for operators. */
  tenants(): Promise<readonly string[]>;
  plan(key: ThreadKey, version: number): Promise<StoredPlan | undefined>;
  /** Commits a plan with its events in one transaction if the thread's version is still the expected one. */
  commit(
    key: ThreadKey,
    plan: Plan,
    expectedVersion: number,
    events: readonly CompactionEvent[],
  ): Promise<boolean>;
  /** Keeps events that come without a plan. Nothing if there is no such thread. */
  record(key: ThreadKey, events: readonly CompactionEvent[]): Promise<void>;
  /** The messages of any of a tenant's threads that hold some of the words, best first. */
  searchTenant(
    tenant: string,
    words: readonly string[],
    most: number,
  ): Promise<readonly FoundInThread[]>;
  /** The artifacts that plans of a tenant point to, past plans included, in parts. One may come more than once. */
  artifacts(tenant: string): AsyncIterable<readonly ArtifactId[]>;
  /**
   * Erases some threads of a tenant, or all of them, and names those that were there: messages, plans, summaries,
   * events, words and vectors. What was erased is absent in every call; a thread of the same name is a new one.
   * Artifacts are not in a store.
   */
  delete(what: Erasure, options?: ErasureOptions): Promise<readonly ThreadId[]>;
  /** The thread's events after a sequence number. */
  events(key: ThreadKey, after?: number): Promise<readonly StoredEvent[]>;
  close(): Promise<void>;
}

/**
 * Says how a tool's source looks now, so that a replayable result can be distinguished from one whose source changed.
 */
export type CaptureDeterminism = (call: {
  readonly tool: string;
  readonly args: string;
}) => Promise<Determinism | undefined>;

/** Turns texts into vectors for recall. */
export interface Embedder {
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/** Translates a host's messages. Decoding and encoding what was decoded gives equal JSON. */
export interface Codec<Wire, Tool = object, Result = object> {
  readonly name: string;
  /** What its provider asks of a prompt. */
  readonly rules?: ProviderRules;
  /** `before` are the messages that were decoded earlier: a result names only its call, which may be among them. */
  decode(wire: readonly Wire[], before?: readonly Message[]): readonly Message[];
  encode(messages: readonly Message[]): readonly Wire[];
  /** Why messages that this codec can read are probably of another format, as a warning for the host. */
  mismatch?(wire: readonly Wire[]): string | undefined;
  /** How its provider writes tools, the calls of them and their results. */
  readonly tools?: ToolCodec<Tool, Result>;
  /** What a response of the provider's own client reports about its request. */
  usage?(response: unknown): Usage | undefined;
  /** What else such a response reports: the session emits it as events. */
  reports?(response: unknown): readonly ProviderReport[];
}

/** A tool as a host offers it to a model: name, description, arguments as a JSON schema. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** A call of a tool by a model. The arguments may be anything: a model wrote them. */
export interface ToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: unknown;
}

/** Translates tools, calls and results. */
export interface ToolCodec<Tool, Result> {
  tool(definition: ToolDefinition): Tool;
  /** Undefined if it is not a call of a tool that the host runs. */
  call(call: unknown): ToolCall | undefined;
  result(call: ToolCall, text: string): Result;
}
