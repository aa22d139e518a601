import type { BobbinOptions } from './bobbin.ts';
import type { ContextLimit } from './context-limit.ts';
import type { CompactOptions, Tuning } from './session-config.ts';
import type { ToolPolicy } from '../plan/durability.ts';
import {
  able,
  aFlag,
  aFunction,
  aList,
  anAmount,
  aText,
  byName,
  fields,
  kind,
  maybe,
  oneOf,
  whole,
  type Kind,
  type Kinds,
} from '../check/shape.ts';
import { nearest } from '../check/nearest.ts';
import type { Requester } from '../ports.ts';
import type { CacheLimits } from '../render/cache-points.ts';
import type { ProviderRules } from '../render/rules.ts';
import type { RehydrationLimits } from '../recall/rehydrate.ts';
import type { Budget } from '../tokens/budget.ts';
import type { CacheFacts, ModelFacts } from '../tokens/models.ts';

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
export const checkToolPolicy: Kind = fields(TOOL);

const MODEL: Kinds<ModelFacts> = {
  windowTokens: anAmount,
  provider: maybe(oneOf('anthropic', 'openai', 'google')),
  encoding: maybe(oneOf('o200k', 'cl100k')),
  cache: maybe(
    whole<CacheFacts>({
      writePrice: anAmount,
      readPrice: anAmount,
      ttlMs: anAmount,
      minimumTokens: anAmount,
      markers: anAmount,
    }),
  ),
};

const OPTIONS: Kinds<BobbinOptions> = {
  model: kind("a model's id, such as 'gpt-5'", (value) => typeof value === 'string'),
  models: byName('an object of facts by the beginnings of model ids', whole(MODEL)),
  window: anAmount,
  budget: budgetKind,
  // Told apart by what it is meant to be: a name, or a policy of one's own.
  preset: () => undefined,
  codec: able('a codec, such as openaiChat of @bobbin/codecs', 'decode', 'encode'),
  counter: able('a counter, such as counterOf makes', 'text', 'message', 'tools', 'request'),
  summarizer: able('a summarizer, with a method summarize', 'summarize'),
  summaryDeadlineMs: anAmount,
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
  tools: byName('an object of policies by the names of their tools', checkToolPolicy),
  rules: whole<ProviderRules>({
    name: aText,
    first: oneOf('user', 'any'),
    alternate: aFlag,
    bindsReasoning: aFlag,
  }),
  cacheLimits: whole<CacheLimits>({ markers: anAmount, minimumTokens: anAmount }),
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

const compactKind = fields<CompactOptions>({
  instructions: aText,
  signal: able('an AbortSignal', 'addEventListener', 'throwIfAborted'),
  budget: budgetKind,
});

/** @throws TypeError, as `checkOptions` does, of what a host asks for with one prompt. */
export function checkCompactOptions(options: unknown): void {
  compactKind(options, '');
}

const refusalKind = fields<ContextLimit>({
  provider: aText,
  requestTokens: anAmount,
  limitTokens: anAmount,
});

/** @throws TypeError, as `checkOptions` does, of what a provider is told to have said. */
export function checkRefusal(refusal: unknown): void {
  refusalKind(refusal, 'refusal');
}
