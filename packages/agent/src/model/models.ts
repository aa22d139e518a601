import { contextLimit, isKnownModel } from '@bobbin/core/internal';
import type { LanguageModel } from 'ai';
import { ExpectedError } from '../expected-error.ts';
import type { Endpoint } from './model-server.ts';
import { scriptedModel } from './scripted-model.ts';
import type { ModelSettings, ProviderSettings, Settings } from '../settings.ts';

/** A model that was chosen; its provider's code is loaded when it is first asked. */
export interface Model {
  /** `provider/id`. */
  readonly name: string;
  readonly provider: string;
  readonly id: string;
  readonly windowTokens: number;
  /** The source of the window's size: a person, its server, the table of models, or none. */
  readonly windowFrom: 'given' | 'server' | 'known' | 'assumed';
  /** The server that can be asked of the model; none for the providers' own. */
  readonly endpoint?: Endpoint;
  /** Whether the provider holds it to a schema; free text is asked for otherwise. */
  readonly structured: boolean;
  load(): Promise<LanguageModel>;
}

/** Servers on this machine that ask for no key. */
const LOCAL: Readonly<Record<string, ProviderSettings>> = {
  ollama: { baseURL: 'http://127.0.0.1:11434/v1' },
  lmstudio: { baseURL: 'http://127.0.0.1:1234/v1' },
  llamacpp: { baseURL: 'http://127.0.0.1:8080/v1' },
};

/** The model to begin with: what was asked for, or the first whose key is there. */
export function defaultModel(settings: Settings, env: NodeJS.ProcessEnv): string | undefined {
  if (settings.model !== undefined) return settings.model;
  if (hasKey(env, 'ANTHROPIC_API_KEY')) return 'anthropic/claude-sonnet-5-5';
  return hasKey(env, 'OPENAI_API_KEY') ? 'openai/gpt-6.1' : undefined;
}

/** A name such as `openai/gpt-5`, `scripted/demo` or `scripted/./script.mjs@16000`, where `@` sets the window. */
export function chooseModel(
  name: string,
  settings: Settings,
  env: NodeJS.ProcessEnv,
  project: string,
): Model {
  const slash = name.indexOf('/');
  const provider = name.slice(0, slash);
  const [, id = '', window] = /^(.*?)(?:@(\d+))?$/s.exec(name.slice(slash + 1)) ?? [];
  if (slash < 1 || id === '')
    throw new ExpectedError(
      `a model is named provider/id, such as anthropic/claude-sonnet-5, not ${JSON.stringify(name)}`,
    );
  const given = window === undefined ? modelSettings(name, settings).windowTokens : Number(window);
  const windowTokens = given ?? contextLimit(name);
  const table = isKnownModel(name) ? ('known' as const) : ('assumed' as const);
  const windowFrom = given === undefined ? table : ('given' as const);
  const common = { name, provider, id, windowTokens, windowFrom };
  switch (provider) {
    case 'scripted':
      return {
        ...common,
        structured: false,
        load: once(() => scriptedModel(id, windowTokens, project)),
      };
    case 'anthropic': {
      const options = providerOptions(env, 'ANTHROPIC', name);
      return {
        ...common,
        structured: true,
        load: once(async () => (await import('@ai-sdk/anthropic')).createAnthropic(options)(id)),
      };
    }
    case 'openai': {
      const options = providerOptions(env, 'OPENAI', name);
      return {
        ...common,
        structured: true,
        load: once(async () => (await import('@ai-sdk/openai')).createOpenAI(options)(id)),
      };
    }
    default: {
      const endpoint = endpointOf(provider, settings, env, name);
      return {
        ...common,
        endpoint,
        structured: false,
        load: once(compatible(provider, id, endpoint)),
      };
    }
  }
}

/** What the settings know of a model, with or without the window after its name. */
export function modelSettings(name: string, { models }: Settings): ModelSettings {
  return models[name] ?? models[name.replace(/@\d+$/, '')] ?? {};
}

/** The servers that can be asked for their models: those on this machine, and the user's own. */
export function servers({ providers }: Settings): readonly string[] {
  return [...new Set([...Object.keys(LOCAL), ...Object.keys(providers)])];
}

/** @throws ExpectedError if there is no such server, or no key for it. */
export function endpointOf(
  provider: string,
  settings: Settings,
  env: NodeJS.ProcessEnv,
  name: string,
): Endpoint {
  const found = settings.providers[provider] ?? LOCAL[provider];
  if (found === undefined) {
    const known = ['anthropic', 'openai', 'scripted', ...servers(settings)];
    throw new ExpectedError(
      `there is no provider ${provider}; known are ${known.join(', ')}, and settings can add more`,
    );
  }
  const { baseURL, keyVariable } = found;
  if (keyVariable === undefined) return { baseURL };
  return { baseURL, apiKey: requiredKey(env, keyVariable, name) };
}

function compatible(
  provider: string,
  id: string,
  endpoint: Endpoint,
): () => Promise<LanguageModel> {
  return async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ name: provider, includeUsage: true, ...endpoint })(id);
  };
}

/** Models of the providers' own that are offered by name, the default first; any other can be named. */
export const OFFERED: readonly string[] = [
  'anthropic/claude-sonnet-5-5',
  'anthropic/claude-opus-5-5',
  'anthropic/claude-haiku-5',
  'openai/gpt-6.1',
  'openai/gpt-5.4-mini',
];

/** The variable that a provider's own models need; undefined if it is there, or none is needed. */
export function missingKey(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const variable = `${name.slice(0, name.indexOf('/')).toUpperCase()}_API_KEY`;
  return hasKey(env, variable) ? undefined : variable;
}

/** The key, and another address than the provider's own if the environment names one. */
function providerOptions(
  env: NodeJS.ProcessEnv,
  prefix: 'ANTHROPIC' | 'OPENAI',
  name: string,
): { apiKey: string; baseURL?: string } {
  const apiKey = requiredKey(env, `${prefix}_API_KEY`, name);
  const baseURL = env[`${prefix}_BASE_URL`] ?? '';
  if (baseURL === '') return { apiKey };
  // Anthropic's own clients append the version to what this variable names; OpenAI's variable includes it.
  if (prefix === 'OPENAI' || /\/v\d+\/?$/.test(baseURL)) return { apiKey, baseURL };
  return { apiKey, baseURL: `${baseURL.replace(/\/$/, '')}/v1` };
}

function hasKey(env: NodeJS.ProcessEnv, variable: string): boolean {
  return (env[variable] ?? '') !== '';
}

function requiredKey(env: NodeJS.ProcessEnv, variable: string, name: string): string {
  const key = env[variable] ?? '';
  if (key === '')
    throw new ExpectedError(`${name} needs a key in the environment variable ${variable}`);
  return key;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
