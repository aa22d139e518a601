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

/** Tells the engine the time. Without one, the clock of the system is used. */
export interface Clock {
  now(): number;
  /**
   * Starts a time limit. It keeps the process alive until it is over or cleared. Without this method, there are no time
   * limits.
   */
  deadline?(ms: number): Deadline;
  /**
   * Lets the process do other work for a moment. Without this method, a very large number of messages is processed
   * without a pause.
   */
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

/** What a summarizer gets: the messages to summarise, and what the summary should be like. */
export interface SummaryRequest {
  /** The thread of the messages. When the thread is erased, a summary in a cache is erased too. */
  readonly thread?: ThreadKey;
  /** The messages to summarise, oldest first. */
  readonly nodes: readonly Node[];
  /** The last summary, which the new summary should update. Its content should not be summarised again. */
  readonly previous: Summary | null;
  /** The first user message of the thread, verbatim. */
  readonly task: string | null;
  /** The number of this compaction of the thread, from 1. */
  readonly round: number;
  /** The user's instructions for this summary. */
  readonly instructions?: string;
  /**
   * Instructions for the model, in place of the summarizer's own. The summarizer's rules about tools' text and secrets
   * still apply.
   */
  readonly systemPrompt?: string;
  /**
   * Set if `nodes` ends inside a turn: the number of this turn, and the largest number of tokens for the separate
   * summary of its beginning.
   */
  readonly splitTurn?: { readonly turn: number; readonly maxTokens: number };
  /**
   * Messages after the cut, which stay in the prompt. They are context for the summarizer, and not part of the summary.
   */
  readonly overlap: readonly Node[];
  /**
   * Every message that stays in the prompt, as the prompt shows it. The summary need not repeat the content of these
   * messages.
   */
  readonly kept?: readonly Kept[];
  /** Removes secrets. Apply it to every text that you send to a model. If absent, use `redactSecrets`. */
  readonly redact?: Redact;
  /** The largest number of tokens for the summary's text, counted by `counter`. */
  readonly maxTokens: number;
  readonly counter?: Counter;
  readonly signal?: AbortSignal;
  /** Lets the process do other work for a moment. Call it while you read a very large number of messages. */
  readonly pause?: () => Promise<void>;
  /** Call it to report what happens while the summary is made, and what the summary costs. */
  readonly report?: (report: SummaryReport) => void;
}

/**
 * Makes summaries, usually with a model. It may fail in any way: Bobbin then makes the summary itself, without a model.
 */
export interface Summarizer {
  /** Names the model and the version of its prompt. It is part of the key under which summaries are cached. */
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

/**
 * Keeps content that was moved out of the prompt. For a reader without access, and after its time to live, an artifact
 * does not exist.
 */
export interface ArtifactStore {
  /**
   * Stores content under its hash and returns the id. If the content is stored already, its metadata for this thread is
   * replaced, so its time to live starts again.
   */
  put(content: string | Uint8Array, metadata: ArtifactMetadata): Promise<ArtifactId>;
  metadata(id: ArtifactId, requester: Requester): Promise<ArtifactMetadata | undefined>;
  /** The content as text. */
  get(id: ArtifactId, requester: Requester): Promise<string | undefined>;
  /** The content as bytes, for content that is not text. */
  bytes(id: ArtifactId, requester: Requester): Promise<Uint8Array | undefined>;
  /**
   * Erases the artifacts of some threads, or of a whole tenant, and returns how many are gone. If another thread has
   * stored the same content, that thread keeps it.
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
 * Searches compacted messages. A message enters the index with the commit of the first plan whose records name it, and
 * stays there. If a plan names a very large number of messages, they enter the index a moment before the commit, even
 * if another plan wins. If a head is given, only messages up to this head are found, not those of other forks.
 */
export interface RecallIndex {
  /** The messages that contain some of the words (made by `queryWords`), best first. */
  search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]>;
  /** The messages whose vectors are most similar to a vector, best first. */
  nearest(
    key: ThreadKey,
    embedder: string,
    vector: readonly number[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]>;
  /** Compacted messages that have no vector of this embedder yet. */
  unembedded(key: ThreadKey, embedder: string, most: number): Promise<readonly Node[]>;
  keepVectors(key: ThreadKey, embedder: string, vectors: readonly MessageVector[]): Promise<void>;
}

/**
 * Keeps threads and plans. A write that was acknowledged is durable. Appending the same message twice changes nothing.
 * If several plans are committed for the same version at the same time, exactly one of them wins. Every call behaves as
 * if the threads of other tenants did not exist.
 */
export interface Store extends RecallIndex {
  /**
   * Adds messages, parents first. A message whose parent is missing is refused. The last message becomes the head of
   * the thread, even if the store had it already. If several writers expect the same head, exactly one of them wins,
   * and the others get a conflict. A repeated append is not a conflict.
   *
   * A large number of messages is written in parts. If the process ends between two parts, the written parts stay. If
   * the append is repeated, it continues after them.
   */
  append(key: ThreadKey, nodes: readonly Node[], options?: AppendOptions): Promise<Appended>;
  /**
   * The messages that a prompt needs, up to the latest head of the thread or up to a given head. Undefined if the
   * thread does not exist.
   */
  window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined>;
  /** All messages up to a head, from an index on. */
  path(key: ThreadKey, head: MessageId, from?: number): Promise<readonly Node[]>;
  /** The messages with some ids, in the order of these ids. An id that the thread does not have is left out. */
  messages(key: ThreadKey, ids: readonly MessageId[]): Promise<readonly Node[]>;
  /** The messages that start turns, up to a head. A host can start a fork at each of them. */
  turns(key: ThreadKey, head: MessageId): Promise<readonly Node[]>;
  /** Every message of all forks of the thread, parents first, in parts. */
  nodes(key: ThreadKey): AsyncIterable<readonly Node[]>;
  /** The last message of every fork, the latest head first. */
  heads(key: ThreadKey): Promise<readonly MessageId[]>;
  /** At most `most` threads of a tenant, in the order of their names, after a given name. */
  threads(tenant: string, most: number, after?: ThreadId): Promise<readonly ThreadEntry[]>;
  /** The names of the tenants whose data this store object may read. For operators. */
  tenants(): Promise<readonly string[]>;
  plan(key: ThreadKey, version: number): Promise<StoredPlan | undefined>;
  /**
   * Stores a plan with its events in one transaction, if the thread's version is still the expected one. Returns
   * whether it did.
   */
  commit(
    key: ThreadKey,
    plan: Plan,
    expectedVersion: number,
    events: readonly CompactionEvent[],
  ): Promise<boolean>;
  /** Stores events that belong to no plan. It does nothing if the thread does not exist. */
  record(key: ThreadKey, events: readonly CompactionEvent[]): Promise<void>;
  /** The compacted messages of all threads of a tenant that contain some of the words, best first. */
  searchTenant(
    tenant: string,
    words: readonly string[],
    most: number,
  ): Promise<readonly FoundInThread[]>;
  /**
   * The ids of the artifacts to which the plans of a tenant refer, including past plans, in parts. An id may come more
   * than once.
   */
  artifacts(tenant: string): AsyncIterable<readonly ArtifactId[]>;
  /**
   * Erases some threads of a tenant, or all of them, with their messages, plans, summaries, events, words and vectors.
   * Returns the names of the erased threads. Afterwards every call behaves as if they had never existed. Artifacts are
   * not in a store.
   */
  delete(what: Erasure, options?: ErasureOptions): Promise<readonly ThreadId[]>;
  /** The events of the thread after a sequence number. */
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

/** Turns texts into vectors, so that recall can search by meaning. */
export interface Embedder {
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/**
 * Translates between a host's message format and Bobbin's messages. Decoding messages and encoding them again gives
 * equal JSON.
 */
export interface Codec<Wire, Tool = object, Result = object> {
  readonly name: string;
  /** What the provider of this format requires of a prompt. */
  readonly rules?: ProviderRules;
  /** Decodes messages. `before` are the messages that were decoded earlier: the call of a result may be among them. */
  decode(wire: readonly Wire[], before?: readonly Message[]): readonly Message[];
  encode(messages: readonly Message[]): readonly Wire[];
  /** Returns a warning if the messages are probably in another format, although this codec can read them. */
  mismatch?(wire: readonly Wire[]): string | undefined;
  /** Translates tools, their calls and their results to and from the provider's format. */
  readonly tools?: ToolCodec<Tool, Result>;
  /** The usage in a response of the provider's own client. */
  usage?(response: unknown): Usage | undefined;
  /** Other reports in such a response, such as a cache miss. The session emits them as events. */
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
