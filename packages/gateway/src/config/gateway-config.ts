import type { ArtifactStore, Policy, Store, Summarizer } from '@bobbin/core';
import type { ModelTable, PresetName, Thrift } from '@bobbin/core/internal';
import type { Ledger } from '@bobbin/stores';

/** Whose protocol a client speaks. */
export type ProviderName = 'openai' | 'anthropic';

/** What is done for a family of models. */
export interface ModelPolicy {
  /** The beginning of the ids of the models; the longest that matches counts. Empty: all models. */
  readonly model: string;
  /** `off`: requests for these models are relayed as they are. */
  readonly compaction?: 'on' | 'off';
  /** The window in tokens; the model's own where absent. */
  readonly windowTokens?: number;
  /** The share of the window above which compaction should run. */
  readonly softShare?: number;
  readonly preset?: PresetName | Policy;
  /** How much of older tool output the preset `ladder` shortens. Default: `gentle`. */
  readonly thrift?: Thrift;
  /** How many requests are expected to follow: the more, the sooner a rewrite pays. */
  readonly requestsToCome?: number;
  /** If the prompt does not fit, a tool result larger than this share of the limit is shortened when it is first seen. */
  readonly firstSightShare?: number;
}

export interface GatewayLimits {
  /** How long an upstream may take until its answer begins. */
  readonly upstreamHeadersMs: number;
  /** How long an answer may pause. */
  readonly upstreamIdleMs: number;
  readonly connectMs: number;
  /** The longest body of a request. */
  readonly bodyBytes: number;
  /** The longest body that is read: to work on a longer one would hold up other requests. */
  readonly fitBytes: number;
  /** How long the gateway may work on a request before it relays it as it is. */
  readonly ownWorkMs: number;
  /** How long a request that the provider refused as too long is worked on. */
  readonly refitMs: number;
  /** How long a client may take to send its headers, and its whole request. */
  readonly clientHeadersMs: number;
  readonly clientRequestMs: number;
  /** How long a client may read nothing of an answer that waits for it. */
  readonly clientStallMs: number;
  /** How long streams may go on after the gateway was asked to end. */
  readonly drainMs: number;
  /** How many conversations of each tenant and model are kept in memory. */
  readonly openConversations: number;
  /** The most that the newest requests of all conversations in memory may have together. */
  readonly memoryBytes: number;
  /** How many further requests the gateway makes to answer calls of its own tools, for one request of a client. */
  readonly toolRounds: number;
}

export const DEFAULT_LIMITS: GatewayLimits = {
  bodyBytes: 67_108_864,
  fitBytes: 33_554_432,
  ownWorkMs: 250,
  refitMs: 30_000,
  clientHeadersMs: 30_000,
  clientRequestMs: 300_000,
  clientStallMs: 120_000,
  drainMs: 600_000,
  openConversations: 64,
  memoryBytes: 268_435_456,
  toolRounds: 8,
  connectMs: 10_000,
  upstreamHeadersMs: 600_000,
  upstreamIdleMs: 600_000,
};

export const DEFAULT_UPSTREAMS: Readonly<Record<ProviderName, string>> = {
  openai: 'https://api.openai.com',
  anthropic: 'https://api.anthropic.com',
};

/** What a gateway keeps things in. The host opens and closes them. */
export interface GatewayStores {
  readonly store: Store;
  readonly artifacts: ArtifactStore;
  readonly ledger: Ledger;
}

/** Writes a line: what it is about, and what happened. */
type LogLine = (about: object, message: string) => void;

export interface GatewayLogger {
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

export interface GatewayOptions extends GatewayStores {
  /** Default: 127.0.0.1. Another address than one of loopback needs a token. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** What clients send as `x-bobbin-token`. */
  readonly token?: string;
  /** What the API demands as `x-bobbin-token`. With `token` and without this, the API is closed. */
  readonly apiToken?: string;
  readonly upstreams?: Partial<Readonly<Record<ProviderName, string>>>;
  readonly limits?: Partial<GatewayLimits>;
  readonly policies?: readonly ModelPolicy[];
  /** Facts of models that the table does not have. */
  readonly models?: ModelTable;
  /** Makes the key of tenants' names; the ledger's own where absent. */
  readonly tenantKey?: string;
  /** Writes summaries in the background under soft pressure. No request ever waits for it. */
  readonly summarizer?: Summarizer;
  /**
   * `on`: models are offered `read_artifact` and `recall`, and the gateway answers those calls itself, unless a client
   * sends `x-bobbin-tools: off`. Default: `off`, unless a client sends `x-bobbin-tools: on`.
   */
  readonly tools?: 'on' | 'off';
  /** Where the gateway reports requests and warnings: a logger of pino, or one like it. */
  readonly logger?: GatewayLogger;
}
