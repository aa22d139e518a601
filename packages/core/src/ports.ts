import type { ArtifactId, Determinism, Message, MessageId, ThreadId } from './thread/message.ts';
import type { Node } from './thread/thread.ts';
import type { Summary } from './summary/summary.ts';
import type { Plan } from './plan/plan.ts';
import type { CompactionEvent } from './events.ts';

/** Milliseconds since the epoch. The engine has no clock of its own. */
export interface Clock {
  now(): number;
}

export type Sensitivity = 'public' | 'internal' | 'confidential' | 'restricted';

/** Names a thread for one tenant. Every key leads with the tenant; tenants never meet. */
export interface ThreadKey {
  readonly tenant: string;
  readonly thread: ThreadId;
}

export interface SummaryRequest {
  /** What is to be summarised, oldest first. */
  readonly nodes: readonly Node[];
  /** The summary that this one updates; it is integrated, not summarised again. */
  readonly previous: Summary | null;
  /** The first user message of the thread, verbatim. */
  readonly task: string | null;
  /** Which compaction of the thread this is, from 1. */
  readonly round: number;
  /** The user's wish for this summary (B1). */
  readonly instructions?: string;
  /** The turn whose beginning is among the nodes, summarised apart (E8), and the most that this may take. */
  readonly splitTurn?: { readonly turn: number; readonly maxTokens: number };
  /** Messages behind the cut, which stay in the prompt: to be read, not to be summarised. */
  readonly overlap: readonly Node[];
  readonly maxTokens: number;
  readonly signal?: AbortSignal;
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
  /** Whoever reads it needs one of these; absent: whoever is of the tenant. */
  readonly permissions?: readonly string[];
}

/** Who asks for an artifact. */
export interface Requester {
  readonly tenant: string;
  readonly permissions?: readonly string[];
}

/** Keeps what was taken out of the prompt. No access looks like absence. */
export interface ArtifactStore {
  /** Stores content under the hash of it and returns its id; storing it again changes nothing. */
  put(content: string, metadata: ArtifactMetadata): Promise<ArtifactId>;
  metadata(id: ArtifactId, requester: Requester): Promise<ArtifactMetadata | undefined>;
  get(id: ArtifactId, requester: Requester): Promise<string | undefined>;
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
  readonly current: StoredPlan | undefined;
}

/** Keeps threads and plans. Appending is idempotent; of concurrent commits of one version exactly one wins. */
export interface Store {
  append(key: ThreadKey, nodes: readonly Node[]): Promise<void>;
  /** The active window of the thread's latest head, or of a given one. Undefined where there is no such thread. */
  window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined>;
  /** The whole path to a head, from an index on. */
  path(key: ThreadKey, head: MessageId, from?: number): Promise<readonly Node[]>;
  plan(key: ThreadKey, version: number): Promise<StoredPlan | undefined>;
  /** Commits a plan with its events in one transaction if the current version is still the expected one. */
  commit(
    key: ThreadKey,
    plan: Plan,
    expectedVersion: number,
    events: readonly CompactionEvent[],
  ): Promise<boolean>;
}

/** Says how a tool's source looks now, so that a replayable result can be told from a drifted one (C9). */
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
export interface Codec<Wire> {
  readonly name: string;
  decode(wire: readonly Wire[]): readonly Message[];
  encode(messages: readonly Message[]): readonly Wire[];
}
