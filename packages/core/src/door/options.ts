import type { BobbinOptions } from './bobbin.ts';
import type { Tuning } from './handle-options.ts';
import { didYouMean, nearest } from './nearest.ts';
import type { ToolPolicy } from '../plan/durability.ts';
import type { Requester } from '../ports.ts';
import type { RehydrationLimits } from '../recall/rehydrate.ts';
import { isJsonObject } from '../thread/json.ts';
import type { Budget } from '../tokens/budget.ts';

/** @throws TypeError, one line, where a value is not of its kind; `path` is the option as its user wrote it. */
type Kind = (value: unknown, path: string) => void;
type Kinds<Fields> = Readonly<Record<keyof Fields, Kind>>;

function kind(must: string, holds: (value: unknown) => boolean): Kind {
  return (value, path) => {
    if (!holds(value)) throw new TypeError(`${path} must be ${must}, not ${shown(value)}`);
  };
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function oneOf(...names: readonly string[]): Kind {
  return (value, path) => {
    if (typeof value === 'string' && names.includes(value)) return;
    const near = typeof value === 'string' ? didYouMean(value, names) : '';
    throw new TypeError(`${path} must be one of ${names.join(', ')}, not ${shown(value)}${near}`);
  };
}

/** Something that can do what is asked of it, whatever else it is. */
function able(must: string, ...methods: readonly string[]): Kind {
  return kind(
    must,
    (value) => isJsonObject(value) && methods.every((name) => typeof value[name] === 'function'),
  );
}

/** An object of these fields and no others; each may be left out. The options themselves have no path. */
function fields<Fields>(
  kinds: Kinds<Fields>,
  meant: (name: string) => string | undefined = (name) => nearest(name, Object.keys(kinds)),
): Kind {
  return (value, path) => {
    anObject(value, path === '' ? 'the options' : path);
    const inside = path === '' ? '' : `${path}.`;
    for (const [name, given] of Object.entries(value as object)) {
      if (!Object.hasOwn(kinds, name)) {
        const near = meant(name);
        const hint = near === undefined ? '' : ` (did you mean ${inside}${near}?)`;
        throw new TypeError(`there is no option ${inside}${name}${hint}`);
      }
      if (given !== undefined) kinds[name as keyof Fields](given, inside + name);
    }
  };
}

const anObject = kind('an object', isJsonObject);
const aText = kind('a string', (value) => typeof value === 'string');
const aList = kind('a list', Array.isArray);
const aFunction = kind('a function', (value) => typeof value === 'function');
const anAmount = kind(
  'a number of at least 0',
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
);
const aSensitivity = oneOf('public', 'internal', 'confidential', 'restricted');

const BUDGET: Kinds<Budget> = {
  windowTokens: anAmount,
  softShare: anAmount,
  systemTokens: anAmount,
  toolTokens: anAmount,
  formattingTokens: anAmount,
  outputTokens: anAmount,
  safetyTokens: anAmount,
  rehydrationTokens: anAmount,
};

const budgetKind = fields(BUDGET);

const TOOL: Kinds<ToolPolicy> = {
  durability: oneOf('ephemeral', 'anchoring', 'replayable', 'non-replayable'),
  preserveFields: aList,
  externalizeOverTokens: anAmount,
  replayCost: oneOf('free', 'cheap', 'expensive'),
  captureDeterminism: aFunction,
  ttlMs: anAmount,
  artifact: fields<Required<ToolPolicy>['artifact']>({
    sensitivity: aSensitivity,
    ttlMs: anAmount,
    permissions: aList,
  }),
  replacement: aText,
};

/** @throws TypeError, one line that names the field, where a tool's policy is not one. */
export const checkToolPolicy: (policy: unknown, path: string) => void = fields(TOOL);

const byTool = kind('an object of policies by the names of their tools', isJsonObject);

function toolPolicies(value: unknown, path: string): void {
  byTool(value, path);
  for (const [tool, policy] of Object.entries(value as object))
    checkToolPolicy(policy, `${path}.${tool}`);
}

const OPTIONS: Kinds<BobbinOptions> = {
  model: kind("a model's id, such as 'gpt-5'", (value) => typeof value === 'string'),
  models: anObject,
  window: anAmount,
  budget: budgetKind,
  // Told apart by what it is meant to be: a name, or a policy of one's own.
  preset: () => undefined,
  codec: able('a codec, such as openaiChat of @bobbin/codecs', 'decode', 'encode'),
  counter: able('a counter, such as counterOf makes', 'text', 'message', 'tools', 'request'),
  summarizer: able('a summarizer, with a method summarize', 'summarize'),
  summaryCache: able('a cache, with methods get and set', 'get', 'set'),
  redact: aFunction,
  store: able(
    'a store, such as sqliteStore of @bobbin/stores makes',
    'append',
    'window',
    'path',
    'heads',
    'plan',
    'commit',
  ),
  artifacts: able('an artifact store, such as memoryArtifacts makes', 'put', 'get'),
  tools: toolPolicies,
  rules: anObject,
  cacheLimits: anObject,
  rehydration: fields<RehydrationLimits>({
    mostArtifacts: anAmount,
    tokensEach: anAmount,
    tokensInAll: anAmount,
    cooldownTurns: anAmount,
    sensitivities: aList,
  }),
  embedder: able('an embedder, with a method embed', 'embed'),
  tenant: kind('a name that is not empty', (value) => typeof value === 'string' && value !== ''),
  access: fields<Omit<Requester, 'tenant'>>({ permissions: aList, clearance: aSensitivity }),
  clock: able('a clock, with a method now', 'now'),
  onEvent: aFunction,
  onBeforeCompaction: aFunction,
  onAfterCompaction: aFunction,
};

/** The option that was probably meant; what is a part of the budget is often looked for beside it. */
function meantOption(name: string): string | undefined {
  const near = nearest(name, Object.keys(OPTIONS));
  return near === undefined && Object.hasOwn(BUDGET, name) ? `budget.${name}` : near;
}

const optionsKind = fields(OPTIONS, meantOption);

/**
 * A host may have no types to tell it of a slip, which would only show much later, if ever.
 *
 * @throws TypeError, one line that names the option as it was written.
 */
export function checkOptions(options: unknown): void {
  optionsKind(options, '');
}

const tuningKind = fields<Tuning>({ policy: () => undefined, budget: budgetKind });

/** @throws TypeError, as `checkOptions` does, of what a host changes of an open thread. */
export function checkTuning(tuning: unknown): void {
  tuningKind(tuning, '');
}

/** @throws TypeError, as `checkOptions` does, of what a host changes of the budget. */
export function checkBudget(budget: unknown): void {
  budgetKind(budget, 'budget');
}
