import type { CompactionEvent, MessageId, Usage } from '@bobbin/core';
import type { Json, Outcome } from '@bobbin/core/internal';
import type { PermissionRequest } from './loop/permissions.ts';

/** Raised when an event changes its meaning or goes; new events and new fields do not raise it. */
export const PROTOCOL_VERSION = 1;

/** What happens in the agent, reported as it happens: the same in every mode (docs/agent.md). */
export type AgentEvent =
  | {
      readonly type: 'session';
      readonly version: typeof PROTOCOL_VERSION;
      readonly session: string;
      readonly project: string;
      readonly model: string;
      readonly windowTokens: number;
      readonly messages: number;
      readonly file: string;
    }
  | { readonly type: 'phase'; readonly phase: string }
  | {
      readonly type: 'user';
      readonly id: MessageId;
      /** The whole of it. */
      readonly text: string;
      /** What a person typed of it, if mentions added to it. */
      readonly typed?: string;
    }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** The model is asked again: discard the pieces since the last answer. */
  | { readonly type: 'retry'; readonly attempt: number; readonly reason: string }
  | {
      readonly type: 'assistant';
      readonly id: MessageId;
      readonly text: string;
      readonly calls: readonly { readonly callId: string; readonly tool: string }[];
      readonly usage: Usage;
      readonly status: 'complete' | 'aborted';
    }
  | {
      readonly type: 'tool-start';
      readonly callId: string;
      readonly tool: string;
      readonly args: Json;
    }
  | { readonly type: 'tool-output'; readonly callId: string; readonly text: string }
  | {
      readonly type: 'tool-end';
      readonly callId: string;
      readonly tool: string;
      readonly outcome: Outcome;
      readonly text: string;
      readonly diff?: string;
    }
  | {
      readonly type: 'permission';
      readonly id: string;
      readonly tool: string;
      readonly request: PermissionRequest;
      /** The change that a yes allows. */
      readonly diff?: string;
      /** What the answer `alike` allows: `npm test *`. */
      readonly alike?: string;
    }
  | { readonly type: 'compaction-start'; readonly reason: string; readonly tokensBefore: number }
  | CompactionEnd
  | { readonly type: 'compaction-stopped'; readonly reason: string }
  | { readonly type: 'queued'; readonly texts: readonly string[] }
  | { readonly type: 'returned'; readonly texts: readonly string[] }
  | {
      readonly type: 'context';
      readonly tokens: number;
      readonly windowTokens: number;
      readonly automatic: boolean;
      /** Of the last request. */
      readonly usage: Usage;
    }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'error'; readonly error: string }
  | {
      readonly type: 'command';
      readonly command: string;
      readonly text: string;
      readonly data?: Json;
      /** The text lists what can be chosen from. */
      readonly choices?: boolean;
    }
  | { readonly type: 'end'; readonly reason: EndReason };

/** Why a turn is over. */
export type EndReason = 'done' | 'interrupted' | 'failed' | 'stopped';

/** What a compaction did, what it cost and what it freed. */
export interface CompactionEnd {
  readonly type: 'compaction-end';
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The version of the plan; `/undo` takes it back. */
  readonly version: number;
  /** Which compaction of the session this is. */
  readonly count: number;
  readonly rungs: readonly string[];
  /** What became what, a line each. */
  readonly changes: readonly string[];
  readonly summary?: string;
  /** What the summarizer's calls cost. */
  readonly usage: Usage;
  readonly warnings: readonly string[];
  readonly notice: string;
  /** The engine's own events. */
  readonly events: readonly CompactionEvent[];
}
