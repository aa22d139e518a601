import type { Store } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { coldObject, coldText, type MessageRow } from '../message-row.ts';
import { StoreError } from '../store-error.ts';
import type { ColdMessages } from './cold-messages.ts';

/** A store that can move old messages to cheaper storage. */
export interface TieredStore extends Store {
  /**
   * Moves the compacted messages of a thread before its window to the cold tier, and counts them. It may be broken off
   * and repeated, and other processes may use the thread meanwhile.
   */
  moveCold(key: ThreadKey): Promise<number>;
}

/** The rows of a store, as far as moving them needs. */
export interface MovableRows {
  /** The ids of messages before an index that are searchable, and whose texts are in their rows. */
  movable(key: ThreadKey, before: number): Promise<readonly string[]>;
  rows(key: ThreadKey, ids: readonly string[]): Promise<readonly MessageRow[]>;
  /** Gives some rows another text, except those that another process has moved, and counts them. */
  replace(key: ThreadKey, ids: readonly string[], text: string): Promise<number>;
}

const ROWS_AT_ONCE = 200;

/** The object first, then the rows: broken off between the two, the rows have their texts, and the object is not used. */
export async function moveCold(
  store: Store,
  rows: MovableRows,
  cold: ColdMessages | undefined,
  key: ThreadKey,
): Promise<number> {
  if (cold === undefined)
    throw new StoreError(
      'unavailable',
      'the store was opened without `cold`, a place for old messages',
    );
  const start = (await store.window(key))?.current?.plan.start ?? 0;
  const ids = await rows.movable(key, start);
  let moved = 0;
  for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
    const found = await rows.rows(key, ids.slice(from, from + ROWS_AT_ONCE));
    // Another process may have moved some of them since.
    const some = found.filter(({ message }) => coldObject(message) === undefined);
    if (some.length === 0) continue;
    const object = await cold.write(key, some);
    const replaced = await rows.replace(
      key,
      some.map(({ id }) => id),
      coldText(object),
    );
    if (replaced === 0) await cold.remove(key, object);
    // If the thread was erased meanwhile and begun again with the same messages, the object went with the old one.
    else await cold.ensure(key, object, some);
    moved += replaced;
  }
  return moved;
}
