import type { MessageId, ThreadId } from '@bobbin/core';
import type { StoredPlace } from '@bobbin/core/internal';
import type { LedgerAnswer, LedgerRequest } from './ledger.ts';

/** A request that is not written yet, with its answer if that has come already. */
export interface WaitingRequest {
  readonly request: LedgerRequest;
  readonly written: Promise<void>;
  answer?: LedgerAnswer;
}

/** A request that ended a thread. */
interface PlacedRequest {
  readonly thread: ThreadId;
  readonly head: MessageId;
  readonly waiting: WaitingRequest;
}

/** The place of a request among those of some ids. */
export interface WaitingPlace {
  readonly place: StoredPlace;
  readonly index: number;
}

/** Requests that wait to be written. A reader of this process need not wait for them. */
export class WaitingRequests {
  readonly #byId = new Map<string, WaitingRequest>();
  readonly #byHead = new Map<string, readonly PlacedRequest[]>();

  add(waiting: WaitingRequest): void {
    const { tenant, id, thread, head } = waiting.request;
    this.#byId.set(nameOf(tenant, id), waiting);
    if (thread === undefined || head === undefined) return;
    const name = nameOf(tenant, head);
    this.#byHead.set(name, [{ thread, head, waiting }, ...(this.#byHead.get(name) ?? [])]);
  }

  get(tenant: string, id: string): WaitingRequest | undefined {
    return this.#byId.get(nameOf(tenant, id));
  }

  /** The place of the last of some ids that ended one of these requests. */
  locate(
    tenant: string,
    ids: readonly MessageId[],
    name: string | undefined,
  ): WaitingPlace | undefined {
    if (this.#byHead.size === 0) return undefined;
    for (let index = ids.length - 1; index >= 0; index--) {
      const ended = this.#byHead.get(nameOf(tenant, ids[index] as string));
      const found = ended?.find(({ waiting }) => isOfName(waiting.request, name));
      if (found !== undefined) return { place: placeOf(found), index };
    }
    return undefined;
  }

  clear(): void {
    this.#byId.clear();
    this.#byHead.clear();
  }
}

function isOfName(request: LedgerRequest, name: string | undefined): boolean {
  return name === undefined || request.name === name || request.thread === name;
}

function placeOf({ thread, head, waiting: { request, answer } }: PlacedRequest): StoredPlace {
  const { name, at } = request;
  const { usage } = answer ?? {};
  return {
    thread,
    ...(name === undefined ? {} : { name }),
    head,
    sentAt: at,
    ...(usage === undefined ? {} : { usage }),
  };
}

function nameOf(tenant: string, id: string): string {
  return `${tenant}\n${id}`;
}
