import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  isJsonObject,
  parseJson,
  PRESETS,
  type Json,
  type JsonObject,
} from '@bobbin/core/internal';
import { ExpectedError } from './expected-error.ts';
import type { Folders } from './folders.ts';
import { isRule } from './loop/permissions.ts';
import { loadsModule } from './model/scripted-model.ts';

export interface CompactionSettings {
  readonly enabled: boolean;
  /** Compaction begins when less than this is left of the window. */
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
  /** A preset of the engine instead of the agent's own policy. */
  readonly preset?: string;
  /** The model that writes summaries, if it is not the one that works. */
  readonly model?: string;
}

/** An endpoint that speaks OpenAI's chat protocol. */
export interface ProviderSettings {
  readonly baseURL: string;
  /** The environment variable that holds the key; none for a server that asks for none. */
  readonly keyVariable?: string;
}

/** What the user knows of a model better than the table. */
export interface ModelSettings {
  readonly windowTokens?: number;
  /** In any currency, for a million tokens. */
  readonly inputPrice?: number;
  readonly outputPrice?: number;
}

export interface Settings {
  readonly model?: string;
  readonly compaction: CompactionSettings;
  readonly allow: readonly string[];
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly models: Readonly<Record<string, ModelSettings>>;
}

const DEFAULT_SETTINGS: Settings = {
  compaction: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 },
  allow: [],
  providers: {},
  models: {},
};

export function userSettingsPath(folders: Folders): string {
  return join(folders.config, 'settings.json');
}

function projectSettingsPath(folders: Folders): string {
  return join(folders.project, '.bobbin', 'settings.json');
}

/**
 * The settings in force: the user's, then the project's on top. A project comes from anywhere, so it can neither allow
 * commands, nor say where keys are sent, nor name a model that is code.
 */
export function loadSettings(folders: Folders, env: NodeJS.ProcessEnv): Settings {
  const user = readSettings(userSettingsPath(folders));
  const { model, compaction, ...refused } = readSettings(projectSettingsPath(folders));
  const [name] = [
    ...Object.keys(refused),
    ...(model !== undefined && loadsModule(model) ? ['a model that is a module'] : []),
    ...(compaction?.model !== undefined && loadsModule(compaction.model)
      ? ['a compaction.model that is a module']
      : []),
  ];
  if (name !== undefined)
    throw new ExpectedError(
      `${projectSettingsPath(folders)}: ${name} can be set only in ${userSettingsPath(folders)}`,
    );
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    ...user,
    ...(model === undefined ? {} : { model }),
    compaction: { ...DEFAULT_SETTINGS.compaction, ...user.compaction, ...compaction },
  };
  const own =
    env['BOBBIN_MODEL'] === undefined ? settings : { ...settings, model: env['BOBBIN_MODEL'] };
  const off = env['BOBBIN_DISABLE_AUTOCOMPACT'] ?? '';
  if (off === '' || off === '0' || off === 'false') return own;
  return { ...own, compaction: { ...own.compaction, enabled: false } };
}

/** What one file may say: any part of the settings. */
type Partially = {
  readonly [Name in keyof Settings]?: Name extends 'compaction'
    ? Partial<CompactionSettings>
    : Settings[Name];
};

function readSettings(path: string): Partially {
  return new Decoder(path).settings(settingsObject(path));
}

const LARGEST_BYTES = 1_000_000;

/** What a file holds, {} if there is none. A project can name a device or a pipe: reading it would never end. */
function settingsObject(path: string): JsonObject {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) return {};
  if (!info.isFile()) throw new ExpectedError(`${path}: this is not a regular file`);
  if (info.size > LARGEST_BYTES)
    throw new ExpectedError(`${path}: this is larger than ${LARGEST_BYTES} bytes`);
  const content = parseJson(readFileSync(path, 'utf8'));
  if (!isJsonObject(content)) throw new ExpectedError(`${path}: this is no JSON object`);
  return content;
}

class Decoder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  settings(content: JsonObject): Partially {
    const { model, compaction, permissions, providers, models, ...unknown } = content;
    this.#refuse(unknown, '');
    return {
      ...this.#optional('model', model, isText, 'a text such as "anthropic/claude-sonnet-5"'),
      ...(compaction === undefined ? {} : { compaction: this.#compaction(compaction) }),
      ...(permissions === undefined ? {} : { allow: this.#allow(permissions) }),
      ...(providers === undefined ? {} : { providers: this.#providers(providers) }),
      ...(models === undefined ? {} : { models: this.#models(models) }),
    };
  }

  #compaction(value: Json): Partial<CompactionSettings> {
    const { enabled, reserveTokens, keepRecentTokens, preset, model, ...unknown } = this.#object(
      'compaction',
      value,
    );
    this.#refuse(unknown, 'compaction.');
    return {
      ...this.#optional('compaction.enabled', enabled, isFlag, 'true or false'),
      ...this.#optional(
        'compaction.reserveTokens',
        reserveTokens,
        isCount,
        'a whole number of at least 1',
      ),
      ...this.#optional(
        'compaction.keepRecentTokens',
        keepRecentTokens,
        isCount,
        'a whole number of at least 1',
      ),
      ...this.#optional(
        'compaction.preset',
        preset,
        isPreset,
        `one of ${Object.keys(PRESETS).join(', ')}`,
      ),
      ...this.#optional('compaction.model', model, isText, 'a text'),
    };
  }

  #allow(value: Json): readonly string[] {
    const { allow = [], ...unknown } = this.#object('permissions', value);
    this.#refuse(unknown, 'permissions.');
    if (!Array.isArray(allow)) return this.#fail('permissions.allow', 'a list');
    return allow.map((rule, i) =>
      typeof rule === 'string' && isRule(rule)
        ? rule
        : this.#fail(
            `permissions.allow[${i}]`,
            'a rule such as "run:npm test *" or "write:src/**"',
          ),
    );
  }

  #providers(value: Json): Record<string, ProviderSettings> {
    return this.#each('providers', value, (name, entry) => {
      const { baseURL, keyVariable, ...unknown } = entry;
      this.#refuse(unknown, `${name}.`);
      if (!isText(baseURL) || !URL.canParse(baseURL as string))
        this.#fail(`${name}.baseURL`, 'a URL');
      return {
        baseURL,
        ...this.#optional(`${name}.keyVariable`, keyVariable, isText, 'a text'),
      } as ProviderSettings;
    });
  }

  #models(value: Json): Record<string, ModelSettings> {
    return this.#each('models', value, (name, entry) => {
      const { windowTokens, inputPrice, outputPrice, ...unknown } = entry;
      this.#refuse(unknown, `${name}.`);
      return {
        ...this.#optional(
          `${name}.windowTokens`,
          windowTokens,
          isCount,
          'a whole number of at least 1',
        ),
        ...this.#optional(`${name}.inputPrice`, inputPrice, isPrice, 'a number of at least 0'),
        ...this.#optional(`${name}.outputPrice`, outputPrice, isPrice, 'a number of at least 0'),
      };
    });
  }

  #each<T>(
    name: string,
    value: Json,
    decode: (name: string, entry: JsonObject) => T,
  ): Record<string, T> {
    const entries = Object.entries(this.#object(name, value));
    return Object.fromEntries(
      entries.map(([key, entry]) => [
        key,
        decode(`${name}.${key}`, this.#object(`${name}.${key}`, entry)),
      ]),
    );
  }

  #object(name: string, value: Json | undefined): JsonObject {
    if (!isJsonObject(value)) return this.#fail(name, 'an object');
    return value;
  }

  /** The value under the last part of its name, if there is one. */
  #optional(
    name: string,
    value: Json | undefined,
    is: (value: Json) => boolean,
    wanted: string,
  ): JsonObject {
    if (value === undefined) return {};
    if (!is(value)) this.#fail(name, wanted);
    return { [name.slice(name.lastIndexOf('.') + 1)]: value };
  }

  #refuse(unknown: JsonObject, prefix: string): void {
    const [name] = Object.keys(unknown);
    if (name !== undefined)
      throw new ExpectedError(`${this.#path}: there is no setting ${prefix}${name}`);
  }

  #fail(name: string, wanted: string): never {
    throw new ExpectedError(`${this.#path}: ${name} must be ${wanted}`);
  }
}

const isText = (value: Json | undefined): boolean => typeof value === 'string' && value !== '';
const isFlag = (value: Json): boolean => typeof value === 'boolean';
const isCount = (value: Json): boolean => Number.isInteger(value) && (value as number) >= 1;
const isPrice = (value: Json): boolean => typeof value === 'number' && value >= 0;
const isPreset = (value: Json): boolean =>
  typeof value === 'string' && Object.hasOwn(PRESETS, value);

/** Keeps a choice that a person made with a command, in the user's file; all else in it stays. */
export function saveCompaction(folders: Folders, change: Partial<CompactionSettings>): void {
  const { compaction } = settingsObject(userSettingsPath(folders));
  const before = isJsonObject(compaction) ? compaction : {};
  save(folders, { compaction: { ...before, ...change } });
}

export function saveModel(folders: Folders, model: string): void {
  save(folders, { model });
}

function save(folders: Folders, change: JsonObject): void {
  const path = userSettingsPath(folders);
  const content = { ...settingsObject(path), ...change };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}
