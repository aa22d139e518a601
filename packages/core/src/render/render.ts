import { windowOf, type Plan, type Window } from '../plan/plan.ts';
import type { Thread } from '../thread/thread.ts';
import { PromptBuilder } from './builder.ts';
import type { CachePointOptions } from './cache-points.ts';
import type { Prompt } from './prompt.ts';
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

/** What a prompt is made of. */
interface Rendered {
  readonly thread: Thread;
  readonly plan: Plan;
  readonly config: RenderOptions;
}

/** The prompt of a thread and a plan that is extended while both stay the same: only new messages cost anything. */
export class GrowingPrompt {
  #made: Rendered | undefined;
  #builder: PromptBuilder | undefined;

  of({ thread, plan, config }: Rendered): PromptBuilder {
    const made = this.#made;
    const isSame = made?.plan === plan && made.config.counter === config.counter;
    if (this.#builder === undefined || !isSame || made.thread.length > thread.length)
      this.#builder = startPrompt(windowOf(thread, plan), plan, config);
    else if (made.thread !== thread)
      for (const node of thread.path(made.thread.length)) this.#builder.push(node);
    this.#made = { thread, plan, config };
    return this.#builder;
  }
}

/** Thread and plan to prompt: pure, the same every time. */
export function render(window: Window, plan: Plan, options: RenderOptions): Prompt {
  return startPrompt(window, plan, options).finish(options);
}
