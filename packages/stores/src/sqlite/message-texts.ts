import type { Node, ThreadKey } from '@bobbin/core/internal';
import type { Blobs } from '../artifacts/blobs.ts';
import { ColdMessages } from '../cold/cold-messages.ts';
import type { MovableRows } from '../cold/move-cold.ts';
import { COLD_BYTES, nodeOf, type MessageRow } from '../message-row.ts';
import type { Database } from './database.ts';
import { idsOf, whereOf } from './thread-row.ts';

/** What messages say: in their rows, or in the cold tier. */
export class MessageTexts implements MovableRows {
  readonly #database: Database;
  readonly cold: ColdMessages | undefined;

  constructor(database: Database, cold: Blobs | undefined) {
    this.#database = database;
    this.cold = cold && new ColdMessages(cold);
  }

  /** The nodes of rows, in their order. */
  async nodes(rows: readonly MessageRow[], key: ThreadKey): Promise<readonly Node[]> {
    const where = whereOf(this.#database.path, key);
    return this.cold?.nodes(rows, key, where) ?? rows.map((row) => nodeOf(row, where));
  }

  async movable(key: ThreadKey, before: number): Promise<readonly string[]> {
    const rows = this.#database.all(
      `SELECT m.id FROM compacted c CROSS JOIN messages m ON m.number = c.number
       WHERE c.tenant = ? AND c.thread = ? AND m.position < ? AND octet_length(m.message) > ${COLD_BYTES} ORDER BY m.number`,
      ...idsOf(key),
      before,
    );
    return (rows as readonly { id: string }[]).map(({ id }) => id);
  }

  async rows(key: ThreadKey, ids: readonly string[]): Promise<readonly MessageRow[]> {
    return this.#database.all(
      `SELECT m.* FROM json_each(?3) given CROSS JOIN messages m
       ON m.tenant = ?1 AND m.thread = ?2 AND m.id = given.value ORDER BY given.key`,
      ...idsOf(key),
      JSON.stringify(ids),
    ) as readonly MessageRow[];
  }

  replace(key: ThreadKey, ids: readonly string[], text: string): Promise<number> {
    return this.#database.atomically(() =>
      this.#database.run(
        `UPDATE messages SET message = ?4 WHERE tenant = ?1 AND thread = ?2
           AND id IN (SELECT value FROM json_each(?3)) AND octet_length(message) > ${COLD_BYTES}`,
        ...idsOf(key),
        JSON.stringify(ids),
        text,
      ),
    );
  }
}
