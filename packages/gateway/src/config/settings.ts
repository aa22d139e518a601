import {
  didYouMean,
  isJsonObject,
  PRESETS,
  THRIFT,
  type JsonObject,
  type PresetName,
  type Thrift,
} from '@bobbin/core/internal';
import type { GatewayLimits, GatewayOptions, ModelPolicy } from './gateway-config.ts';
import { DEFAULT_LIMITS } from './gateway-config.ts';
import { policyProblem } from './model-policy.ts';

/** A setting that is not what it should be, with where it was given. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** What a gateway is started with, before its stores are opened. */
export interface GatewaySettings {
  readonly options: Omit<GatewayOptions, 'store' | 'artifacts' | 'ledger' | 'logger'>;
  /** A PostgreSQL address or a folder. */
  readonly store?: string;
  /** A folder, or a bucket as in `s3://name`. */
  readonly artifacts?: string;
  readonly logLevel: string;
  /** The id of the model that writes summaries. */
  readonly summarizer?: string;
}

/** The variables of a process, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where settings come from; what comes first wins. */
export interface SettingSources {
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Environment;
  readonly file?: { readonly path: string; readonly content: unknown };
}

interface Given {
  readonly value: unknown;
  readonly where: string;
}

/** @throws SettingError, one line, where a setting is not what it should be. */
export function gatewaySettings(sources: SettingSources): GatewaySettings {
  const file = fileOf(sources);
  const given = (name: string): Given | undefined => findSetting(name, sources, file);
  const text = (name: string): string | undefined => textOf(given(name));
  const number = (name: string): number | undefined => numberOf(given(name));
  const [host, token, tenantKey] = [text('host'), text('token'), text('tenant-key')];
  const apiToken = text('api-token');
  const [openai, anthropic] = [text('openai'), text('anthropic')];
  const [tools, summarizer] = [switchOf(given('tools')), text('summarizer')];
  const [port, store, artifacts] = [portOf(given('port')), text('store'), text('artifacts')];
  return {
    options: {
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(token === undefined ? {} : { token }),
      ...(apiToken === undefined ? {} : { apiToken }),
      ...(tenantKey === undefined ? {} : { tenantKey }),
      upstreams: {
        ...(openai === undefined ? {} : { openai }),
        ...(anthropic === undefined ? {} : { anthropic }),
      },
      limits: limitsOf(number, file),
      ...(tools === undefined ? {} : { tools }),
      policies: [generalPolicy(text, number), ...policiesOf(file)],
    },
    ...(store === undefined ? {} : { store }),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(summarizer === undefined ? {} : { summarizer }),
    logLevel: text('log-level') ?? 'info',
  };
}

function fileOf({ file }: SettingSources): JsonObject {
  if (file === undefined) return {};
  const { path, content } = file;
  if (!isJsonObject(content)) throw new SettingError(`${path}: must be a JSON object of settings`);
  for (const name of Object.keys(content))
    if (!FILE_SETTINGS.has(name))
      throw new SettingError(
        `${path}: there is no setting ${JSON.stringify(name)}; known are ${[...FILE_SETTINGS].join(', ')}`,
      );
  return content;
}

const FILE_SETTINGS = new Set([
  'host',
  'port',
  'token',
  'api-token',
  'openai',
  'anthropic',
  'store',
  'artifacts',
  'tenant-key',
  'window',
  'soft-share',
  'preset',
  'thrift',
  'log-level',
  'own-work-ms',
  'body-bytes',
  'tools',
  'summarizer',
  'limits',
  'policies',
]);

/** The environment's name of a setting, as in BOBBIN_OWN_WORK_MS. */
export function variableOf(name: string): string {
  return `BOBBIN_${name.replaceAll('-', '_').toUpperCase()}`;
}

function findSetting(
  name: string,
  { flags, env, file: from }: SettingSources,
  file: JsonObject,
): Given | undefined {
  const variable = variableOf(name);
  if (flags[name] !== undefined) return { value: flags[name], where: `--${name}` };
  if ((env[variable] ?? '') !== '') return { value: env[variable], where: variable };
  const value = file[name];
  return value === undefined ? undefined : { value, where: `${from?.path ?? ''}: ${name}` };
}

function textOf(given: Given | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given.value === 'string' && given.value !== '') return given.value;
  throw new SettingError(`${given.where} must be a text, not ${JSON.stringify(given.value)}`);
}

function numberOf(given: Given | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = typeof given.value === 'string' ? Number(given.value) : given.value;
  if (typeof number === 'number' && Number.isFinite(number) && number >= 0 && given.value !== '')
    return number;
  throw new SettingError(
    `${given.where} must be a number of at least 0, not ${JSON.stringify(given.value)}`,
  );
}

const LAST_PORT = 65_535;

function portOf(given: Given | undefined): number | undefined {
  const port = numberOf(given);
  if (port === undefined || (Number.isInteger(port) && port <= LAST_PORT)) return port;
  throw new SettingError(`${given?.where} must be a port from 0 to ${LAST_PORT}, not ${port}`);
}

function switchOf(given: Given | undefined): 'on' | 'off' | undefined {
  if (given === undefined) return undefined;
  if (given.value === 'on' || given.value === 'off') return given.value;
  throw new SettingError(`${given.where} must be on or off, not ${JSON.stringify(given.value)}`);
}

function generalPolicy(
  text: (name: string) => string | undefined,
  number: (name: string) => number | undefined,
): ModelPolicy {
  const [windowTokens, softShare] = [number('window'), number('soft-share')];
  const preset = presetOf(text('preset'), '--preset');
  const thrift = thriftOf(text('thrift'), '--thrift');
  const policy: ModelPolicy = {
    model: '',
    ...(windowTokens === undefined ? {} : { windowTokens }),
    ...(softShare === undefined ? {} : { softShare }),
    ...(preset === undefined ? {} : { preset }),
    ...(thrift === undefined ? {} : { thrift }),
  };
  const problem = policyProblem(policy);
  if (problem !== undefined) throw new SettingError(`--window or --soft-share: ${problem}`);
  return policy;
}

function presetOf(name: unknown, where: string): PresetName | undefined {
  if (name === undefined) return undefined;
  if (typeof name === 'string' && Object.hasOwn(PRESETS, name)) return name as PresetName;
  throw new SettingError(
    `${where} must be one of ${Object.keys(PRESETS).join(', ')}, not ${JSON.stringify(name)}${meant(name, PRESETS)}`,
  );
}

function thriftOf(name: unknown, where: string): Thrift | undefined {
  if (name === undefined) return undefined;
  if (typeof name === 'string' && Object.hasOwn(THRIFT, name)) return name as Thrift;
  throw new SettingError(
    `${where} must be one of ${Object.keys(THRIFT).join(', ')}, not ${JSON.stringify(name)}${meant(name, THRIFT)}`,
  );
}

function meant(name: unknown, names: object): string {
  return typeof name === 'string' ? didYouMean(name, Object.keys(names)) : '';
}

function policiesOf({ policies = [] }: JsonObject): readonly ModelPolicy[] {
  const list: readonly unknown[] = Array.isArray(policies) ? policies : [policies];
  return list.map((policy, i) => {
    const where = `policies[${i}]`;
    if (!isJsonObject(policy) || typeof policy['model'] !== 'string')
      throw new SettingError(`${where} must be an object with a model, such as "claude-"`);
    const { compaction = 'on' } = policy;
    if (compaction !== 'on' && compaction !== 'off')
      throw new SettingError(`${where}.compaction must be on or off`);
    presetOf(policy['preset'], `${where}.preset`);
    thriftOf(policy['thrift'], `${where}.thrift`);
    const known = policy as unknown as ModelPolicy;
    const problem = policyProblem(known);
    if (problem !== undefined) throw new SettingError(`${where}.${problem}`);
    return known;
  });
}

function limitsOf(
  number: (name: string) => number | undefined,
  { limits = {} }: JsonObject,
): Partial<GatewayLimits> {
  if (!isJsonObject(limits)) throw new SettingError('limits must be an object');
  const given: Record<string, number> = {};
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      throw new SettingError(
        `limits: there is no ${JSON.stringify(name)}; known are ${Object.keys(DEFAULT_LIMITS).join(', ')}`,
      );
    given[name] = numberOf({ value, where: `limits.${name}` }) ?? 0;
  }
  const [ownWorkMs, bodyBytes] = [number('own-work-ms'), number('body-bytes')];
  return {
    ...given,
    ...(ownWorkMs === undefined ? {} : { ownWorkMs }),
    ...(bodyBytes === undefined ? {} : { bodyBytes }),
  };
}
