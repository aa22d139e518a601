import type { Message, MessageId } from '@bobbin/core';
import { isJsonObject, parseJson, startsTurn, type Node, jsonText } from '@bobbin/core/internal';
import { StoreError } from './store-error.ts';

/** A message as a table holds it. */
export interface MessageRow {
  readonly id: string;
  readonly parent: string | null;
  readonly position: number;
  readonly turn: number;
  readonly message: string;
}

export function rowOf({ id, parent, index, turn, message }: Node): MessageRow {
  return { id, parent, position: index, turn, message: jsonText(message) };
}

export function opensTurn({ message }: Node): boolean {
  return startsTurn(message);
}

const COLD = /^\{"cold":"([0-9a-f]{32})"\}$/;

/** What a row has in place of a message is shorter than this; a message that is not longer stays where it is. */
export const COLD_BYTES = 64;

/** What a row has in place of a message that was moved to an object. */
export function coldText(object: string): string {
  return JSON.stringify({ cold: object });
}

/** The object that a message was moved to. */
export function coldObject(message: string): string | undefined {
  return COLD.exec(message)?.[1];
}

/** The node of a row; `where` names the store and the thread in an error. */
export function nodeOf(row: MessageRow, where: string): Node {
  if (coldObject(row.message) !== undefined)
    throw new StoreError(
      'unavailable',
      `${where}: message ${row.id} was moved to the cold tier: open the store with \`cold\``,
    );
  const message = parseJson(row.message);
  if (!isJsonObject(message) || typeof message['role'] !== 'string')
    throw new StoreError('damaged', `${where}: message ${row.id} is no message`);
  return {
    id: row.id as MessageId,
    parent: row.parent as MessageId | null,
    index: row.position,
    turn: row.turn,
    message: message as unknown as Message,
  };
}
