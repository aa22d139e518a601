import type { BobbinOptions } from '../bobbin.ts';
import type { ContextLimit } from '../context-limit.ts';
import type { CompactOptions, SessionChanges } from './session-config.ts';
import type { ToolPolicy } from '../../plan/tool-policy.ts';
import {
  hasMethods,
  boolean,
  func,
  list,
  nonNegative,
  positive,
  string,
  recordOf,
  partial,
  shape,
  optional,
  oneOf,
  object,
  type Shape,
  type Shapes,
} from '../../check/shape.ts';
import { nearest } from '../../check/nearest.ts';
import type { Requester } from '../../ports.ts';
import type { CacheLimits } from '../../render/cache-points.ts';
import type { ProviderRules } from '../../render/rules.ts';
import type { RehydrationLimits } from '../../recall/rehydrate.ts';
import type { Budget } from '../../tokens/budget.ts';
import type { CacheFacts, ModelFacts } from '../../tokens/models.ts';

const aSensitivity = oneOf('public', 'internal', 'confidential', 'restricted');

const BUDGET: Shapes<Budget> = {
  windowTokens: positive,
  softShare: nonNegative,
  systemTokens: nonNegative,
  toolTokens: nonNegative,
  formattingTokens: nonNegative,
  outputTokens: nonNegative,
  safetyTokens: nonNegative,
  rehydrationTokens: nonNegative,
};

const budgetShape = partial(BUDGET);

const TOOL: Shapes<ToolPolicy> = {
  durability: oneOf('ephemeral', 'anchoring', 'replayable', 'non-replayable'),
  preserveFields: list,
  externalizeOverTokens: nonNegative,
  replayCost: oneOf('free', 'cheap', 'expensive'),
  captureDeterminism: func,
  ttlMs: nonNegative,
  artifact: partial<Required<ToolPolicy>['artifact']>({
    sensitivity: aSensitivity,
    ttlMs: nonNegative,
    permissions: list,
  }),
  replacement: string,
};

/** @throws TypeError, one line that names the field, if a tool's policy is not valid. */
export const checkToolPolicy: Shape = partial(TOOL);

const MODEL: Shapes<ModelFacts> = {
  windowTokens: nonNegative,
  provider: optional(oneOf('anthropic', 'openai', 'google')),
  encoding: optional(oneOf('o200k', 'cl100k')),
  cache: optional(
    object<CacheFacts>({
      writePrice: nonNegative,
      readPrice: nonNegative,
      ttlMs: nonNegative,
      minimumTokens: nonNegative,
      markers: nonNegative,
    }),
  ),
};

const OPTIONS: Shapes<BobbinOptions> = {
  model: shape("a model's id, such as 'gpt-5'", (value) => typeof value === 'string'),
  models: recordOf('an object of facts by the beginnings of model ids', object(MODEL)),
  window: positive,
  budget: budgetShape,
  // Distinguished by what it is meant to be: a name, or the host's own policy.
  preset: () => undefined,
  thrift: oneOf('gentle', 'careful', 'balanced', 'frugal'),
  offersReadArtifact: boolean,
  codec: hasMethods('a codec, such as openaiChat of bobbin/openai', 'decode', 'encode'),
  counter: hasMethods('a counter, such as counterOf makes', 'text', 'message', 'tools', 'request'),
  summarizer: hasMethods('a summarizer, with a method summarize', 'summarize'),
  summaryDeadlineMs: nonNegative,
  summaryCache: hasMethods('a cache, with methods get, set and delete', 'get', 'set', 'delete'),
  redact: func,
  store: hasMethods(
    'a store, such as sqliteStore of bobbin/sqlite makes',
    'append',
    'window',
    'path',
    'heads',
    'plan',
    'commit',
  ),
  artifacts: hasMethods('an artifact store, such as memoryArtifacts makes', 'put', 'get'),
  singleWriter: boolean,
  tools: recordOf('an object of policies by the names of their tools', checkToolPolicy),
  rules: object<ProviderRules>({
    name: string,
    first: oneOf('user', 'any'),
    alternate: boolean,
    bindsReasoning: boolean,
    mediaBytes: optional(nonNegative),
    readBeforeCompaction: optional(list),
  }),
  cacheLimits: object<CacheLimits>({ markers: nonNegative, minimumTokens: nonNegative }),
  rehydration: partial<RehydrationLimits>({
    mostArtifacts: nonNegative,
    tokensEach: nonNegative,
    tokensInAll: nonNegative,
    cooldownTurns: nonNegative,
    sensitivities: list,
  }),
  embedder: hasMethods('an embedder, with a method embed', 'embed'),
  tenant: shape('a name that is not empty', (value) => typeof value === 'string' && value !== ''),
  access: partial<Omit<Requester, 'tenant'>>({ permissions: list, clearance: aSensitivity }),
  clock: hasMethods('a clock, with a method now', 'now'),
  onEvent: func,
  onBeforeCompaction: func,
  onAfterCompaction: func,
};

/** The option that was probably meant; a part of the budget is often written next to it instead of in it. */
function meantOption(name: string): string | undefined {
  const near = nearest(name, Object.keys(OPTIONS));
  return near === undefined && Object.hasOwn(BUDGET, name) ? `budget.${name}` : near;
}

const optionsShape = partial(OPTIONS, meantOption);

/**
 * A host may have no types that report a mistake, which would otherwise show much later, if ever.
 *
 * @throws TypeError, one line that names the option as it was written.
 */
export function checkOptions(options: unknown): void {
  optionsShape(options, '');
}

const sessionChangesShape = partial<SessionChanges>({
  policy: () => undefined,
  budget: budgetShape,
});

/** @throws TypeError, as `checkOptions` does, for what a host changes of an open thread. */
export function checkSessionChanges(tuning: unknown): void {
  sessionChangesShape(tuning, '');
}

const compactOptionsShape = partial<CompactOptions>({
  instructions: string,
  signal: hasMethods('an AbortSignal', 'addEventListener', 'throwIfAborted'),
  budget: budgetShape,
  offersReadArtifact: boolean,
});

/** @throws TypeError, as `checkOptions` does, for what a host asks for with one prompt. */
export function checkCompactOptions(options: unknown): void {
  compactOptionsShape(options, '');
}

const refusalShape = partial<ContextLimit>({
  provider: string,
  requestTokens: nonNegative,
  limitTokens: nonNegative,
});

/** @throws TypeError, as `checkOptions` does, if a provider's refusal is not well-formed. */
export function checkRefusal(refusal: unknown): void {
  refusalShape(refusal, 'refusal');
}
