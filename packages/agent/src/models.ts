import { contextLimit } from '@bobbin/core/internal';
import type { LanguageModel } from 'ai';
import { ExpectedError } from './expected-error.ts';
import { scriptedModel } from './scripted-model.ts';
import type { ModelSettings, ProviderSettings, Settings } from './settings.ts';

/** A model that was chosen; its provider's code is loaded when it is first asked. */
export interface Model {
  /** `provider/id`. */
  readonly name: string;
  readonly provider: string;
  readonly id: string;
  readonly windowTokens: number;
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
  const own = modelSettings(name, settings);
  const windowTokens =
    window === undefined ? (own.windowTokens ?? contextLimit(name)) : Number(window);
  const common = { name, provider, id, windowTokens };
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
    default:
      return {
        ...common,
        structured: false,
        load: once(compatible(provider, id, settings, env, name)),
      };
  }
}

/** What the settings know of a model, with or without the window behind its name. */
export function modelSettings(name: string, { models }: Settings): ModelSettings {
  return models[name] ?? models[name.replace(/@\d+$/, '')] ?? {};
}

function compatible(
  provider: string,
  id: string,
  settings: Settings,
  env: NodeJS.ProcessEnv,
  name: string,
): () => Promise<LanguageModel> {
  const endpoint = settings.providers[provider] ?? LOCAL[provider];
  if (endpoint === undefined) {
    const known = [
      'anthropic',
      'openai',
      'scripted',
      ...Object.keys(LOCAL),
      ...Object.keys(settings.providers),
    ];
    throw new ExpectedError(
      `there is no provider ${provider}; known are ${known.join(', ')}, and settings can add more`,
    );
  }
  const { baseURL, keyVariable } = endpoint;
  const apiKey = keyVariable === undefined ? undefined : requiredKey(env, keyVariable, name);
  return async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const options = { name: provider, baseURL, includeUsage: true };
    return createOpenAICompatible(apiKey === undefined ? options : { ...options, apiKey })(id);
  };
}

/** The key, and another address than the provider's own where the environment names one. */
function providerOptions(
  env: NodeJS.ProcessEnv,
  prefix: 'ANTHROPIC' | 'OPENAI',
  name: string,
): { apiKey: string; baseURL?: string } {
  const apiKey = requiredKey(env, `${prefix}_API_KEY`, name);
  const baseURL = env[`${prefix}_BASE_URL`] ?? '';
  if (baseURL === '') return { apiKey };
  // Anthropic's own clients put the version behind what this variable names, OpenAI's have it there.
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
