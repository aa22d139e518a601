import type { MessageId, ThreadId } from '@bobbin/core';
import type { HostRequest } from '@bobbin/core/internal';
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '@bobbin/core/internal';
import type { PendingWrite } from './pipelined-store.ts';
import type { Endpoint } from '../protocol/endpoint.ts';

/** A request of a client, as the gateway reads it. */
export interface ClientRequest {
  readonly tenant: string;
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly headers: IncomingHttpHeaders;
  /** The body without its compression. */
  readonly bytes: Buffer;
  /** The body as it came; absent if the gateway has changed it. */
  readonly sent?: Buffer;
  readonly body: JsonObject;
  /** True if the gateway's own tools are among those of the body. */
  readonly offersTools?: true;
  /** The client did not send it: the gateway asks the model again after calls of its tools. */
  readonly isToolRound?: true;
  /** What goes out in place of this request if that belongs to no conversation: nothing could answer calls of the tools. */
  readonly withoutTools?: ClientRequest;
}

/** What was done with a request. */
export type Action =
  /** Its bytes went out as they came. */
  | 'unchanged'
  /** A compaction was made for it. */
  | 'compacted'
  /** It went out as an earlier compaction shows it. */
  | 'continued'
  /** Not the gateway's to change: see the reason. */
  | 'left-alone'
  /** The provider refused it as too long; it was compacted hard and sent again. */
  | 'retried'
  /** The gateway's own work failed, or took too long: its bytes went out as they came. */
  | 'failed-open'
  | 'late';

/** A request as it goes out. */
export interface Fit {
  readonly action: Action;
  readonly bytes: Buffer;
  /** Why. */
  readonly reason: string;
  readonly taken?: TakenRequest;
  /** The messages that were taken for the request, if they are not durable yet. The answer waits until they are. */
  readonly pendingWrite?: PendingWrite | undefined;
  /** What is still being done for a request that went out before it was ready. */
  readonly pending?: Promise<Fit>;
}

/** A request that was recognised as part of a conversation. */
export interface TakenRequest {
  readonly host: HostRequest<object>;
  readonly thread: ThreadId;
  readonly head: MessageId;
  /** What the whole request would cost as the client sent it, and what it costs as it goes out. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}
