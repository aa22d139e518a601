import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { ThreadId } from '@bobbin/core';
import {
  isJsonObject,
  parseJson,
  type Erasure,
  type Node,
  type ThreadKey,
} from '@bobbin/core/internal';
import type { Blobs } from '../artifacts/blobs.ts';
import { fileName } from '../file-name.ts';
import { coldObject, nodeOf, type MessageRow } from '../message-row.ts';
import { StoreError } from '../store-error.ts';

const READ_AT_ONCE = 8;
/** No tenant's artifacts have such a name: both may be in one bucket. */
const ROOT = '.messages/';

/**
 * The texts of messages that were moved out of their rows: `.messages/TENANT/THREAD/OBJECT` has those of some messages,
 * by their ids, compressed. A row then has the name of its object. An object never changes, and goes with its thread.
 */
export class ColdMessages {
  readonly #blobs: Blobs;

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  /**
   * The nodes of rows, in their order, in the database or moved out of it; `where` names the store and the thread in an
   * error.
   */
  async nodes(
    rows: readonly MessageRow[],
    key: ThreadKey,
    where: string,
  ): Promise<readonly Node[]> {
    const objects = new Set(rows.flatMap(({ message }) => coldObject(message) ?? []));
    const texts = new Map<string, string>();
    const names = [...objects];
    for (let from = 0; from < names.length; from += READ_AT_ONCE)
      await Promise.all(
        names.slice(from, from + READ_AT_ONCE).map(async (name) => {
          for (const [id, text] of await this.#read(key, name, where)) texts.set(id, text);
        }),
      );
    return rows.map((row) => {
      if (coldObject(row.message) === undefined) return nodeOf(row, where);
      const message = texts.get(row.id);
      if (message === undefined)
        throw new StoreError('damaged', `${where}: message ${row.id} is not in its cold object`);
      return nodeOf({ ...row, message }, where);
    });
  }

  /** Writes the texts of some rows as one object, and returns its name. */
  async write(key: ThreadKey, rows: readonly MessageRow[]): Promise<string> {
    const object = randomBytes(16).toString('hex');
    await this.#write(key, object, rows);
    return object;
  }

  /** Writes an object once more if it is gone. */
  async ensure(key: ThreadKey, object: string, rows: readonly MessageRow[]): Promise<void> {
    const found = await this.#blobs.read(placeOf(key) + object);
    if (found === undefined) await this.#write(key, object, rows);
  }

  async remove(key: ThreadKey, object: string): Promise<void> {
    await this.#blobs.remove(placeOf(key) + object);
  }

  /**
   * Removes the objects of threads that are not there: of those that are named, or of all that the tenant ever had.
   * `there` is asked after the objects were listed, so that no object of a thread that begins meanwhile is removed.
   */
  async sweep({ tenant, threads }: Erasure, there: () => AsyncIterable<ThreadId>): Promise<void> {
    const places = threads?.map((thread) => placeOf({ tenant, thread })) ?? [tenantPlace(tenant)];
    const names: string[] = [];
    for (const place of places) for await (const name of this.#blobs.list(place)) names.push(name);
    if (names.length === 0) return;
    const kept = new Set<string>();
    for await (const thread of there()) kept.add(placeOf({ tenant, thread }));
    for (const name of names)
      if (!kept.has(name.slice(0, name.lastIndexOf('/') + 1))) await this.#blobs.remove(name);
  }

  async #write(key: ThreadKey, object: string, rows: readonly MessageRow[]): Promise<void> {
    const texts = Object.fromEntries(rows.map(({ id, message }) => [id, message]));
    await this.#blobs.write(placeOf(key) + object, await promisify(gzip)(JSON.stringify(texts)));
  }

  async #read(
    key: ThreadKey,
    object: string,
    where: string,
  ): Promise<readonly (readonly [id: string, text: string])[]> {
    const bytes = await this.#blobs.read(placeOf(key) + object);
    if (bytes === undefined)
      throw new StoreError('damaged', `${where}: the cold object ${object} is not there`);
    const text = await promisify(gunzip)(bytes).catch(() => '');
    const texts = parseJson(text.toString());
    if (!isJsonObject(texts))
      throw new StoreError('damaged', `${where}: the cold object ${object} cannot be read`);
    return Object.entries(texts).flatMap(([id, message]) =>
      typeof message === 'string' ? [[id, message] as const] : [],
    );
  }
}

function tenantPlace(tenant: string): string {
  return `${ROOT}${fileName(tenant)}/`;
}

function placeOf({ tenant, thread }: ThreadKey): string {
  return `${tenantPlace(tenant)}${fileName(thread)}/`;
}
