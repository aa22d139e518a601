import type { ThreadId, Usage } from '@bobbin/core';
import type { Action } from '../fitting/fit.ts';

/** One request and what became of it, as logs, metrics and traces report it. It holds nothing that was said. */
export interface Exchange {
  readonly id: string;
  readonly at: number;
  readonly protocol: string;
  readonly provider: string;
  readonly model: string;
  readonly tenant: string;
  readonly thread?: ThreadId;
  readonly action: Action;
  readonly reason?: string;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  /** What the client saw; absent if it saw no answer. */
  readonly status?: number;
  readonly end: 'relayed' | 'aborted' | 'upstream-failed';
  /** Why the upstream failed. */
  readonly cause?: string;
  /** The gateway sent it to answer calls of its own tools. */
  readonly isToolRound?: boolean;
  readonly isStream: boolean;
  readonly usage?: Usage;
  readonly paidTokens?: number;
  readonly fullTokens?: number;
  /** What the gateway's own work took before the request went out, each time, and the whole exchange. */
  readonly ownMs: number;
  readonly totalMs: number;
}
