import { isJsonObject, parseJson, type Json, type JsonObject } from '@bobbin/core/internal';
import { tokensText } from '../figures.ts';
import type { Model } from './models.ts';

/** A server that speaks OpenAI's chat protocol. */
export interface Endpoint {
  readonly baseURL: string;
  readonly apiKey?: string;
}

/** What a server says of a model's window: what the model is loaded with, or only the most that it could be. */
interface ServerWindow {
  readonly loadedTokens?: number;
  readonly mostTokens?: number;
}

const PATIENCE_MS = 1_500;
/** Lists of models and sizes are short; a longer answer is something else. */
const MOST_BYTES = 4_000_000;

/** The names of the models that a server has; undefined if none answers. */
export async function listedModels(endpoint: Endpoint): Promise<readonly string[] | undefined> {
  const answer = await asked(endpoint, `${bare(endpoint)}/models`);
  if (answer === undefined) return undefined;
  return objectsIn(answer['data']).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
}

/**
 * A model with the window that its server reports, if it has a server and the size is not known otherwise. The notice
 * says what is assumed if the server does not report it.
 */
export async function withServerWindow(
  model: Model,
): Promise<{ readonly model: Model; readonly notice?: string }> {
  const { endpoint, windowFrom, windowTokens, name } = model;
  if (endpoint === undefined || windowFrom === 'given') return { model };
  const { loadedTokens, mostTokens } = await serverWindow(endpoint, model.id);
  if (loadedTokens !== undefined)
    return { model: { ...model, windowTokens: loadedTokens, windowFrom: 'server' } };
  const tokens = mostTokens ?? windowTokens;
  if (mostTokens === undefined && windowFrom === 'known') return { model };
  const why =
    mostTokens === undefined
      ? 'its server does not say how large the window is'
      : 'that is the most it can have, and its server does not say with how much it runs';
  return {
    model: { ...model, windowTokens: tokens, windowFrom: 'assumed' },
    notice: `${name}: a window of ${tokensText(tokens)} tokens is assumed; ${why}. ${name}@N sets it.`,
  };
}

/**
 * A model that was assumed to have some window, once it has answered: a server that loads models when they are first
 * asked reports only then what it gave them. Undefined if there is nothing new.
 */
export async function withLoadedWindow(model: Model): Promise<Model | undefined> {
  if (model.windowFrom !== 'assumed') return undefined;
  const { model: reported } = await withServerWindow(model);
  return reported.windowFrom === 'server' ? reported : undefined;
}

/** Asks all that a server may be at once. What is not on this machine gets the one question that all of them know. */
async function serverWindow(endpoint: Endpoint, id: string): Promise<ServerWindow> {
  const root = bare(endpoint).replace(/\/v\d+$/, '');
  const listed = listedWindow(endpoint, id);
  if (!isLoopback(root)) return listed;
  const windows = await Promise.all([
    llamaWindow(endpoint, root),
    ollamaWindow(endpoint, root, id),
    lmStudioWindow(endpoint, root, id),
    listed,
  ]);
  return {
    ...windows.findLast(({ mostTokens }) => mostTokens !== undefined),
    ...windows.find(({ loadedTokens }) => loadedTokens !== undefined),
  };
}

/** `/v1/models`: vLLM, llama.cpp, Groq and OpenRouter each name the size in their own way. */
async function listedWindow(endpoint: Endpoint, id: string): Promise<ServerWindow> {
  const answer = await asked(endpoint, `${bare(endpoint)}/models`);
  const entry = objectsIn(answer?.['data']).find((each) => each['id'] === id) ?? {};
  const meta = isJsonObject(entry['meta']) ? entry['meta'] : {};
  return windowOf(
    [meta['n_ctx'], entry['max_model_len'], entry['context_window'], entry['context_length']],
    [meta['n_ctx_train']],
  );
}

/** `/props` of llama.cpp: the size of one slot, which is what a request gets. */
async function llamaWindow(endpoint: Endpoint, root: string): Promise<ServerWindow> {
  const props = await asked(endpoint, `${root}/props`);
  const settings = props?.['default_generation_settings'];
  return windowOf([isJsonObject(settings) ? settings['n_ctx'] : undefined, props?.['n_ctx']], []);
}

/** `/api/ps` of Ollama reports what a model runs with; `/api/show` what its file sets, and the most it was made for. */
async function ollamaWindow(endpoint: Endpoint, root: string, id: string): Promise<ServerWindow> {
  const [running, shown] = await Promise.all([
    asked(endpoint, `${root}/api/ps`),
    asked(endpoint, `${root}/api/show`, { model: id }),
  ]);
  const names = new Set([id, `${id}:latest`]);
  const loaded = objectsIn(running?.['models']).find(({ name, model }) =>
    [name, model].some((each) => typeof each === 'string' && names.has(each)),
  );
  const { parameters = '', model_info: info = {} } = shown ?? {};
  const set = /^num_ctx\s+(\d+)$/m.exec(typeof parameters === 'string' ? parameters : '')?.[1];
  const most = Object.entries(isJsonObject(info) ? info : {}).find(([name]) =>
    name.endsWith('.context_length'),
  );
  return windowOf([loaded?.['context_length'], Number(set)], [most?.[1]]);
}

/** `/api/v0/models` of LM Studio. */
async function lmStudioWindow(endpoint: Endpoint, root: string, id: string): Promise<ServerWindow> {
  const answer = await asked(endpoint, `${root}/api/v0/models`);
  const entry = objectsIn(answer?.['data']).find((each) => each['id'] === id);
  return windowOf([entry?.['loaded_context_length']], [entry?.['max_context_length']]);
}

function windowOf(
  loaded: readonly (Json | undefined)[],
  most: readonly (Json | undefined)[],
): ServerWindow {
  const [loadedTokens, mostTokens] = [loaded.find(isCount), most.find(isCount)];
  return {
    ...(loadedTokens === undefined ? {} : { loadedTokens }),
    ...(mostTokens === undefined ? {} : { mostTokens }),
  };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function bare({ baseURL }: Endpoint): string {
  return baseURL.replace(/\/+$/, '');
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}

/** The object that a server answers with; undefined if it does not, or with something else. */
async function asked(
  { apiKey }: Endpoint,
  url: string,
  body?: JsonObject,
): Promise<JsonObject | undefined> {
  try {
    const response = await fetch(url, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!response.ok) return undefined;
    const answer = parseJson(await limitedText(response));
    return isJsonObject(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}

async function limitedText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MOST_BYTES) throw new Error('the answer is too long');
  }
  return text + decoder.decode();
}
