import { systemClock } from './clock.ts';
import type { Fitted } from './fitted.ts';
import { FittedThreads } from './fitted-threads.ts';
import { memoryArtifacts } from './memory-artifacts.ts';
import { memoryStore } from './memory-store.ts';
import { PLAIN } from './plain-codec.ts';
import type { ToolPolicies } from '../plan/durability.ts';
import type { Policy } from '../plan/policy.ts';
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
import { PRESETS, type PresetName } from '../presets/presets.ts';
import type { CacheLimits } from '../prompt/cache-points.ts';
import { STRICT_RULES, type ProviderRules } from '../prompt/rules.ts';
import type { SummaryCache } from '../summary/cache.ts';
import type { Redact } from '../summary/redact.ts';
import { extracting } from '../summary/summarizer.ts';
import { trustedSummarizer } from '../summary/trusted.ts';
import type { Message, MessageId, ThreadId } from '../thread/message.ts';
import type { CompactionHooks, CompactOptions, HandleSetting } from './handle-options.ts';
import { checkBudget, checkOptions } from './options.ts';
import { ThreadHandle } from './thread-handle.ts';
import { budget, type Budget } from '../tokens/budget.ts';
import { estimator, startCalibration } from '../tokens/calibration.ts';
import type { Counter } from '../tokens/counter.ts';
import { modelFacts, type CacheFacts, type ModelTable } from '../tokens/models.ts';

/** Everything has a default that works: memory, the `ladder` preset, summaries without a model. */
export interface BobbinOptions<Wire = Message> extends CompactionHooks {
  /** The model that reads the prompts: its window, tokenizer and prices are looked up. */
  readonly model?: string;
  /** Facts of models that the table does not have. */
  readonly models?: ModelTable;
  /** The window in tokens; the model's where absent. */
  readonly window?: number;
  readonly budget?: Partial<Budget>;
  readonly preset?: PresetName | Policy;
  /** The host's message format; Bobbin's own where absent. */
  readonly codec?: Codec<Wire>;
  readonly counter?: Counter;
  /** Whatever it writes is verified against the extract, redacted and cached. */
  readonly summarizer?: Summarizer;
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
  thread(id: string, head?: MessageId): Promise<ThreadHandle<Wire>>;
}

export function createBobbin(options?: BobbinOptions): Bobbin;
export function createBobbin<Wire>(
  options: BobbinOptions<Wire> & { readonly codec: Codec<Wire> },
): Bobbin<Wire>;
export function createBobbin<Wire>(options: BobbinOptions<Wire> = {}): Bobbin<Wire> {
  checkOptions(options);
  const setting = settingOf(options);
  const tenant = options.tenant ?? 'default';
  const fits = new FittedThreads<Wire>(
    setting,
    tenant,
    options.store === undefined ? memoryStore : undefined,
  );
  return {
    async fit(messages, compactOptions) {
      if (compactOptions?.budget !== undefined) checkBudget(compactOptions.budget);
      return fits.fit(messages, compactOptions);
    },
    async thread(id, head) {
      const key = { tenant, thread: id as ThreadId };
      return new ThreadHandle(key, setting, await resumed(setting.store, key, head));
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

function settingOf<Wire>(options: BobbinOptions<Wire>): HandleSetting<Wire> {
  const facts = modelFacts(options.model, options.models);
  const { counter } = options;
  const policy = policyOf(options.preset);
  const { cache } = facts;
  const cacheLimits = options.cacheLimits ?? (cache === undefined ? undefined : limitsOf(cache));
  return {
    policy: cache === undefined ? policy : priced(policy, cache),
    budget: budget({ windowTokens: options.window ?? facts.windowTokens, ...options.budget }),
    counter: counter ?? estimator(facts.provider),
    calibration:
      counter === undefined ? startCalibration(options.model) : { factor: 1, samples: 0 },
    rules: options.rules ?? options.codec?.rules ?? STRICT_RULES,
    tools: options.tools ?? {},
    summarizer: summarizerOf(options, policy),
    fallback: extracting(options.redact),
    ...(options.redact === undefined ? {} : { redact: options.redact }),
    store: options.store ?? memoryStore(),
    artifacts: options.artifacts ?? memoryArtifacts(),
    clock: options.clock ?? systemClock,
    rehydration: options.rehydration ?? {},
    ...(options.embedder === undefined ? {} : { embedder: options.embedder }),
    ...(options.access === undefined
      ? {}
      : { requester: { ...options.access, tenant: options.tenant ?? 'default' } }),
    codec: options.codec ?? (PLAIN as Codec<unknown> as Codec<Wire>),
    hooks: options,
    ...(cacheLimits === undefined ? {} : { cacheLimits }),
  };
}

/** @throws where it is neither the name of a preset nor a policy: a host may have no types to tell it. */
function policyOf(preset: PresetName | Policy = 'ladder'): Policy {
  const given: unknown = preset;
  if (typeof given === 'function')
    throw new TypeError(
      `preset: ${given.name} is a function that makes a policy: call it, as in preset: ${given.name}()`,
    );
  const policy = typeof preset === 'string' ? PRESETS[preset] : preset;
  if (policy === undefined) {
    throw new RangeError(
      `there is no preset ${JSON.stringify(preset)}; choose one of ${Object.keys(PRESETS).join(', ')}`,
    );
  }
  if (NEEDED.some((name) => policy[name] === undefined))
    throw new TypeError(
      'preset must be a policy with trigger, cut, ladder and style, or the name of a preset',
    );
  return policy;
}

const NEEDED: readonly (keyof Policy)[] = ['trigger', 'cut', 'ladder', 'style'];

function summarizerOf<Wire>(options: BobbinOptions<Wire>, policy: Policy): Summarizer {
  const { summarizer, summaryCache, redact } = options;
  if (summarizer === undefined) return extracting(redact);
  return trustedSummarizer(summarizer, {
    policy: policy.name,
    ...(summaryCache === undefined ? {} : { cache: summaryCache }),
    ...(redact === undefined ? {} : { redact }),
  });
}

/** One marker is left to the host, for its system prompt and tools. */
function limitsOf({ markers, minimumTokens }: CacheFacts): CacheLimits {
  return { markers: Math.max(0, markers - 1), minimumTokens };
}

/** A policy that weighs rewrites with the model's own prices. */
function priced(policy: Policy, { writePrice, readPrice, ttlMs }: CacheFacts): Policy {
  if (policy.economics === undefined) return policy;
  return {
    ...policy,
    economics: { ...policy.economics, prices: { write: writePrice, read: readPrice, ttlMs } },
  };
}
