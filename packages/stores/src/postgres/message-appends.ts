import type { MessageId } from '@bobbin/core';
import {
  noParent,
  type Appended,
  type AppendOptions,
  type Node,
  type ThreadKey,
} from '@bobbin/core/internal';
import { jumpPosition } from '../jump-position.ts';
import { opensTurn, rowOf } from '../message-row.ts';
import type { Connection } from './connection.ts';
import { idsOf } from './thread-row.ts';

/** Appends messages to threads, each part in one transaction. */
export class MessageAppends {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async append(
    key: ThreadKey,
    nodes: readonly Node[],
    needed: readonly MessageId[],
    options: AppendOptions,
  ): Promise<Appended> {
    if (await this.#follows(key, nodes, options)) return { kind: 'appended' };
    return this.#appendAll(key, nodes, needed, options);
  }

  /** The usual case: one message after the head, which is the expected one. It costs the server less than `#appendAll`. */
  async #follows(
    key: ThreadKey,
    nodes: readonly Node[],
    { expectedHead }: AppendOptions,
  ): Promise<boolean> {
    const node = nodes[0] as Node;
    const { parent } = node;
    const isExpected = expectedHead === undefined || expectedHead === parent;
    if (nodes.length > 1 || parent === null || !isExpected) return false;
    const { id, position, turn, message } = rowOf(node);
    const [row] = (await this.#connection.ask(
      'SELECT bobbin.append_next($1, $2, $3, $4, $5, $6, $7, $8, $9) AS followed',
      ...idsOf(key),
      id,
      parent,
      position,
      turn,
      Number(opensTurn(node)),
      message,
      jumpPosition(position),
    )) as readonly { followed: boolean }[];
    return row?.followed ?? false;
  }

  /** Any messages: several, a new thread, a fork, or messages that are there already. */
  async #appendAll(
    key: ThreadKey,
    nodes: readonly Node[],
    needed: readonly MessageId[],
    { expectedHead }: AppendOptions,
  ): Promise<Appended> {
    const rows = nodes.map(rowOf);
    const [row] = (await this.#connection.ask(
      'SELECT * FROM bobbin.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
      ...idsOf(key),
      needed,
      rows.map(({ id }) => id),
      rows.map(({ parent }) => parent),
      rows.map(({ position }) => position),
      rows.map(({ turn }) => turn),
      nodes.map((node) => Number(opensTurn(node))),
      rows.map(({ message }) => message),
      Number(expectedHead !== undefined),
      expectedHead ?? null,
    )) as readonly {
      missing: MessageId | null;
      conflict: boolean;
      current_head: MessageId | null;
    }[];
    const { missing = null, conflict = false, current_head: head = null } = row ?? {};
    if (missing !== null) throw new RangeError(noParent(key.thread, missing));
    return conflict ? { kind: 'conflict', head } : { kind: 'appended' };
  }
}
