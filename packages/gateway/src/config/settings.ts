import { didYouMean, isJsonObject, PRESETS, THRIFT, type JsonObject } from '@bobbin/core/internal';
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
      policies: [generalPolicy(given), ...policiesOf(file)],
    },
    ...(store === undefined ? {} : { store }),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(summarizer === undefined ? {} : { summarizer }),
    logLevel: nameOf(given('log-level'), LOG_LEVELS) ?? 'info',
  };
}

function fileOf({ file }: SettingSources): JsonObject {
  if (file === undefined) return {};
  const { path, content } = file;
  if (!isJsonObject(content)) throw new SettingError(`${path}: must be a JSON object of settings`);
  for (const name of Object.keys(content))
    if (!FILE_SETTINGS.has(name))
      throw new SettingError(
        `${path}: there is no setting ${JSON.stringify(name)}; ${Object.hasOwn(DEFAULT_LIMITS, name) ? 'put it into "limits"' : `known are ${[...FILE_SETTINGS].join(', ')}`}`,
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

/** The levels of pino. */
const LOG_LEVELS = {
  trace: true,
  debug: true,
  info: true,
  warn: true,
  error: true,
  fatal: true,
  silent: true,
} as const;

function generalPolicy(given: (name: string) => Given | undefined): ModelPolicy {
  const preset = nameOf(given('preset'), PRESETS);
  const thrift = nameOf(given('thrift'), THRIFT);
  return {
    model: '',
    ...policyNumber(given('window'), 'windowTokens'),
    ...policyNumber(given('soft-share'), 'softShare'),
    ...(preset === undefined ? {} : { preset }),
    ...(thrift === undefined ? {} : { thrift }),
  };
}

/** A field of a policy; what is wrong with it is said of the setting, the only name that the user has seen. */
function policyNumber(
  given: Given | undefined,
  field: 'windowTokens' | 'softShare',
): Partial<ModelPolicy> {
  const number = numberOf(given);
  if (given === undefined || number === undefined) return {};
  const problem = policyProblem({ model: '', [field]: number });
  if (problem !== undefined) throw new SettingError(problem.replace(field, () => given.where));
  return { [field]: number };
}

/** The one of some names that was given. */
function nameOf<Name extends string>(
  given: Given | undefined,
  names: Readonly<Record<Name, unknown>>,
): Name | undefined {
  if (given?.value === undefined) return undefined;
  const { value, where } = given;
  if (typeof value === 'string' && Object.hasOwn(names, value)) return value as Name;
  const all = Object.keys(names);
  const meant = typeof value === 'string' ? didYouMean(value, all) : '';
  throw new SettingError(
    `${where} must be one of ${all.join(', ')}, not ${JSON.stringify(value)}${meant}`,
  );
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
    nameOf({ value: policy['preset'], where: `${where}.preset` }, PRESETS);
    nameOf({ value: policy['thrift'], where: `${where}.thrift` }, THRIFT);
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
