import type { MessageId } from '@bobbin/core';
import type { Node, ThreadKey } from '@bobbin/core/internal';
import { jumpPosition } from '../jump-position.ts';
import type { Database } from './database.ts';
import { idsOf } from './thread-row.ts';

/** The position of a message, and the ways up from it. */
export interface Step {
  readonly id: MessageId;
  readonly parent: MessageId | null;
  readonly position: number;
  /** The ancestor at `jumpPosition`; none if that is the parent, or if an earlier schema knew of none. */
  readonly jump: MessageId | null;
}

/** Twice as many are known at most: the newer half, and the older one. */
const HALF_KNOWN = 4_096;

/** Finds ancestors in a thread without walking the path to them. */
export class Ancestry {
  readonly #database: Database;
  /** Steps that were looked up or appended: a message never moves. */
  #newer = new Map<string, Step>();
  #older: ReadonlyMap<string, Step> = new Map();

  constructor(database: Database) {
    this.#database = database;
    // A step may have been looked up in a transaction that also wrote it.
    database.onRollback(() => {
      this.#newer = new Map();
      this.#older = new Map();
    });
  }

  step(key: ThreadKey, id: MessageId): Step | undefined {
    const name = nameOf(key, id);
    const known = this.#newer.get(name) ?? this.#older.get(name);
    if (known !== undefined) return known;
    const step = this.#database.get(
      'SELECT id, parent, position, jump FROM messages WHERE tenant = ? AND thread = ? AND id = ?',
      ...idsOf(key),
      id,
    ) as Step | undefined;
    if (step !== undefined) this.know(key, step);
    return step;
  }

  /** Keeps a step in mind. Its message is in the file, or in a transaction: if that is undone, all steps are forgotten. */
  know(key: ThreadKey, step: Step): void {
    if (this.#newer.size >= HALF_KNOWN) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(nameOf(key, step.id), step);
  }

  /** The id of a message's ancestor at a position, or its own. */
  at(
    key: ThreadKey,
    from: Step,
    position: number,
    fresh?: ReadonlyMap<MessageId, Step>,
  ): MessageId | undefined {
    let step: Step | undefined = from;
    while (step !== undefined && step.position > position) {
      const jumps: boolean = step.jump !== null && jumpPosition(step.position) >= position;
      const next: MessageId | null = jumps ? step.jump : step.parent;
      const at: number = jumps ? jumpPosition(step.position) : step.position - 1;
      if (next === null || at === position) return next ?? undefined;
      const above: Step | undefined = fresh?.get(next) ?? this.step(key, next);
      // A damaged row may lead anywhere, but never round in a circle.
      step = above !== undefined && above.position < step.position ? above : undefined;
    }
    return step?.position === position ? step.id : undefined;
  }

  /** The steps of nodes that are about to be appended, whose parents are there or among them. */
  stepsOf(key: ThreadKey, nodes: readonly Node[]): ReadonlyMap<MessageId, Step> {
    const fresh = new Map<MessageId, Step>();
    for (const { id, parent, index: position } of nodes) {
      const target = jumpPosition(position);
      const isParent = target === position - 1;
      const above =
        parent === null || isParent ? undefined : (fresh.get(parent) ?? this.step(key, parent));
      const jump = (above && this.at(key, above, target, fresh)) ?? null;
      fresh.set(id, { id, parent, position, jump });
    }
    return fresh;
  }
}

function nameOf({ tenant, thread }: ThreadKey, id: MessageId): string {
  return `${tenant}\0${thread}\0${id}`;
}
