import type { Node, StoredWindow } from '@bobbin/core/internal';
import type { MessageRow } from '../message-row.ts';
import { planOf } from '../plan-text.ts';

/**
 * What `bobbin.window_of` returns: the thread and the plan with their versions as positions, what the plan carries, and
 * the path from the plan's start on.
 */
export interface WindowRow extends MessageRow {
  readonly kind: 'thread' | 'plan' | 'carried' | 'path';
}

/** Puts a window together; undefined if there is no such head. */
export async function windowFrom(
  rows: readonly WindowRow[],
  where: string,
  nodesOf: (rows: readonly MessageRow[]) => Promise<readonly Node[]>,
): Promise<StoredWindow | undefined> {
  const thread = rows.find(({ kind }) => kind === 'thread');
  if (thread === undefined) return undefined;
  const nodes = async (kind: WindowRow['kind']): Promise<readonly Node[]> =>
    (await nodesOf(rows.filter((row) => row.kind === kind))).toSorted((a, b) => a.index - b.index);
  const row = rows.find(({ kind }) => kind === 'plan');
  const plan = row && planOf(row.message, where, row.position);
  return {
    carried: await nodes('carried'),
    tail: (await nodes('path')).filter(({ index }) => index >= (plan?.start ?? 0)),
    current: row && plan && { plan, version: row.position },
    version: thread.position,
  };
}
