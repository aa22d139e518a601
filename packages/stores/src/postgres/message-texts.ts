import type { Node, ThreadKey } from '@bobbin/core/internal';
import type { Blobs } from '../artifacts/blobs.ts';
import { ColdMessages } from '../cold/cold-messages.ts';
import type { MovableRows } from '../cold/move-cold.ts';
import { COLD_BYTES, nodeOf, type MessageRow } from '../message-row.ts';
import type { Connection } from './connection.ts';
import { idsOf, whereOf } from './thread-row.ts';

/** What messages say: in their rows, or in the cold tier. */
export class MessageTexts implements MovableRows {
  readonly #connection: Connection;
  readonly cold: ColdMessages | undefined;

  constructor(connection: Connection, cold: Blobs | undefined) {
    this.#connection = connection;
    this.cold = cold && new ColdMessages(cold);
  }

  /** The nodes of rows, in their order. */
  async nodes(rows: readonly MessageRow[], key: ThreadKey): Promise<readonly Node[]> {
    const where = whereOf(key);
    return this.cold?.nodes(rows, key, where) ?? rows.map((row) => nodeOf(row, where));
  }

  async movable(key: ThreadKey, before: number): Promise<readonly string[]> {
    const rows = await this.#connection.askAs(
      key.tenant,
      `SELECT m.id FROM bobbin.messages m WHERE m.tenant = $1 AND m.thread = $2 AND m.position < $3
         AND octet_length(m.message) > ${COLD_BYTES} AND EXISTS (
           SELECT 1 FROM bobbin.recall r WHERE r.tenant = $1 AND r.thread = $2 AND r.id = m.id)
       ORDER BY m.position, m.id`,
      ...idsOf(key),
      before,
    );
    return (rows as readonly { id: string }[]).map(({ id }) => id);
  }

  async rows(key: ThreadKey, ids: readonly string[]): Promise<readonly MessageRow[]> {
    const sql = 'SELECT * FROM bobbin.messages_of($1, $2, $3)';
    return (await this.#connection.ask(sql, ...idsOf(key), ids)) as readonly MessageRow[];
  }

  async replace(key: ThreadKey, ids: readonly string[], text: string): Promise<number> {
    const rows = await this.#connection.askAs(
      key.tenant,
      `UPDATE bobbin.messages SET message = $4
       WHERE tenant = $1 AND thread = $2 AND id = ANY ($3) AND octet_length(message) > ${COLD_BYTES} RETURNING 1`,
      ...idsOf(key),
      ids,
      text,
    );
    return rows.length;
  }
}
