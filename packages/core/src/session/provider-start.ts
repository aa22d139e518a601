import { type Plan, planArtifacts } from '../plan/plan.ts';
import { PromptBuilder } from '../render/builder.ts';
import type { SessionState } from './state/state.ts';
import { hasCompaction, type Role } from '../message/message.ts';
import { type Node, spanOf } from '../thread/thread.ts';

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

/**
 * The plan that starts at a provider's compaction. `path` is the whole path up to it, the compaction last. Messages of some
 * roles stay before it, because the provider still reads them; all others are dropped, and recall finds them.
 */
function planFromCompaction(
  plan: Plan,
  path: readonly Node[],
  readRoles: readonly Role[],
  now: number,
): Plan {
  const before = path.slice(0, -1);
  const isRead = ({ message }: Node): boolean =>
    readRoles.includes(message.role) && !hasCompaction(message);
  const dropped = spanOf(before.filter((node) => !isRead(node)));
  const gone = new Set(dropped?.ids);
  const artifacts = planArtifacts(plan);
  const description = `${gone.size} messages that the provider compacted`;
  return {
    ...plan,
    createdAt: now,
    policy: 'provider',
    start: before.length,
    carried: before.filter(isRead).map(({ id, index }) => ({ id, index })),
    records:
      dropped === undefined
        ? []
        : [
            {
              kind: 'drop',
              span: dropped,
              reason: 'the provider compacted it',
              index: { keywords: [], description, time: now },
              ...(artifacts.length === 0 ? {} : { artifacts }),
            },
          ],
    hides: plan.hides.filter(({ id }) => !gone.has(id)),
    pins: plan.pins.filter((id) => !gone.has(id)),
    warnings: [],
  };
}
