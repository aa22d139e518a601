import type { PromptBuilder } from '../../render/builder.ts';
import { startPrompt } from '../../render/render.ts';
import { windowIn, type SessionState } from './state.ts';

/**
 * The prompt of a session's state, rendered step by step: with the same plan and counter, only new messages cost
 * anything.
 */
export class Rendering {
  #of: SessionState | undefined;
  #builder: PromptBuilder | undefined;

  of(state: SessionState): PromptBuilder {
    const before = this.#of;
    this.#of = state;
    if (this.#builder === undefined || before === undefined || !isContinued(before, state)) {
      this.#builder = startPrompt(windowIn(state), state.plan, state.config);
    } else {
      for (const node of state.thread.path(before.thread.length)) this.#builder.push(node);
    }
    return this.#builder;
  }
}

function isContinued(before: SessionState, after: SessionState): boolean {
  return (
    before.plan === after.plan &&
    before.config.counter === after.config.counter &&
    before.thread.length <= after.thread.length
  );
}
