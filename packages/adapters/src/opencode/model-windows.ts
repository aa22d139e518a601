import type { Budget } from '@bobbin/core';
import { isJsonObject, lastOf, type Json, type JsonObject } from '@bobbin/core/internal';
import type { AdapterOptions } from '../conversations.ts';
import type { OpenCodeMessage } from './message.ts';

/** OpenCode asks for answers of at most this many tokens, even if a model could write more. */
const LONGEST_ANSWER_TOKENS = 32_000;

/** As much of OpenCode's client as is needed to ask for the limits of its models. */
interface Client {
  readonly config: { providers(): Promise<{ readonly data?: unknown }> };
}

/** The windows of OpenCode's models. The window of a session follows the model that its newest user message names. */
export class ModelWindows {
  readonly #client: Client | undefined;
  readonly #isFixed: boolean;
  #limits: Promise<ReadonlyMap<string, JsonObject>> | undefined;

  /** A window that the options name holds for every model. */
  constructor(
    { window, budget }: Pick<AdapterOptions<never>, 'window' | 'budget'>,
    client?: Client,
  ) {
    this.#isFixed = window !== undefined || budget?.windowTokens !== undefined;
    this.#client = client;
  }

  async of(messages: readonly OpenCodeMessage[]): Promise<Partial<Budget>> {
    const model = modelOf(messages);
    if (this.#isFixed || model === undefined || this.#client === undefined) return {};
    this.#limits ??= limitsFrom(this.#client);
    const limit = (await this.#limits).get(model);
    const { context, output } = limit ?? {};
    if (typeof context !== 'number' || context <= 0) return {};
    const outputTokens =
      typeof output === 'number' ? { outputTokens: Math.min(output, LONGEST_ANSWER_TOKENS) } : {};
    return { windowTokens: context, ...outputTokens };
  }
}

function modelOf(messages: readonly OpenCodeMessage[]): string | undefined {
  const newest = lastOf(messages, ({ info }) => info.role === 'user');
  const { model } = (newest?.info ?? {}) as { readonly model?: Json };
  if (!isJsonObject(model)) return undefined;
  return nameOf(model['providerID'], model['modelID']);
}

function nameOf(provider: unknown, model: unknown): string {
  return `${String(provider)}/${String(model)}`;
}

/** The limits of all models, by provider and model. A client that does not answer knows none. */
async function limitsFrom({ config }: Client): Promise<ReadonlyMap<string, JsonObject>> {
  const { data } = await config.providers().catch(() => ({ data: undefined }));
  const limits = new Map<string, JsonObject>();
  for (const provider of objectsIn(isJsonObject(data) ? data['providers'] : undefined)) {
    const { id, models } = provider;
    for (const [name, model] of Object.entries(isJsonObject(models) ? models : {}))
      if (isJsonObject(model) && isJsonObject(model['limit']))
        limits.set(nameOf(id, name), model['limit']);
  }
  return limits;
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
