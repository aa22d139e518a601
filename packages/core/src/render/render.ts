import { withLazyFields } from '../check/lazy-fields.ts';
import type { Plan } from '../plan/plan.ts';
import { windowOf, type Window } from '../plan/window.ts';
import type { Thread } from '../thread/thread.ts';
import type { Counter } from '../tokens/counter.ts';
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

/** The prompt of a thread and a plan that is extended while both stay the same: only new messages cost anything. */
export class GrowingPrompt {
  #made: { readonly thread: Thread; readonly plan: Plan; readonly counter: Counter } | undefined;
  #builder: PromptBuilder | undefined;

  of(thread: Thread, plan: Plan, options: RenderOptions): PromptBuilder {
    const { counter } = options;
    const made = this.#made;
    const isSame = made?.plan === plan && made.counter === counter;
    if (this.#builder === undefined || !isSame || made.thread.length > thread.length)
      this.#builder = startPrompt(windowOf(thread, plan), plan, options);
    else if (made.thread !== thread)
      for (const node of thread.path(made.thread.length)) this.#builder.push(node);
    this.#made = { thread, plan, counter };
    return this.#builder;
  }
}

/** The prompt so far. Its lists are made when they are first read: what was rendered never changes. */
export function finishPrompt(builder: PromptBuilder, options: RenderOptions): Prompt {
  const { messages: growing, tokens, landmarks } = builder;
  const { length } = growing;
  const [turns, rounds] = [landmarks.turns.length, landmarks.rounds.length];
  const prompt: Prompt = withLazyFields(
    { tokens },
    {
      messages: (): readonly PromptMessage[] => growing.slice(0, length),
      cachePoints: (): readonly number[] =>
        cachePoints(
          prompt.messages,
          { turns: landmarks.turns.slice(0, turns), rounds: landmarks.rounds.slice(0, rounds) },
          options,
        ),
    },
  );
  return prompt;
}

/** Thread and plan to prompt: pure, the same every time. */
export function render(window: Window, plan: Plan, options: RenderOptions): Prompt {
  return finishPrompt(startPrompt(window, plan, options), options);
}
