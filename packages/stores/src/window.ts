import type { MessageId, Node, Plan, StoredPlan, StoredWindow } from '@bobbin/core';
import { nodeOf, type MessageRow } from './message-row.ts';

/** How far back a path must be walked to show a plan and to tell whether the plan was made on it. */
export function planReach({ start, threadVersion }: Plan): number {
  return Math.max(0, Math.min(start, threadVersion - 1));
}

/** What the one query for a window returns: the newest plan, what it carries, and the path as far as it reaches. */
export interface WindowRow extends MessageRow {
  readonly kind: 'plan' | 'carried' | 'path';
}

/** The slower ways, for a head that the newest plan was not made for. */
export interface OtherPlans {
  path(head: MessageId): Promise<readonly Node[]>;
  plan(version: number): Promise<StoredPlan | undefined>;
}

/** Puts a window together; for a fork that does not know the newest plan it looks for the newest that it knows. */
export async function windowFrom(
  rows: readonly WindowRow[],
  where: string,
  others: OtherPlans,
): Promise<StoredWindow | undefined> {
  const nodes = (kind: WindowRow['kind']): readonly Node[] =>
    rows
      .filter((row) => row.kind === kind)
      .map((row) => nodeOf(row, where))
      .toSorted((a, b) => a.index - b.index);
  const path = nodes('path');
  if (path.length === 0) return undefined;
  const row = rows.find(({ kind }) => kind === 'plan');
  if (row === undefined) return { carried: [], tail: path, current: undefined, version: 0 };
  const version = row.position;
  const plan = JSON.parse(row.message) as Plan;
  if (!madeOn(plan, path)) {
    const head = path.at(-1) as Node;
    return olderWindow(await others.path(head.id), version, others);
  }
  const tail = path.filter(({ index }) => index >= plan.start);
  return { carried: nodes('carried'), tail, current: { plan, version }, version };
}

async function olderWindow(
  path: readonly Node[],
  version: number,
  others: OtherPlans,
): Promise<StoredWindow> {
  const byId = new Map<MessageId, Node>(path.map((node) => [node.id, node]));
  for (let older = version - 1; older > 0; older--) {
    const current = await others.plan(older);
    if (current === undefined || !madeOn(current.plan, path)) continue;
    const { start, carried } = current.plan;
    return {
      carried: carried.flatMap(({ id }) => byId.get(id) ?? []),
      tail: path.filter(({ index }) => index >= start),
      current,
      version,
    };
  }
  return { carried: [], tail: path, current: undefined, version };
}

function madeOn({ head }: Plan, path: readonly Node[]): boolean {
  return head === null || path.some(({ id }) => id === head);
}
