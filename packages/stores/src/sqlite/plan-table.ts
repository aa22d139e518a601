import type { MessageId } from '@bobbin/core';
import type { StoredPlan, ThreadKey } from '@bobbin/core/internal';
import { planOf } from '../plan-text.ts';
import type { Ancestry, Step } from './ancestry.ts';
import type { Database } from './database.ts';
import { idsOf, whereOf } from './thread-row.ts';

/** The plans of threads, and which of them holds on a path. */
export class PlanTable {
  readonly #database: Database;
  readonly #ancestry: Ancestry;

  constructor(database: Database, ancestry: Ancestry) {
    this.#database = database;
    this.#ancestry = ancestry;
  }

  /** The newest plan on the path to a message. */
  current(key: ThreadKey, end: Step, version: number): StoredPlan | undefined {
    const newest = this.#database.get(
      `SELECT p.head, m.position FROM plans p
       LEFT JOIN messages m ON m.tenant = p.tenant AND m.thread = p.thread AND m.id = p.head
       WHERE p.tenant = ? AND p.thread = ? AND p.version = ?`,
      ...idsOf(key),
      version,
    ) as { head: MessageId | null; position: number | null } | undefined;
    if (newest === undefined) return undefined;
    const { head, position } = newest;
    const isHere =
      head === null || (position !== null && this.#ancestry.at(key, end, position) === head);
    return this.get(key, isHere ? version : this.#olderVersion(key, end, version));
  }

  /** Every older plan is looked for on the path, from its end to its beginning: one walk for all of them. */
  #olderVersion(key: ThreadKey, end: Step, before: number): number {
    const plans = this.#database.all(
      `SELECT max(p.version) AS version, p.head, m.position FROM plans p
       LEFT JOIN messages m ON m.tenant = p.tenant AND m.thread = p.thread AND m.id = p.head
       WHERE p.tenant = ? AND p.thread = ? AND p.version < ? AND (p.head IS NULL OR m.position <= ?)
       GROUP BY p.head ORDER BY m.position DESC`,
      ...idsOf(key),
      before,
      end.position,
    ) as readonly { version: number; head: MessageId | null; position: number }[];
    let best = 0;
    let step: Step | undefined = end;
    for (const { version, head, position } of plans) {
      const id: MessageId | null | undefined =
        head && step && this.#ancestry.at(key, step, position);
      if (id === head) best = Math.max(best, version);
      if (id) step = this.#ancestry.step(key, id);
    }
    return best;
  }

  get(key: ThreadKey, version: number): StoredPlan | undefined {
    const row = this.#database.get(
      'SELECT plan FROM plans WHERE tenant = ? AND thread = ? AND version = ?',
      ...idsOf(key),
      version,
    ) as { plan: string } | undefined;
    return row && { plan: planOf(row.plan, whereOf(this.#database.path, key), version), version };
  }
}
