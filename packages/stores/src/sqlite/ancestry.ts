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

  /** The jumps of nodes that are about to be appended, whose parents are there or among them. */
  jumpsOf(key: ThreadKey, nodes: readonly Node[]): ReadonlyMap<MessageId, MessageId> {
    const fresh = new Map<MessageId, Step>();
    const jumps = new Map<MessageId, MessageId>();
    for (const { id, parent, index: position } of nodes) {
      const target = jumpPosition(position);
      const isParent = target === position - 1;
      const above =
        parent === null || isParent ? undefined : (fresh.get(parent) ?? this.step(key, parent));
      const jump = above && this.at(key, above, target, fresh);
      if (jump !== undefined) jumps.set(id, jump);
      fresh.set(id, { id, parent, position, jump: jump ?? null });
    }
    return jumps;
  }
}
