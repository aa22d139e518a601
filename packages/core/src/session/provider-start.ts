import { type Plan } from '../plan/plan.ts';
import { planFromCompaction } from '../plan/provider-compaction.ts';
import { PromptBuilder } from '../render/builder.ts';
import type { SessionState } from './state/state.ts';

/** A plan that begins at the provider's own compaction. */
interface ProviderStart {
  readonly plan: Plan;
  /** How many pinned messages precede the compaction: the provider no longer reads them. */
  readonly unreadPins: number;
}

/** The provider drops what precedes its compaction, and so does the plan. The whole path must be loaded. */
export function startAtCompaction(
  { thread, plan, config }: SessionState,
  index: number,
  tokensBefore: number,
): ProviderStart | undefined {
  const { head } = thread;
  if (head === undefined) return undefined;
  const { undid: _, ...made } = planFromCompaction(
    plan,
    thread.path(0).slice(0, index + 1),
    config.rules.readBeforeCompaction ?? ['system'],
    config.clock.now(),
  );
  const sized = { ...made, head: head.id, threadVersion: thread.length, tokensBefore };
  const { tokens } = new PromptBuilder(thread.window(sized), sized, config);
  return {
    plan: { ...sized, tokensAfter: tokens },
    unreadPins: plan.pins.length - made.pins.length,
  };
}
