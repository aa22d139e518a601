import { systemClock } from './clock.ts';
import { memoryArtifacts, memoryStore } from './memory-store.ts';
import type { ToolPolicies } from '../plan/durability.ts';
import type { Policy } from '../plan/policy.ts';
import type { ArtifactStore, Clock, Codec, Store, Summarizer } from '../ports.ts';
import { PRESETS, type PresetName } from '../presets/presets.ts';
import type { CacheLimits } from '../prompt/cache-points.ts';
import { STRICT_RULES, type ProviderRules } from '../prompt/rules.ts';
import { extractSummarizer } from '../summary/summarizer.ts';
import { sha256 } from '../thread/sha256.ts';
import { messageId, type Message, type ThreadId } from '../thread/message.ts';
import {
  ThreadHandle,
  type CompactionHooks,
  type CompactOptions,
  type Fitted,
  type HandleSetting,
} from './thread-handle.ts';
import { budget, type Budget } from '../tokens/budget.ts';
import { estimator, startCalibration } from '../tokens/calibration.ts';
import type { Counter } from '../tokens/counter.ts';
import { modelFacts, type ModelTable } from '../tokens/models.ts';

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
  readonly summarizer?: Summarizer;
  readonly store?: Store;
  readonly artifacts?: ArtifactStore;
  readonly tools?: ToolPolicies;
  readonly rules?: ProviderRules;
  readonly cacheLimits?: CacheLimits;
  readonly tenant?: string;
  readonly clock?: Clock;
}

export interface Bobbin<Wire = Message> {
  /**
   * For hosts that resend everything: all messages in, the prompt out. The same conversation is recognised by its
   * longest known prefix, so its plan goes on and only what is new costs anything.
   */
  fit(messages: readonly Wire[], options?: CompactOptions): Promise<Fitted<Wire>>;
  /** For hosts that do not: the thread of that name, resumed where the store has it. */
  thread(id: string): Promise<ThreadHandle<Wire>>;
}

export function createBobbin(options?: BobbinOptions): Bobbin;
export function createBobbin<Wire>(
  options: BobbinOptions<Wire> & { readonly codec: Codec<Wire> },
): Bobbin<Wire>;
export function createBobbin<Wire>(options: BobbinOptions<Wire> = {}): Bobbin<Wire> {
  const setting = settingOf(options);
  const tenant = options.tenant ?? 'default';
  const fits = new FittedThreads<Wire>(setting, tenant);
  return {
    fit: (messages, compactOptions) => fits.fit(messages, compactOptions),
    async thread(id) {
      const key = { tenant, thread: id as ThreadId };
      return new ThreadHandle(key, setting, await setting.store.window(key));
    },
  };
}

function settingOf<Wire>(options: BobbinOptions<Wire>): HandleSetting<Wire> {
  const facts = modelFacts(options.model, options.models);
  const { preset = 'ladder', counter } = options;
  const policy = typeof preset === 'string' ? PRESETS[preset] : preset;
  if (policy === undefined) {
    throw new RangeError(
      `there is no preset ${JSON.stringify(preset)}; choose one of ${Object.keys(PRESETS).join(', ')}`,
    );
  }
  return {
    policy,
    budget: budget({ windowTokens: options.window ?? facts.windowTokens, ...options.budget }),
    counter: counter ?? estimator(facts.provider),
    calibration:
      counter === undefined ? startCalibration(options.model) : { factor: 1, samples: 0 },
    rules: options.rules ?? STRICT_RULES,
    tools: options.tools ?? {},
    summarizer: options.summarizer ?? extractSummarizer,
    store: options.store ?? memoryStore(),
    artifacts: options.artifacts ?? memoryArtifacts(),
    clock: options.clock ?? systemClock,
    codec: options.codec ?? (PLAIN as Codec<unknown> as Codec<Wire>),
    hooks: options,
    ...(options.cacheLimits === undefined ? {} : { cacheLimits: options.cacheLimits }),
  };
}

/** Bobbin's own messages, as they are. */
const PLAIN: Codec<Message> = {
  name: 'bobbin',
  decode: (messages) => messages,
  encode: (messages) => messages,
};

const MOST_THREADS = 64;

/** The conversations of hosts that resend everything, the least recently used forgotten first. */
class FittedThreads<Wire> {
  readonly #setting: HandleSetting<Wire>;
  readonly #tenant: string;
  #known: Known<Wire>[] = [];

  constructor(setting: HandleSetting<Wire>, tenant: string) {
    this.#setting = setting;
    this.#tenant = tenant;
  }

  async fit(wire: readonly Wire[], options: CompactOptions = {}): Promise<Fitted<Wire>> {
    const known = this.#recognise(wire);
    this.#known = [known, ...this.#known.filter((other) => other !== known)].slice(0, MOST_THREADS);
    const fresh = known.decoded.slice(known.appended);
    known.appended = known.decoded.length;
    if (fresh.length > 0) await known.handle.appendDecoded(fresh);
    return known.handle.prompt(options);
  }

  /** The known conversation that this one continues, or a new one. */
  #recognise(wire: readonly Wire[]): Known<Wire> {
    const same = this.#known.find(
      (known) => known.wire.length <= wire.length && known.wire.every((w, i) => w === wire[i]),
    );
    if (same !== undefined) {
      same.decoded = [...same.decoded, ...this.#setting.codec.decode(wire.slice(same.wire.length))];
      same.wire = wire.slice();
      return same;
    }
    const decoded = this.#setting.codec.decode(wire);
    const continued = this.#known.find((known) => continues(known, decoded));
    if (continued !== undefined) {
      continued.wire = wire.slice();
      continued.decoded = decoded;
      return continued;
    }
    const key = { tenant: this.#tenant, thread: `fit-${idOf(decoded)}` as ThreadId };
    return {
      handle: new ThreadHandle(key, this.#setting),
      wire: wire.slice(),
      decoded,
      appended: 0,
    };
  }
}

interface Known<Wire> {
  readonly handle: ThreadHandle<Wire>;
  wire: readonly Wire[];
  decoded: readonly Message[];
  /** How many of the decoded messages the thread has. */
  appended: number;
}

/** True where every message of a known conversation stands at its place in another. */
function continues<Wire>(known: Known<Wire>, decoded: readonly Message[]): boolean {
  const { handle } = known;
  if (handle.length === 0 || handle.length > decoded.length) return false;
  let parent = null;
  for (let i = 0; i < handle.length; i++) {
    const message = decoded[i] as Message;
    const node = handle.at(i);
    const id = messageId(parent, message);
    if (node !== undefined && node.id !== id) return false;
    parent = id;
  }
  return parent === handle.head;
}

function idOf(messages: readonly Message[]): string {
  let id = null;
  for (const message of messages) id = messageId(id, message);
  return id ?? sha256('');
}
