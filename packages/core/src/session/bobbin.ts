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
import { openSession } from './open-session.ts';
import type { Session } from './session.ts';
import type { Budget } from '../tokens/budget.ts';
import type { Counter } from '../tokens/counter.ts';
import type { ModelTable } from '../tokens/models.ts';

/**
 * The options of `createBobbin`. All are optional. By default, threads are kept in memory, the preset is `ladder`, and
 * no model is called.
 */
export interface BobbinOptions<Wire = Message> extends CompactionHooks {
  /** The id of the model that reads the prompts. Its window, its cache prices and its tokenizer follow from it. */
  readonly model?: string;
  /** Windows and prices of models that Bobbin does not know. They take precedence over Bobbin's own table. */
  readonly models?: ModelTable;
  /** The window in tokens. If absent, the model's window. */
  readonly window?: number;
  readonly budget?: Partial<Budget>;
  readonly preset?: PresetName | Policy;
  /**
   * How much the default preset trims older tool output, from `gentle` (least) to `frugal` (most). The default is
   * `careful`. See docs/cost.md.
   */
  readonly thrift?: Thrift;
  /**
   * True if the model has the tools `read_artifact` and `recall`. Only then do prompts mention them. Reading the
   * property `tools` sets it too.
   */
  readonly offersReadArtifact?: boolean;
  /** The codec of the host's message format. If absent, messages are in Bobbin's own format. */
  readonly codec?: Codec<Wire>;
  /**
   * Counts tokens. If absent, tokens are counted exactly if the model's tokenizer is public and installed, and
   * otherwise estimated.
   */
  readonly counter?: Counter;
  /**
   * Lets a model write summaries. Bobbin verifies, redacts and caches everything that it writes. If absent, Bobbin
   * makes summaries without a model.
   */
  readonly summarizer?: Summarizer;
  /**
   * How long the summarizer may take. After that, Bobbin makes the summary without a model. The default is three
   * minutes.
   */
  readonly summaryDeadlineMs?: number;
  /** Caches summaries. If absent, they are cached in this process. */
  readonly summaryCache?: SummaryCache;
  /** Removes secrets from summaries. The default is `redactSecrets`. */
  readonly redact?: Redact;
  readonly store?: Store;
  readonly artifacts?: ArtifactStore;
  /** True: an append fails if another writer has continued the thread. False (the default): the append makes a fork. */
  readonly singleWriter?: boolean;
  readonly tools?: ToolPolicies;
  readonly rules?: ProviderRules;
  readonly cacheLimits?: CacheLimits;
  /**
   * Limits how much compacted content Bobbin shows again by itself in one turn. `budget.rehydrationTokens` limits its
   * tokens.
   */
  readonly rehydration?: Partial<RehydrationLimits>;
  /** If given, recall also searches by meaning. */
  readonly embedder?: Embedder;
  readonly tenant?: string;
  /**
   * The permissions and the clearance of the reader of the prompts. If absent, the reader may read all artifacts of the
   * tenant.
   */
  readonly access?: Omit<Requester, 'tenant'>;
  readonly clock?: Clock;
}

/** Makes prompts that fit the model's window, from whole histories (`fit`, `send`) or from sessions (`thread`). */
export interface Bobbin<
  Wire = Message,
  Tool = ToolDefinition,
  Result = Message,
> extends Controls<Wire> {
  /**
   * Takes the whole history and returns a prompt that fits. It is for hosts that pass all messages each time. `fit`
   * recognises the conversation by its longest known beginning, continues with its plan, and processes only new
   * messages.
   */
  fit<T extends Wire>(messages: readonly T[], options?: CompactOptions): Promise<Fitted<T>>;
  /**
   * Makes the messages fit, passes them to your function `request`, which calls the provider, and returns its response.
   * The usage in the response corrects the counter. If the provider refuses the prompt as too long, `send` compacts the
   * conversation and calls `request` once more.
   *
   * @throws RefusedTwice if the provider refuses the second prompt too.
   */
  send<T extends Wire, Response>(
    messages: readonly T[],
    request: (messages: T[], fitted: Fitted<T>) => PromiseLike<Response>,
    options?: CompactOptions,
  ): Promise<Response>;
  /**
   * The tools `read_artifact` and `recall`, in the provider's format. Add them to the model's tools and answer their
   * calls with `answer`. Prompts mention these tools only after your program has read this property.
   */
  readonly tools: Tool[];
  /** The result of a call of one of `tools`, in the provider's format. Undefined for a call of any other tool. */
  answer(call: unknown, where?: Where<Wire>): Promise<Result | undefined>;
  /**
   * Opens the thread with this name, or begins it if the store does not have it. It is for hosts that pass each message
   * once. With `head`, the thread continues after an older message.
   */
  thread(id: string, head?: MessageId): Promise<Session<Wire>>;
}

/**
 * Makes a `Bobbin`, the object that makes prompts fit. Without options, it keeps threads in memory, uses the preset
 * `ladder` and summarises without a model.
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
