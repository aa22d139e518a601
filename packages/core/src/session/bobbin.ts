import type { Fitted } from './fitted.ts';
import { FittedThreads } from './fitted-threads.ts';
import { memoryStore } from './memory-store.ts';
import type { Thrift } from '../plan/trim-figures.ts';
import type { ToolPolicies } from '../plan/durability.ts';
import { list } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import type {
  ArtifactStore,
  Clock,
  Codec,
  Store,
  StoredWindow,
  Summarizer,
  ThreadKey,
  Embedder,
  Requester,
} from '../ports.ts';
import type { RehydrationLimits } from '../recall/rehydrate.ts';
import type { PresetName } from '../presets/presets.ts';
import type { CacheLimits } from '../render/cache-points.ts';
import type { ProviderRules } from '../render/rules.ts';
import type { SummaryCache } from '../summary/cache.ts';
import type { Redact } from '../summary/redact.ts';
import type { Message, MessageId } from '../message/message.ts';
import type { CompactionHooks, CompactOptions } from './session-config.ts';
import { checkCompactOptions } from './options.ts';
import { sessionConfig } from './config.ts';
import { Session } from './session.ts';
import { keyNamed } from './thread-name.ts';
import type { Budget } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';
import type { ModelTable } from '../tokens/models.ts';

/** Everything has a default that works: memory, the `ladder` preset, summaries without a model. */
export interface BobbinOptions<Wire = Message> extends CompactionHooks {
  /** The model that reads the prompts: its window, cache prices and what its tokens are to the estimate are looked up. */
  readonly model?: string;
  /** Facts of models that the table does not have. */
  readonly models?: ModelTable;
  /** The window in tokens; the model's where absent. */
  readonly window?: number;
  readonly budget?: Partial<Budget>;
  readonly preset?: PresetName | Policy;
  /** How much the default preset trims older tool output, from `careful` (the default) to `frugal`: see docs/cost.md. */
  readonly thrift?: Thrift;
  /** The model has the tool `read_artifact`: only then do prompts name it. */
  readonly offersReadArtifact?: boolean;
  /** The host's message format; Bobbin's own where absent. */
  readonly codec?: Codec<Wire>;
  /** The estimate where absent, whatever the model; `counterFor` of `@bobbin/models` counts exactly where it can. */
  readonly counter?: Counter;
  /** Whatever it writes is verified against the extract, redacted and cached. */
  readonly summarizer?: Summarizer;
  /** How long it may take before the extract stands in: three minutes where absent. */
  readonly summaryDeadlineMs?: number;
  /** In this process where absent. */
  readonly summaryCache?: SummaryCache;
  /** Takes secrets out of summaries; `redactSecrets` where absent. */
  readonly redact?: Redact;
  readonly store?: Store;
  readonly artifacts?: ArtifactStore;
  readonly tools?: ToolPolicies;
  readonly rules?: ProviderRules;
  readonly cacheLimits?: CacheLimits;
  /** What one turn may bring back of what was moved out; `budget.rehydrationTokens` is what it may cost. */
  readonly rehydration?: Partial<RehydrationLimits>;
  /** Where given, recall goes by meaning too. */
  readonly embedder?: Embedder;
  readonly tenant?: string;
  /** What whoever reads the prompts may see of artifacts; all of the tenant's where absent. */
  readonly access?: Omit<Requester, 'tenant'>;
  readonly clock?: Clock;
}

export interface Bobbin<Wire = Message> {
  /**
   * For hosts that resend everything: all messages in, the prompt out. The same conversation is recognised by its
   * longest known prefix, so its plan goes on and only what is new costs anything.
   */
  fit(messages: readonly Wire[], options?: CompactOptions): Promise<Fitted<Wire>>;
  /** For hosts that do not: the thread of that name, resumed where the store has it, at its newest message or an older one. */
  thread(id: string, head?: MessageId): Promise<Session<Wire>>;
}

export function createBobbin(options?: BobbinOptions): Bobbin;
export function createBobbin<Wire>(
  options: BobbinOptions<Wire> & { readonly codec: Codec<Wire> },
): Bobbin<Wire>;
export function createBobbin<Wire>(options: BobbinOptions<Wire> = {}): Bobbin<Wire> {
  const setting = sessionConfig(options);
  const tenant = options.tenant ?? 'default';
  const fits = new FittedThreads<Wire>(
    setting,
    tenant,
    options.store === undefined ? memoryStore : undefined,
  );
  return {
    async fit(messages, compactOptions = {}) {
      list(messages, 'messages');
      checkCompactOptions(compactOptions);
      return fits.fit(messages, compactOptions);
    },
    async thread(id, head) {
      const key = keyNamed(tenant, id);
      return new Session(key, setting, await resumed(setting.store, key, head));
    },
  };
}

/** The window of a stored thread, with its head even where the plan shows nothing of it in its seat. */
async function resumed(
  store: Store,
  key: ThreadKey,
  at: MessageId | undefined,
): Promise<StoredWindow | undefined> {
  const window = await store.window(key, at);
  const plan = window?.current?.plan;
  if (at !== undefined && window === undefined)
    throw new RangeError(`thread ${key.thread} holds no message ${at}`);
  if (window === undefined || plan === undefined || window.tail.length > 0) return window;
  const head = at ?? (await store.heads(key))[0];
  return head === undefined
    ? window
    : { ...window, tail: await store.path(key, head, plan.start - 1) };
}
