import { existsSync, readdirSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CompactionEvent, MessageId, Plan, Store, ThreadId } from '@bobbin/core';
import {
  noParent,
  searchThreads,
  type Appended,
  type AppendOptions,
  type ArtifactId,
  type Erasure,
  type ErasureOptions,
  type Found,
  type FoundInThread,
  type MessageVector,
  type Node,
  type StoredEvent,
  type StoredPlan,
  type StoredThread,
  type StoredWindow,
  type ThreadEntry,
  type ThreadKey,
} from '@bobbin/core/internal';
import { appendInParts } from '../append-parts.ts';
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

/** Keeps each thread in a file that can be read and searched by eye: `FOLDER/TENANT/THREAD.jsonl`. */
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

  async append(
    key: ThreadKey,
    nodes: readonly Node[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    const head = nodes.at(-1);
    return appendInParts(nodes, options, async (part, needed, { expectedHead }) => {
      let appended: Appended = { kind: 'appended' };
      await this.#write(key, (stored) => {
        const conflict = stored.conflict(part, expectedHead);
        appended = conflict ?? appended;
        if (conflict !== undefined) return [];
        const missing = needed.find((parent) => !stored.has(parent));
        if (missing !== undefined) throw new RangeError(noParent(key.thread, missing));
        const fresh = part.filter(({ id }) => !stored.has(id)).map(messageLine);
        const isMoved =
          head !== undefined &&
          part.at(-1) === head &&
          stored.has(head.id) &&
          stored.head !== head.id;
        return isMoved ? [...fresh, { type: 'head', id: head.id }] : fresh;
      });
      return appended;
    });
  }

  async window(key: ThreadKey, head?: MessageId): Promise<StoredWindow | undefined> {
    return this.#read(key)?.window(head);
  }

  async path(key: ThreadKey, head: MessageId, from?: number): Promise<readonly Node[]> {
    return this.#read(key)?.path(head, from) ?? [];
  }

  async messages(key: ThreadKey, ids: readonly MessageId[]): Promise<readonly Node[]> {
    return this.#read(key)?.some(ids) ?? [];
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
    return threadsIn(folder)
      .filter((thread) => after === undefined || thread > after)
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
    await this.#writeExisting(key, (stored) => {
      won = stored.version === expectedVersion;
      return won ? [compactionLine(stored, plan, expectedVersion + 1, events)] : [];
    });
    return won;
  }

  async record(key: ThreadKey, events: readonly CompactionEvent[]): Promise<void> {
    if (events.length > 0) await this.#writeExisting(key, () => [{ type: 'events', events }]);
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

  /** Reads all files of the tenant. */
  async searchTenant(
    tenant: string,
    words: readonly string[],
    most: number,
  ): Promise<readonly FoundInThread[]> {
    return searchThreads(this.#ofTenant(tenant), words, most);
  }

  async *artifacts(tenant: string): AsyncIterable<readonly ArtifactId[]> {
    for (const thread of threadsIn(join(this.#folder, fileName(tenant))))
      yield this.#read({ tenant, thread })?.artifacts() ?? [];
  }

  async delete(
    { tenant, threads = threadsIn(join(this.#folder, fileName(tenant))) }: Erasure,
    { unchangedSince = Infinity }: ErasureOptions = {},
  ): Promise<readonly ThreadId[]> {
    const erased: ThreadId[] = [];
    for (const thread of threads) {
      const { path } = this.#log({ tenant, thread });
      if (!(await this.#locked(path, () => eraseFile(path, unchangedSince)))) continue;
      this.#logs.delete(path);
      erased.push(thread);
    }
    return erased;
  }

  #ofTenant(tenant: string): readonly StoredThread[] {
    return threadsIn(join(this.#folder, fileName(tenant))).flatMap(
      (thread) => this.#read({ tenant, thread }) ?? [],
    );
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
      await this.#writeExisting(key, () => [{ type: 'vectors', embedder, vectors }]);
  }

  async close(): Promise<void> {
    this.#lock.close();
  }

  /** A file that cannot be read has its place in the list: opening the thread says why. */
  #entry(key: ThreadKey): ThreadEntry | undefined {
    try {
      return this.#read(key)?.entry();
    } catch (error) {
      if (!(error instanceof StoreError) || error.problem === 'unavailable') throw error;
      return { thread: key.thread, head: '' as MessageId, length: 0, version: 0, changedAt: 0 };
    }
  }

  #read(key: ThreadKey): StoredThread | undefined {
    const log = this.#log(key);
    return located(log.path, () => log.read());
  }

  async #write(
    key: ThreadKey,
    choose: (stored: StoredThread) => readonly SessionLine[],
  ): Promise<void> {
    const log = this.#log(key);
    await this.#locked(log.path, () => log.write(choose));
  }

  /** Writes to a thread that is there, and makes none. */
  async #writeExisting(
    key: ThreadKey,
    choose: (stored: StoredThread) => readonly SessionLine[],
  ): Promise<void> {
    if (this.#read(key) !== undefined) await this.#write(key, choose);
  }

  async #locked<T>(path: string, work: () => T): Promise<T> {
    located(path, () => makeFolder(this.#folder, this.#sync));
    try {
      return await this.#lock.hold(work);
    } catch (error) {
      throw locatedError(path, error);
    }
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

/** Removes a session file, and its folder if it was the last one. False if it does not exist, or was changed since. */
function eraseFile(path: string, unchangedSince: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.mtimeMs > unchangedSince) return false;
  unlinkSync(path);
  if (readdirSync(dirname(path)).length === 0) rmdirSync(dirname(path));
  return true;
}

function tenantFolders(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** True if a folder has what a store has, also if its lock was not copied along. */
function holdsSessions(folder: string): boolean {
  return tenantFolders(folder).some((name) => sessionFiles(join(folder, name)).length > 0);
}

function threadsIn(folder: string): readonly ThreadId[] {
  return sessionFiles(folder)
    .flatMap((name) => threadOf(folder, name) ?? [])
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** The thread of a file: its name says it, or is too long to. A file of another name belongs to no thread. */
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
    throw locatedError(path, error);
  }
}

function locatedError(path: string, error: unknown): unknown {
  if (error instanceof StoreError || error instanceof RangeError) return error;
  return new StoreError('unavailable', `${path}: ${causeText(error)}`, error);
}
