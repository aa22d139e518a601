import {
  allOf,
  anyOf,
  tokenCount,
  turnCount,
  type Budget,
  type Counter,
  type CutRule,
  type Message,
  type Policy,
  type ProviderRules,
  type Trigger,
} from '@bobbin/core';
import {
  ALTERNATING_RULES,
  ANTHROPIC_RULES,
  budget,
  chars4,
  codex,
  estimator,
  ladder,
  singlePrompt,
  trim,
  opencode,
  OPENAI_RULES,
  pi,
  PRESETS,
  recursiveSummary,
  slidingWindow,
  step,
  STRICT_RULES,
  timeline,
  tokenWindow,
  turnWindow,
  type CacheLimits,
  type TrimLimits,
  type ToolPolicies,
} from '@bobbin/core/internal';
import { randomConversation } from './generate.ts';
import { seededRandom, type Random } from './random.ts';

/**
 * A conversation, a policy and a budget, with everything else that a session needs. The same seed gives the same case.
 */
export interface RandomCase {
  readonly seed: number;
  readonly messages: readonly Message[];
  readonly policy: Policy;
  readonly budget: Budget;
  readonly rules: ProviderRules;
  readonly counter: Counter;
  readonly tools: ToolPolicies;
  readonly cacheLimits: CacheLimits;
}

export function randomCase(seed: number): RandomCase {
  const random = seededRandom(seed);
  const window = randomWindow(random);
  return {
    seed,
    budget: randomBudget(random, window),
    policy: randomPolicy(random, window),
    rules: random.pick([STRICT_RULES, OPENAI_RULES, ANTHROPIC_RULES, ALTERNATING_RULES]),
    counter: random.chance(0.5) ? chars4() : estimator(random.pick(['anthropic', 'openai'])),
    tools: randomTools(random),
    cacheLimits: random.pick([
      { markers: 3, minimumTokens: 1024 },
      { markers: 1, minimumTokens: 0 },
      { markers: 0, minimumTokens: 0 },
      { markers: 3, minimumTokens: 64 },
    ]),
    messages: randomConversation(random, {
      messages: random.pick([
        random.int(0, 4),
        random.int(2, 8),
        random.int(4, 14),
        random.int(4, 32),
      ]),
      hugeChars: Math.min(random.chance(0.1) ? 40_000 : 6_000, window * random.int(1, 12)),
      startTime: 1_700_000_000_000,
    }),
  };
}

/** From a window that holds next to nothing to one that holds it all. */
function randomWindow(random: Random): number {
  const sizes: readonly [number, ...number[]] = [200, 400, 800, 1_500, 3_000, 6_000, 20_000];
  return Math.floor(random.pick(sizes) * (1 + random.next()));
}

export function randomBudget(random: Random, windowTokens: number): Budget {
  const some = (): number =>
    random.chance(0.3) ? Math.floor(windowTokens * 0.1 * random.next()) : 0;
  return budget({
    windowTokens,
    softShare: random.pick([0.85, 0.5, 1]),
    systemTokens: some(),
    toolTokens: some(),
    formattingTokens: some(),
    outputTokens: some(),
    safetyTokens: some(),
    rehydrationTokens: some(),
  });
}

/** A preset as it is, or a variation of one that fits the window. */
export function randomPolicy(random: Random, windowTokens: number): Policy {
  const share = (most: number): number => Math.floor(windowTokens * most * random.next());
  const policies: readonly [() => Policy, ...(() => Policy)[]] = [
    () => ladder({ thrift: random.pick(['careful', 'balanced', 'frugal']) }),
    () => ({ ...singlePrompt, targetShare: random.next() }),
    () => ladderVariation(random, windowTokens),
    () =>
      step({
        modelContextLimit: windowTokens,
        systemReserve: 0,
        outputReserve: 0,
        safetyBuffer: 0,
        recentMessagesToKeep: random.int(0, 10),
      }),
    () =>
      pi({
        reserveTokens: share(0.5),
        keepRecentTokens: share(0.8),
        splitTurns: random.chance(0.5),
      }),
    () =>
      codex({
        keepUserTokens: share(1),
        ...(random.chance(0.5) ? { autoCompactTokens: share(1) } : {}),
      }),
    () => opencode({ outputReserveTokens: share(0.5) }),
    () => slidingWindow(random.int(1, 12), randomTrigger(random, windowTokens)),
    () => turnWindow(random.int(1, 5), randomTrigger(random, windowTokens)),
    () => tokenWindow(share(1), randomTrigger(random, windowTokens)),
    () =>
      recursiveSummary({
        keepMessages: random.int(3, 10),
        overlapMessages: random.int(0, 2),
        trigger: randomTrigger(random, windowTokens),
      }),
    () => timeline({ keepRecentTokens: share(0.8) }),
    ...Object.values(PRESETS).map((policy) => () => policy),
  ];
  return random.pick(policies)();
}

export function randomTrigger(random: Random, windowTokens: number): Trigger {
  const turns = turnCount(random.int(0, 6));
  const tokens = tokenCount(Math.floor(windowTokens * random.next()));
  return random.pick([turns, tokens, anyOf(turns, tokens), allOf(turns, tokens)]);
}

function ladderVariation(random: Random, windowTokens: number): Policy {
  const { economics, firstSightShare, ...rest } = ladder();
  const limits: TrimLimits = {
    keepResults: random.int(1, 4),
    standInChars: random.int(0, 200),
    argsChars: random.int(0, 200),
    leastWorth: random.pick([0, 0.0001, 0.01]),
  };
  const trims = random.chance(0.5) && economics !== undefined;
  const tokens = Math.floor(windowTokens * random.next());
  const cuts: readonly [CutRule, ...CutRule[]] = [
    { kind: 'keep-share', share: random.next() },
    { kind: 'keep-tokens', tokens, splitTurns: random.chance(0.5) },
    { kind: 'keep-messages', messages: random.int(0, 12) },
    { kind: 'turn-window', turns: random.int(1, 4) },
    { kind: 'token-window', tokens },
    { kind: 'everything' },
  ];
  return {
    ...rest,
    ladder: rest.ladder.map((rung) => (rung.name === 'trim' ? trim(limits) : rung)),
    ...(trims ? { economics } : {}),
    cut: random.pick(cuts),
    stop: random.pick(['at-target', 'at-end']),
    targetShare: random.pick([0.2, 0.5, 0.8, 1]),
    style: {
      ...rest.style,
      offersReadArtifact: random.chance(0.5),
      summaryRole: random.pick(['assistant', 'user', 'pair']),
      summaryAt: random.pick(['first', 'last']),
    },
    ...(random.chance(0.5) && firstSightShare !== undefined ? { firstSightShare } : {}),
  };
}

function randomTools(random: Random): ToolPolicies {
  if (random.chance(0.5)) return {};
  return {
    read: {
      durability: 'replayable',
      captureDeterminism: () => Promise.resolve(random.chance(0.5) ? { etag: 'e1' } : undefined),
    },
    bash: { durability: 'non-replayable', externalizeOverTokens: random.int(10, 500) },
    search: { preserveFields: ['id', 'state'] },
    ...(random.chance(0.3) ? { fetch: { ttlMs: 300_000, replacement: '[stale]' } } : {}),
  };
}
