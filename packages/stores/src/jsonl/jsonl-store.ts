import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CompactionEvent, MessageId, Plan, Store, ThreadId } from '@bobbin/core';
import {
  noParent,
  outsideParents,
  type Found,
  type MessageVector,
  type Node,
  type StoredEvent,
  type StoredPlan,
  type StoredThread,
  type StoredWindow,
  type ThreadEntry,
  type ThreadKey,
} from '@bobbin/core/internal';
import { causeText, StoreError } from '../store-error.ts';
import { fileName, nameInFile } from '../file-name.ts';
import { makeFolder } from './durable-folder.ts';
import { FolderLock } from './folder-lock.ts';
import { compactionLine, messageLine, type SessionLine } from './session-file.ts';
import { sessionHeader, SessionLog } from './session-log.ts';

export interface JsonlOptions {
  /** `full` (the default): what is acknowledged survives a power failure; `normal`: the death of the process. */
  readonly sync?: 'full' | 'normal';
  /** The store must be there already. */
  readonly existing?: boolean;
}

const MOST_OPEN = 64;

/** Keeps each thread in a file that can be read and searched by eye: `FOLDER/TENANT/THREAD.jsonl` (B8). */
export function jsonlStore(folder: string, options: JsonlOptions = {}): Store {
  if (options.existing === true && !existsSync(join(folder, LOCK)) && !holdsSessions(folder))
    throw new StoreError('unavailable', `${folder}: there is no store`);
  return new JsonlStore(folder, options);
}

const LOCK = '.lock';

class JsonlStore implements Store {
  readonly #folder: string;
  readonly #sync: boolean;
  readonly #lock: FolderLock;
  readonly #logs = new Map<string, SessionLog>();

  constructor(folder: string, { sync = 'full' }: JsonlOptions) {
    this.#folder = folder;
    this.#sync = sync === 'full';
    this.#lock = new FolderLock(join(folder, LOCK));
  }

  async append(key: ThreadKey, nodes: readonly Node[]): Promise<void> {
    const head = nodes.at(-1);
    if (head === undefined) return;
    this.#write(key, (stored) => {
      const missing = outsideParents(nodes).find((parent) => !stored.has(parent));
      if (missing !== undefined) throw new RangeError(noParent(key.thread, missing));
      const fresh = nodes.filter(({ id }) => !stored.has(id)).map(messageLine);
      const moved = stored.has(head.id) && stored.head !== head.id;
      return moved ? [...fresh, { type: 'head', id: head.id }] : fresh;
    });
  }

  async window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined> {
    return this.#read(key)?.window(head);
  }

  async path(key: ThreadKey, head: MessageId, from?: number): Promise<readonly Node[]> {
    return this.#read(key)?.path(head, from) ?? [];
  }

  async turns(key: ThreadKey, head: MessageId): Promise<readonly Node[]> {
    return this.#read(key)?.turns(head) ?? [];
  }

  async *nodes(key: ThreadKey): AsyncIterable<readonly Node[]> {
    yield this.#read(key)?.nodes() ?? [];
  }

  async heads(key: ThreadKey): Promise<readonly MessageId[]> {
    return this.#read(key)?.heads() ?? [];
  }

  async threads(tenant: string, most: number, after?: ThreadId): Promise<readonly ThreadEntry[]> {
    const folder = join(this.#folder, fileName(tenant));
    return sessionFiles(folder)
      .flatMap((name) => threadOf(folder, name) ?? [])
      .filter((thread) => after === undefined || thread > after)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .slice(0, most)
      .flatMap((thread) => this.#entry({ tenant, thread }) ?? []);
  }

  async tenants(): Promise<readonly string[]> {
    return tenantFolders(this.#folder)
      .flatMap((name) => tenantOf(join(this.#folder, name), name) ?? [])
      .toSorted();
  }

  async plan(key: ThreadKey, version: number): Promise<StoredPlan | undefined> {
    return this.#read(key)?.plan(version);
  }

  async commit(
    key: ThreadKey,
    plan: Plan,
    expectedVersion: number,
    events: readonly CompactionEvent[],
  ): Promise<boolean> {
    let won = false;
    this.#writeExisting(key, (stored) => {
      won = stored.version === expectedVersion;
      return won ? [compactionLine(stored, plan, expectedVersion + 1, events)] : [];
    });
    return won;
  }

  async record(key: ThreadKey, events: readonly CompactionEvent[]): Promise<void> {
    if (events.length > 0) this.#writeExisting(key, () => [{ type: 'events', events }]);
  }

  async events(key: ThreadKey, after?: number): Promise<readonly StoredEvent[]> {
    return this.#read(key)?.events(after) ?? [];
  }

  async search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    return this.#read(key)?.search(words, most, head) ?? [];
  }

  async nearest(
    key: ThreadKey,
    embedder: string,
    vector: readonly number[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    return this.#read(key)?.nearest(embedder, vector, most, head) ?? [];
  }

  async unembedded(key: ThreadKey, embedder: string, most: number): Promise<readonly Node[]> {
    return this.#read(key)?.unembedded(embedder, most) ?? [];
  }

  async keepVectors(
    key: ThreadKey,
    embedder: string,
    vectors: readonly MessageVector[],
  ): Promise<void> {
    if (vectors.length > 0)
      this.#writeExisting(key, () => [{ type: 'vectors', embedder, vectors }]);
  }

  async close(): Promise<void> {
    this.#lock.close();
  }

  /** A file that cannot be read has its place in the list: whoever opens the thread is told why. */
  #entry(key: ThreadKey): ThreadEntry | undefined {
    try {
      return this.#read(key)?.entry();
    } catch (error) {
      if (!(error instanceof StoreError) || error.problem === 'unavailable') throw error;
      return { thread: key.thread, head: '' as MessageId, length: 0, version: 0 };
    }
  }

  #read(key: ThreadKey): StoredThread | undefined {
    const log = this.#log(key);
    return located(log.path, () => log.read());
  }

  #write(key: ThreadKey, choose: (stored: StoredThread) => readonly SessionLine[]): void {
    const log = this.#log(key);
    located(log.path, () => {
      makeFolder(this.#folder, this.#sync);
      this.#lock.hold(() => log.write(choose));
    });
  }

  /** Writes to a thread that is there, and makes none. */
  #writeExisting(key: ThreadKey, choose: (stored: StoredThread) => readonly SessionLine[]): void {
    if (this.#read(key) !== undefined) this.#write(key, choose);
  }

  /** The log of a thread; those not used for longest are forgotten, and read again when they are. */
  #log(key: ThreadKey): SessionLog {
    const path = join(this.#folder, fileName(key.tenant), `${fileName(key.thread)}.jsonl`);
    const log = this.#logs.get(path) ?? new SessionLog(path, key, this.#sync);
    this.#logs.delete(path);
    this.#logs.set(path, log);
    const [oldest] = this.#logs.keys();
    if (this.#logs.size > MOST_OPEN && oldest !== undefined) this.#logs.delete(oldest);
    return log;
  }
}

/** The files of a tenant's folder that can be sessions, by their names without the ending. */
function sessionFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length));
}

const ENDING = '.jsonl';

function tenantFolders(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** True where a folder has what a store has, also where its lock was not copied along. */
function holdsSessions(folder: string): boolean {
  return tenantFolders(folder).some((name) => sessionFiles(join(folder, name)).length > 0);
}

/** The thread of a file: its name says it, or is too long to. A file of another name is nobody's. */
function threadOf(folder: string, name: string): ThreadId | undefined {
  const thread = nameInFile(name) ?? sessionHeader(join(folder, name + ENDING))?.thread;
  if (thread === undefined)
    throw new StoreError('damaged', `${join(folder, name + ENDING)}: it does not say whose it is`);
  return fileName(thread) === name ? (thread as ThreadId) : undefined;
}

function tenantOf(folder: string, name: string): string | undefined {
  const files = sessionFiles(folder).map((file) => join(folder, file + ENDING));
  const filled = files.filter((file) => statSync(file).size > 0);
  if (filled.length === 0) return undefined;
  const inFile = nameInFile(name);
  if (inFile !== undefined) return fileName(inFile) === name ? inFile : undefined;
  for (const file of filled) {
    const header = sessionHeader(file);
    if (header !== undefined && fileName(header.tenant) === name) return header.tenant;
  }
  throw new StoreError('damaged', `${folder}: no file in it says whose folder it is`);
}

function located<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof StoreError || error instanceof RangeError) throw error;
    throw new StoreError('unavailable', `${path}: ${causeText(error)}`, error);
  }
}
