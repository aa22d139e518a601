import { hasCompaction, type Role } from '../message/message.ts';
import { type Node, spanOf } from '../thread/thread.ts';
import { planArtifacts, type Plan } from './plan.ts';

/**
 * The plan that starts at a provider's compaction. `path` is the whole path up to it, the compaction last. Messages of some
 * roles stay before it, because the provider still reads them; all others are dropped, and recall finds them.
 */
export function planFromCompaction(
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
