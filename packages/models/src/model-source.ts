/** A model of the AI SDK, such as `openai('gpt-5-mini')`, or the id of one. */
export type AiSdkModel =
  | string
  | {
      readonly provider: string;
      readonly modelId: string;
      doGenerate(options: never): PromiseLike<unknown>;
    };

/** A client of OpenAI's, such as `new OpenAI()`, or of a compatible server. */
export interface OpenAIClient {
  readonly chat: {
    readonly completions: { create(body: never, options: never): PromiseLike<unknown> };
  };
}

/** A client of Anthropic's, such as `new Anthropic()`. */
export interface AnthropicClient {
  readonly messages: { create(body: never, options: never): PromiseLike<unknown> };
  readonly beta?: {
    readonly messages: { create(body: never, options: never): PromiseLike<unknown> };
  };
}

/** A chat model of LangChain's, such as `new ChatOpenAI()`. */
export interface LangchainModel {
  invoke(messages: never, options?: never): Promise<unknown>;
  withStructuredOutput?(
    schema: never,
    options: never,
  ): { invoke(messages: never, options?: never): Promise<unknown> };
}

/** The model that writes a summary. */
export type ModelSource =
  | { readonly kind: 'ai-sdk'; readonly model: AiSdkModel }
  | { readonly kind: 'openai'; readonly client: OpenAIClient; readonly model: string }
  | { readonly kind: 'anthropic'; readonly client: AnthropicClient; readonly model: string }
  | { readonly kind: 'langchain'; readonly model: LangchainModel };

const EXAMPLES =
  "modelSummarizer({ model: openai('gpt-5-mini') }) of the AI SDK, modelSummarizer({ model: new ChatOpenAI() }), " +
  "or modelSummarizer({ client: new OpenAI(), model: 'gpt-5-mini' })";

/**
 * The model that a host means.
 *
 * @throws TypeError, one line, if the value is not a model.
 */
export function sourceOf(options: {
  readonly model?: unknown;
  readonly client?: unknown;
}): ModelSource {
  const { model, client } = options ?? {};
  if (client !== undefined) return clientSource(client, model);
  if (model === undefined)
    throw new TypeError(`model: modelSummarizer needs a model, as in ${EXAMPLES}`);
  if (has(model, 'doGenerate') || typeof model === 'string')
    return { kind: 'ai-sdk', model: model as AiSdkModel };
  if (has(model, 'invoke')) return { kind: 'langchain', model: model as LangchainModel };
  if (isOpenAI(model) || isAnthropic(model))
    throw new TypeError(
      "model is a client: pass it as client, and the model's id as model, as in modelSummarizer({ client, model: 'gpt-5-mini' })",
    );
  throw new TypeError(`model must be a model, as in ${EXAMPLES}`);
}

function clientSource(client: unknown, model: unknown): ModelSource {
  if (typeof model !== 'string' || model === '')
    throw new TypeError("model: beside a client it is the model's id, such as 'gpt-5-mini'");
  if (isOpenAI(client)) return { kind: 'openai', client, model };
  if (isAnthropic(client)) return { kind: 'anthropic', client, model };
  throw new TypeError('client must be a client of OpenAI or Anthropic, such as new OpenAI()');
}

/** The model that answers, for reports and cache keys. */
export function nameOf(source: ModelSource): string {
  if (source.kind === 'ai-sdk') {
    const { model } = source;
    return typeof model === 'string' ? model : `${model.provider}:${model.modelId}`;
  }
  return `${source.kind}:${modelIdOf(source) ?? 'model'}`;
}

/** The id by which the window of a model is looked up. */
export function modelIdOf(source: ModelSource): string | undefined {
  if (source.kind === 'langchain') {
    const { model, modelName } = source.model as {
      readonly model?: unknown;
      readonly modelName?: unknown;
    };
    return [model, modelName].find((id) => typeof id === 'string');
  }
  const { model } = source;
  return typeof model === 'string' ? model : model.modelId;
}

function isOpenAI(value: unknown): value is OpenAIClient {
  const { chat } = fields(value);
  return has(fields(chat)['completions'], 'create');
}

function isAnthropic(value: unknown): value is AnthropicClient {
  return has(fields(value)['messages'], 'create');
}

function has(value: unknown, method: string): boolean {
  return typeof fields(value)[method] === 'function';
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
