import type { Counter } from '../tokens/counter.ts';
import type { Plan } from '../plan/plan.ts';
import type { Window } from '../plan/window.ts';
import { PromptBuilder } from './builder.ts';
import { cachePoints, type CacheLimits } from './cache-points.ts';
import type { Prompt } from './prompt.ts';
import type { ProviderRules } from './rules.ts';

/** Raised when the same thread and plan would render to other bytes. */
export const RENDER_VERSION = 'v1';

export interface RenderOptions {
  readonly rules: ProviderRules;
  readonly counter: Counter;
  readonly cacheLimits?: CacheLimits;
}

/** A builder that holds a whole window; more messages can be pushed as they come. */
export function startPrompt(window: Window, plan: Plan, options: RenderOptions): PromptBuilder {
  const builder = new PromptBuilder(plan, options.rules, options.counter);
  for (const node of window.carried) builder.push(node);
  builder.showBeginning();
  for (const node of window.tail) builder.push(node);
  return builder;
}

/** The prompt as it stands. */
export function finishPrompt(builder: PromptBuilder, options: RenderOptions): Prompt {
  const messages = builder.messages.slice();
  const points = cachePoints(messages, builder.landmarks, options.counter, options.cacheLimits);
  return { messages, tokens: builder.tokens, cachePoints: points };
}

/** Thread and plan to prompt: pure, the same every time. */
export function render(window: Window, plan: Plan, options: RenderOptions): Prompt {
  return finishPrompt(startPrompt(window, plan, options), options);
}
