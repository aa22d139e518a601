import type { CompactionEvent } from '@bobbin/core';
import {
  Conversations,
  sessionConfig,
  type ModelTable,
  type ThreadKey,
} from '@bobbin/core/internal';
import type { GatewayStores, ModelPolicy } from '../config/gateway-config.ts';
import { policyFor, type ResolvedPolicy } from '../config/model-policy.ts';
import { onlyHardPressure } from './background-compaction.ts';
import type { Protocol } from '../protocol/protocol.ts';
import { pipelined, type PendingWrite, type PipelinedStore } from './pipelined-store.ts';

/** The conversations of one tenant with one model. */
export interface TenantModel {
  readonly conversations: Conversations<object>;
  readonly policy: ResolvedPolicy;
  /** How long the newest request of each thread was, the thread that was used last at the end. */
  readonly bytes: Map<string, number>;
}

export interface PoolOptions {
  readonly stores: GatewayStores;
  readonly policies: readonly ModelPolicy[];
  readonly models: ModelTable;
  readonly openConversations: number;
  /** The most that the newest requests of all conversations in memory may have together. */
  readonly memoryBytes: number;
  /** Whether soft pressure is met before a request goes out, or between requests. */
  readonly softPressure: 'before' | 'between';
  readonly onEvent: (tenant: string, event: CompactionEvent) => void;
}

const MOST_ENTRIES = 256;

/** Keeps conversations apart by tenant, protocol and model. What was used least lately is forgotten first. */
export class ConversationPool {
  readonly #options: PoolOptions;
  readonly #entries = new Map<string, TenantModel>();
  #newestKey = '';
  #bytes = 0;
  readonly #pipelined: PipelinedStore;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#pipelined = pipelined(options.stores.store);
  }

  /**
   * What was taken for a thread and is not durable yet. If it cannot be stored, the conversations of the same tenant and
   * model are forgotten: the store does not have what they have in memory.
   */
  pending(thread: ThreadKey, entry: TenantModel): PendingWrite | undefined {
    const write = this.#pipelined.pending(thread);
    write?.durable.catch(() => {
      for (const [key, each] of this.#entries) if (each === entry) this.#forget(key);
    });
    return write;
  }

  /** Forgets the conversations of a tenant with a model: they are read from the store again. */
  forget(tenant: string, protocol: Protocol, model: string): void {
    this.#forget(keyOf(tenant, protocol, model));
  }

  /** Notes how long a request was. If all together are too long, what was used least lately is forgotten. */
  used({ bytes }: TenantModel, { thread }: ThreadKey, length: number): void {
    const { openConversations, memoryBytes } = this.#options;
    const [oldest] = bytes.keys();
    this.#resize(bytes, thread, length);
    if (oldest !== undefined && bytes.size > openConversations) this.#resize(bytes, oldest, 0);
    for (const key of this.#entries.keys()) if (this.#bytes > memoryBytes) this.#forget(key);
  }

  #resize(bytes: Map<string, number>, thread: string, length: number): void {
    this.#bytes += length - (bytes.get(thread) ?? 0);
    bytes.delete(thread);
    if (length > 0) bytes.set(thread, length);
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    for (const length of entry.bytes.values()) this.#bytes -= length;
    entry.bytes.clear();
  }

  of(tenant: string, protocol: Protocol, model: string): TenantModel {
    const key = keyOf(tenant, protocol, model);
    const known = this.#entries.get(key);
    if (known !== undefined && key === this.#newestKey) return known;
    const entry = known ?? this.#open(tenant, protocol, model);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#newestKey = key;
    const [oldest] = this.#entries.size > MOST_ENTRIES ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#forget(oldest);
    return entry;
  }

  #open(tenant: string, { codec }: Protocol, model: string): TenantModel {
    const { stores, policies, models, openConversations, onEvent, softPressure } = this.#options;
    const policy = policyFor(model, policies, models);
    const { artifacts, ledger } = stores;
    const config = sessionConfig({
      codec,
      model,
      models,
      window: policy.windowTokens,
      budget: policy.budget,
      preset: softPressure === 'between' ? onlyHardPressure(policy.policy) : policy.policy,
      tenant,
      store: this.#pipelined.store,
      artifacts,
      onEvent: (event) => onEvent(tenant, event),
    });
    const conversations = new Conversations(config, {
      tenant,
      habit: 'resends',
      owner: 'bobbin',
      mostOpen: openConversations,
      locate: (ids, name) => ledger.locate(tenant, ids, name),
    });
    return { conversations, policy, bytes: new Map() };
  }
}

function keyOf(tenant: string, protocol: Protocol, model: string): string {
  return `${tenant}\n${protocol.name}\n${model}`;
}
