import type { MessageId, Node, ThreadKey } from '@bobbin/core';
import type { Database } from './database.ts';

/** Where a message stands, and the ways up from it. */
export interface Step {
  readonly id: MessageId;
  readonly parent: MessageId | null;
  readonly position: number;
  /** The ancestor at `jumpPosition`; none where that is the parent, or where an earlier schema knew of none. */
  readonly jump: MessageId | null;
}

/** A position without its lowest bit: following these, any ancestor of a message is found in a few steps. */
export function jumpPosition(position: number): number {
  return position & (position - 1);
}

/** Finds ancestors in a thread without walking the path to them. */
export class Ancestry {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  step({ tenant, thread }: ThreadKey, id: MessageId): Step | undefined {
    return this.#database.get(
      'SELECT id, parent, position, jump FROM messages WHERE tenant = ? AND thread = ? AND id = ?',
      tenant,
      thread,
      id,
    ) as Step | undefined;
  }

  /** The ancestor of a message at a position, or itself. */
  at(
    key: ThreadKey,
    from: Step,
    position: number,
    fresh?: ReadonlyMap<MessageId, Step>,
  ): Step | undefined {
    let step: Step | undefined = from;
    while (step !== undefined && step.position > position) {
      const next: MessageId | null =
        step.jump !== null && jumpPosition(step.position) >= position ? step.jump : step.parent;
      const above: Step | undefined =
        next === null ? undefined : (fresh?.get(next) ?? this.step(key, next));
      // A damaged row may lead anywhere, but never round in a circle.
      step = above !== undefined && above.position < step.position ? above : undefined;
    }
    return step?.position === position ? step : undefined;
  }

  /** The steps of nodes that are about to be appended, whose parents are there or among them. */
  stepsOf(key: ThreadKey, nodes: readonly Node[]): ReadonlyMap<MessageId, Step> {
    const fresh = new Map<MessageId, Step>();
    for (const { id, parent, index } of nodes) {
      const above = parent === null ? undefined : (fresh.get(parent) ?? this.step(key, parent));
      const isParent = jumpPosition(index) === index - 1;
      const jump =
        above === undefined || isParent
          ? undefined
          : this.at(key, above, jumpPosition(index), fresh);
      fresh.set(id, { id, parent, position: index, jump: jump?.id ?? null });
    }
    return fresh;
  }
}
