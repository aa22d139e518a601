import type { BobbinOptions } from '../bobbin.ts';
import { systemClock } from './host.ts';
import type { SessionConfig } from './session-config.ts';
import { memoryArtifacts } from '../memory/memory-artifacts.ts';
import { memoryStore } from '../memory/memory-store.ts';
import { checkOptions } from './options.ts';
import { OWN_CODEC } from './own-codec.ts';
import { didYouMean } from '../../check/nearest.ts';
import { shape } from '../../check/shape.ts';
import { policyShape, type Policy } from '../../compact/policy.ts';
import type { Codec, Store, Summarizer } from '../../ports.ts';
import { ladder } from '../../presets/ladder.ts';
import { PRESETS, type PresetName } from '../../presets/presets.ts';
import type { CacheLimits } from '../../render/cache-points.ts';
import { STRICT_RULES } from '../../render/rules.ts';
import { extracting } from '../../extract/extract-summarizer.ts';
import { ofTenant, summariesBeside } from '../../summary/cache.ts';
import { trustedSummarizer } from '../../verify/trusted.ts';
import { isJsonObject } from '../../message/json.ts';
import { budget } from '../../tokens/budget.ts';
import { EXACT, estimator, scaled, startCalibration } from '../../tokens/calibration.ts';
import { type CacheFacts, isKnownModel, modelFacts, modelMeant } from '../../tokens/models.ts';

/**
 * All that a compaction needs, from what a host says and the defaults for the rest.
 *
 * @throws TypeError or RangeError, one line, if an option is not of its kind.
 */
export function sessionConfig<Wire>(options: BobbinOptions<Wire>): SessionConfig<Wire> {
  checkOptions(options);
  const facts = modelFacts(options.model, options.models);
  const unscaled = options.counter ?? estimator(facts.provider);
  const calibration = options.counter === undefined ? startCalibration(options.model) : EXACT;
  const policy = shownBy(thriftyPolicy(options), options);
  const { cache } = facts;
  const assumption = assumptionOf(options, facts.windowTokens);
  const cacheLimits = options.cacheLimits ?? (cache === undefined ? undefined : limitsOf(cache));
  const store = options.store ?? memoryStore();
  return {
    policy: cache === undefined ? policy : priced(policy, cache),
    budget: budget({ windowTokens: options.window ?? facts.windowTokens, ...options.budget }),
    counter: scaled(unscaled, calibration),
    unscaled,
    calibration,
    ...(options.counter === undefined ? { tokenizer: facts } : {}),
    rules: options.rules ?? options.codec?.rules ?? STRICT_RULES,
    tools: options.tools ?? {},
    summarizer: summarizerOf(options, policy, store),
    fallback: extracting(options.redact),
    ...(options.redact === undefined ? {} : { redact: options.redact }),
    ...(options.summaryDeadlineMs === undefined
      ? {}
      : { summaryDeadlineMs: options.summaryDeadlineMs }),
    store,
    artifacts: options.artifacts ?? memoryArtifacts(),
    clock: options.clock ?? systemClock,
    singleWriter: options.singleWriter ?? false,
    rehydration: options.rehydration ?? {},
    ...(options.embedder === undefined ? {} : { embedder: options.embedder }),
    ...(options.access === undefined
      ? {}
      : { requester: { ...options.access, tenant: options.tenant ?? 'default' } }),
    codec: options.codec ?? (OWN_CODEC as Codec<unknown> as Codec<Wire>),
    hooks: options,
    ...(assumption === undefined ? {} : { assumption }),
    ...(cacheLimits === undefined ? {} : { cacheLimits }),
  };
}

/** A window that is too large for a model lets its provider refuse the prompt: a guess must not pass for knowledge. */
function assumptionOf<Wire>(
  { model, models, window, budget: said }: BobbinOptions<Wire>,
  windowTokens: number,
): string | undefined {
  if (model === undefined || isKnownModel(model, models)) return undefined;
  if (window !== undefined || said?.windowTokens !== undefined) return undefined;
  return `nothing is known of the model ${JSON.stringify(model)}${modelMeant(model)}: a window of ${windowTokens} tokens is assumed; say yours with window`;
}

const aPolicy = shape('a policy or the name of a preset', isJsonObject);

/** @throws if it is neither the name of a preset nor a policy: a host may have no types that would report it. */
export function policyOf(
  preset: PresetName | Policy = 'ladder',
  option: string = 'preset',
): Policy {
  const given: unknown = preset;
  if (typeof given === 'function')
    throw new TypeError(
      `${option}: ${given.name} is a function that makes a policy: call it, as in ${option}: ${given.name}()`,
    );
  if (typeof preset !== 'string') {
    aPolicy(preset, option);
    policyShape(preset, option);
    return preset;
  }
  if (Object.hasOwn(PRESETS, preset)) return PRESETS[preset];
  throw new RangeError(
    `there is no preset ${JSON.stringify(preset)}${didYouMean(preset, Object.keys(PRESETS))}; choose one of ${Object.keys(PRESETS).join(', ')}`,
  );
}

/** @throws TypeError if thrift is asked of a policy that does not trim. */
function thriftyPolicy<Wire>({ preset, thrift }: BobbinOptions<Wire>): Policy {
  if (thrift === undefined) return policyOf(preset);
  if (preset === undefined || preset === 'ladder') return ladder({ thrift });
  throw new TypeError("thrift: only the preset 'ladder' trims; leave preset or thrift out");
}

/** A policy whose prompts name the tools that the model has. */
export function shownBy(
  policy: Policy,
  { offersReadArtifact }: { readonly offersReadArtifact?: boolean | undefined },
): Policy {
  const { style } = policy;
  return offersReadArtifact === undefined || offersReadArtifact === style.offersReadArtifact
    ? policy
    : { ...policy, style: { ...style, offersReadArtifact } };
}

function summarizerOf<Wire>(
  options: BobbinOptions<Wire>,
  policy: Policy,
  store: Store,
): Summarizer {
  const { summarizer, redact, tenant = 'default' } = options;
  if (summarizer === undefined) return extracting(redact);
  return trustedSummarizer(summarizer, {
    policy: policy.name,
    cache: options.summaryCache ?? ofTenant(summariesBeside(store), tenant),
    ...(redact === undefined ? {} : { redact }),
  });
}

/** One marker is left to the host, for its system prompt and tools. */
function limitsOf({ markers, minimumTokens }: CacheFacts): CacheLimits {
  return { markers: Math.max(0, markers - 1), minimumTokens };
}

/** A policy that weighs rewrites with the model's own prices. */
function priced(policy: Policy, { writePrice, readPrice, ttlMs }: CacheFacts): Policy {
  if (policy.economics === undefined) return policy;
  return {
    ...policy,
    economics: { ...policy.economics, prices: { write: writePrice, read: readPrice, ttlMs } },
  };
}
