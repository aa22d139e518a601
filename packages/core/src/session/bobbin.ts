import type { Fitted } from './fitted.ts';
import { Conversations } from './recognise/conversations.ts';
import type { Thrift } from '../plan/trim-figures.ts';
import type { ToolPolicies } from '../plan/durability.ts';
import { list } from '../check/shape.ts';
import type { Policy } from '../compact/policy.ts';
import type {
  ArtifactStore,
  Clock,
  Codec,
  Store,
  Summarizer,
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
import type { CompactionHooks, CompactOptions } from './config/session-config.ts';
import { checkCompactOptions } from './config/options.ts';
import { sessionConfig } from './config/config.ts';
import { openSession, type Session } from './session.ts';
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
  /** An append fails if another writer has continued the thread; without it, that writer's messages become a fork. */
  readonly singleWriter?: boolean;
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

/** Fits lists of messages, and opens sessions. */
export interface Bobbin<Wire = Message> {
  /**
   * For hosts that resend everything: all messages in, the prompt out. The same conversation is recognised by its
   * longest known prefix, so its plan goes on and only what is new costs anything.
   */
  fit(messages: readonly Wire[], options?: CompactOptions): Promise<Fitted<Wire>>;
  /** For hosts that do not: the thread of that name, resumed where the store has it, at its newest message or an older one. */
  thread(id: string, head?: MessageId): Promise<Session<Wire>>;
}

/**
 * Makes a Bobbin. Without options it keeps threads in memory, uses the `ladder` preset and summarises without a model.
 *
 * @example
 * const bobbin = createBobbin({ codec: openaiChat, model: 'gpt-5' });
 * const { messages } = await bobbin.fit(history);
 */
export function createBobbin(options?: BobbinOptions): Bobbin;
export function createBobbin<Wire>(
  options: BobbinOptions<Wire> & { readonly codec: Codec<Wire> },
): Bobbin<Wire>;
export function createBobbin<Wire>(options: BobbinOptions<Wire> = {}): Bobbin<Wire> {
  const config = sessionConfig(options);
  const { tenant = 'default' } = options;
  const conversations = new Conversations(config, { tenant });
  return {
    async fit(messages, compactOptions = {}) {
      list(messages, 'messages');
      checkCompactOptions(compactOptions);
      return (await conversations.take(messages)).prompt(compactOptions);
    },
    thread: (id, head) => openSession(config, tenant, id, head),
  };
}
