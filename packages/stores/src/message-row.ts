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

/** The node of a row; `where` names the store and the thread in an error. */
export function nodeOf(row: MessageRow, where: string): Node {
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
