import type { Fitted } from './fitted.ts';
import { conversationAt, controlsOf, type Controls, type Where } from './recognise/controls.ts';
import { Conversations } from './recognise/conversations.ts';
import { sendFitting } from './recognise/sending.ts';
import type { Thrift } from '../plan/trim-figures.ts';
import type { ToolPolicies } from '../plan/tool-policy.ts';
import type { Policy } from '../compact/policy.ts';
import type {
  ArtifactStore,
  Clock,
  Codec,
  Store,
  Summarizer,
  Embedder,
  Requester,
  ToolDefinition,
} from '../ports.ts';
import { MEMORY_TOOLS } from '../recall/memory-tools.ts';
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
import { counterLoader, withVisibleWarnings } from './config/host.ts';
import { openSession, type Session } from './session.ts';
import type { Budget } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';
import type { ModelTable } from '../tokens/models.ts';

/** Everything has a default that works: memory, the `ladder` preset, summaries without a model. */
export interface BobbinOptions<Wire = Message> extends CompactionHooks {
  /**
   * The model that reads the prompts: decides its window, its cache prices and the factor from estimate to its tokens.
   */
  readonly model?: string;
  /** Facts of models that the table does not have. */
  readonly models?: ModelTable;
  /** The window in tokens; the model's if absent. */
  readonly window?: number;
  readonly budget?: Partial<Budget>;
  readonly preset?: PresetName | Policy;
  /** How much the default preset trims older tool output, from `careful` (the default) to `frugal`: see docs/cost.md. */
  readonly thrift?: Thrift;
  /** The model has the tools `read_artifact` and `recall`: only then do prompts name them. Reading `tools` says so too. */
  readonly offersReadArtifact?: boolean;
  /** The host's message format; Bobbin's own if absent. */
  readonly codec?: Codec<Wire>;
  /**
   * If absent, tokens are counted exactly if the model's tokenizer is public and installed, otherwise estimated.
   */
  readonly counter?: Counter;
  /** Everything it writes is verified against the extract, redacted and cached. */
  readonly summarizer?: Summarizer;
  /** How long it may take before the extract is used instead: three minutes if absent. */
  readonly summaryDeadlineMs?: number;
  /** In this process if absent. */
  readonly summaryCache?: SummaryCache;
  /** Takes secrets out of summaries; `redactSecrets` if absent. */
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
  /** If given, recall goes by meaning too. */
  readonly embedder?: Embedder;
  readonly tenant?: string;
  /** What the reader of the prompts may see of artifacts; all of the tenant's if absent. */
  readonly access?: Omit<Requester, 'tenant'>;
  readonly clock?: Clock;
}

/** Fits lists of messages, and opens sessions. */
export interface Bobbin<
  Wire = Message,
  Tool = ToolDefinition,
  Result = Message,
> extends Controls<Wire> {
  /**
   * For hosts that resend everything: all messages in, the prompt out. The same conversation is recognised by its
   * longest known prefix, so its plan goes on and only what is new costs anything.
   */
  fit<T extends Wire>(messages: readonly T[], options?: CompactOptions): Promise<Fitted<T>>;
  /**
   * Fits the messages and sends them: `request` calls the provider with what it is given, and its response is returned.
   * The usage in the response corrects the counter. If the provider refuses the prompt as too long, the conversation is
   * compacted and sent once more.
   *
   * @throws RefusedTwice if the provider refuses the second prompt too.
   */
  send<T extends Wire, Response>(
    messages: readonly T[],
    request: (messages: T[], fitted: Fitted<T>) => PromiseLike<Response>,
    options?: CompactOptions,
  ): Promise<Response>;
  /**
   * `read_artifact` and `recall`, as the provider takes tools. Add them to the model's tools and answer their calls with
   * `answer`. Prompts name them only once this was read.
   */
  readonly tools: Tool[];
  /** The result of a call of one of `tools`, as the provider takes results; undefined for any other call. */
  answer(call: unknown, where?: Where<Wire>): Promise<Result | undefined>;
  /**
   * For hosts that do not: the thread of that name, resumed if the store has it, at its newest message or an older one.
   */
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
export function createBobbin<Wire, Tool = object, Result = object>(
  options: BobbinOptions<Wire> & { readonly codec: Codec<Wire, Tool, Result> },
): Bobbin<Wire, Tool, Result>;
export function createBobbin<Wire>(
  options: BobbinOptions<Wire> = {},
): Bobbin<Wire, object, object> {
  let areToolsOffered = false;
  const config = {
    ...sessionConfig(withVisibleWarnings(options)),
    offersTools: () => areToolsOffered,
  };
  const { codec } = config;
  const { tenant = 'default' } = options;
  const ready = counterLoader(config);
  const conversations = new Conversations(config, { tenant, ready });

  return {
    ...controlsOf(conversations, config),
    async fit<T extends Wire>(messages: readonly T[], fitOptions?: CompactOptions) {
      if (fitOptions !== undefined) checkCompactOptions(fitOptions);
      const request = await conversations.take(messages);
      return (await request.prompt(fitOptions)) as Fitted<T>;
    },
    async send<T extends Wire, Response>(
      messages: readonly T[],
      request: (messages: T[], fitted: Fitted<T>) => PromiseLike<Response>,
      fitOptions?: CompactOptions,
    ) {
      if (fitOptions !== undefined) checkCompactOptions(fitOptions);
      const taken = await conversations.take(messages);
      const response = await sendFitting(taken, await taken.prompt(fitOptions), (fitted) =>
        request(fitted.messages as T[], fitted as Fitted<T>),
      );
      taken.report(codec.usage?.(response));
      taken.session.report(...(codec.reports?.(response) ?? []));
      return response;
    },
    get tools() {
      areToolsOffered = true;
      const { tools } = toolCodec(codec);
      return MEMORY_TOOLS.map(({ definition }) => tools.tool(definition));
    },
    async answer(call, where) {
      const { tools } = toolCodec(codec);
      const asked = tools.call(call);
      const tool = MEMORY_TOOLS.find(({ definition }) => definition.name === asked?.tool);
      if (asked === undefined || tool === undefined) return undefined;
      const { session } = await conversationAt(conversations, where);
      return tools.result(asked, await tool.answer(config, session.key, asked.args));
    },
    thread: async (id, head) => openSession(await ready(), tenant, id, head),
  };
}

/** @throws TypeError if the codec does not say how its provider writes tools. */
function toolCodec<Wire>(codec: Codec<Wire>): Required<Pick<Codec<Wire>, 'tools'>> {
  const { name, tools } = codec;
  if (tools !== undefined) return { tools };
  throw new TypeError(`codec ${name} cannot write tools: it has no member tools`);
}
