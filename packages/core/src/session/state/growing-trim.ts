import type { CompactorConfig } from '../../compact/compaction.ts';
import type { Plan } from '../../plan/plan.ts';
import { limitsWithin, TrimFigures, type TrimCase } from '../../plan/trim-figures.ts';
import type { Thread } from '../../thread/thread.ts';
import { messageLimit } from '../../tokens/budget.ts';

/** What the figures were computed for. */
interface Computed {
  readonly thread: Thread;
  readonly plan: Plan;
  readonly config: CompactorConfig;
}

/** What a batch of trimming would do to a thread, computed step by step: only new messages cost anything. */
export class GrowingTrim {
  #computed: Computed | undefined;
  #figures: TrimFigures | undefined;

  /** Undefined if the policy does not trim. */
  of({ thread, plan, config }: Computed): TrimCase | undefined {
    const { counter, policy, budget } = config;
    const limits = policy.ladder.find(({ trims }) => trims !== undefined)?.trims;
    if (limits === undefined) return undefined;
    const before = this.#computed;
    const isSame =
      before !== undefined &&
      before.plan === plan &&
      before.config.counter === counter &&
      before.config.policy === policy &&
      messageLimit(before.config.budget) === messageLimit(budget) &&
      before.thread.length <= thread.length;
    const figures =
      this.#figures === undefined || !isSame
        ? new TrimFigures(limitsWithin(limits, messageLimit(budget)))
        : this.#figures;
    const from = isSame ? before.thread.length : Math.max(plan.start, plan.trimmedTo ?? 0);
    if (!isSame || before.thread !== thread)
      for (const { message } of thread.path(from)) figures.push(message, counter.message(message));
    this.#computed = { thread, plan, config };
    this.#figures = figures;
    return figures.case;
  }
}
