import { createBobbin, type MessageId, type Session, type ThreadId } from '@bobbin/core';
import type { ModelTable, StoredPlan, ThreadKey } from '@bobbin/core/internal';
import type { GatewayStores, ModelPolicy } from '../config/gateway-config.ts';
import { policyFor } from '../config/model-policy.ts';
import type { Observer } from '../observe/observer.ts';
import { protocolOf } from '../protocol/endpoint.ts';
import { ApiError, type Call } from './route.ts';

export interface ApiOptions extends GatewayStores {
  readonly policies: readonly ModelPolicy[];
  readonly models: ModelTable;
  readonly observer: Observer;
  /** Aborted when the gateway ends. */
  readonly closing: AbortSignal;
}

/** The threads of the store, for calls of the API. */
export class ThreadAccess {
  readonly options: ApiOptions;

  constructor(options: ApiOptions) {
    this.options = options;
  }

  keyOf({ path }: Call): ThreadKey {
    return { tenant: path['tenant'] ?? '', thread: (path['thread'] ?? '') as ThreadId };
  }

  /** The head that a call names, or the thread's newest. */
  async headOf(call: Call): Promise<MessageId> {
    const key = this.keyOf(call);
    const [head] = await this.options.store.heads(key);
    if (head === undefined) throw new ApiError(404, `there is no thread ${key.thread}`);
    return (call.query['head'] as MessageId | undefined) ?? head;
  }

  async planOf(call: Call): Promise<StoredPlan> {
    const key = this.keyOf(call);
    const version = call.path['version'] ?? 'current';
    const found =
      version === 'current'
        ? (await this.options.store.window(key, await this.headOf(call)))?.current
        : await this.options.store.plan(key, Number(version));
    if (found === undefined) throw new ApiError(404, `thread ${key.thread} has no such plan`);
    return found;
  }

  /** A session on a thread, under the policy and the rules of the model that it was used with last. */
  async session(call: Call): Promise<Session<object>> {
    const { store, artifacts, ledger, policies, models, observer } = this.options;
    const key = this.keyOf(call);
    const head = await this.headOf(call);
    const last = await ledger.previous(key.tenant, key.thread, Number.MAX_SAFE_INTEGER);
    const model = last?.model ?? '';
    const { windowTokens, policy, budget } = policyFor(model, policies, models);
    const bobbin = createBobbin({
      ...(model === '' ? {} : { model }),
      codec: protocolOf(last?.protocol).codec,
      models,
      window: windowTokens,
      budget,
      preset: policy,
      tenant: key.tenant,
      store,
      artifacts,
      onEvent: (event) => observer.event(key.tenant, event),
    });
    return bobbin.thread(key.thread, head);
  }
}
