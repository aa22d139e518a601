import type { Plan } from '../plan/plan.ts';
import type { Window } from '../plan/window.ts';
import { PromptBuilder } from './builder.ts';
import { cachePoints, type CachePointOptions } from './cache-points.ts';
import type { Prompt, PromptMessage } from './prompt.ts';
import type { ProviderRules } from './rules.ts';

export interface RenderOptions extends CachePointOptions {
  readonly rules: ProviderRules;
}

/** A builder that holds a whole window; more messages can be pushed as they come. */
export function startPrompt(window: Window, plan: Plan, options: RenderOptions): PromptBuilder {
  const builder = new PromptBuilder(plan, options.rules, options.counter);
  for (const node of window.carried) builder.push(node);
  builder.showBeginning();
  for (const node of window.tail) builder.push(node);
  return builder;
}

/** The prompt as it stands. Its list is copied when it is first read: what was rendered never changes. */
export function finishPrompt(builder: PromptBuilder, options: RenderOptions): Prompt {
  const { messages: growing, tokens, landmarks } = builder;
  const { length } = growing;
  let messages: readonly PromptMessage[] | undefined;
  return {
    get messages() {
      messages ??= growing.slice(0, length);
      return messages;
    },
    tokens,
    cachePoints: cachePoints(growing, landmarks, options),
  };
}

/** Thread and plan to prompt: pure, the same every time. */
export function render(window: Window, plan: Plan, options: RenderOptions): Prompt {
  return finishPrompt(startPrompt(window, plan, options), options);
}
