import { createHash } from 'node:crypto';
import type { ArtifactStore, Clock, ThreadId } from '@bobbin/core';
import {
  assertSensitivity,
  hasExpired,
  mayRead,
  type ArtifactId,
  type ArtifactMetadata,
  type Erasure,
  type Requester,
} from '@bobbin/core/internal';
import { fileName } from '../file-name.ts';
import { StoreError } from '../store-error.ts';
import {
  claimName,
  contentName,
  currentClaims,
  freshContentName,
  keptAt,
  keptOf,
  olderClaims,
  placeOf,
  type ContentBlob,
  type Kept,
} from './artifact-place.ts';
import { sweepPlace } from './artifact-sweep.ts';
import type { Blobs } from './blobs.ts';
import { folderBlobs } from './folder-blobs.ts';
import { assertKeyRing, decrypt, encrypt, holdsKey, keyIdOf, type KeyRing } from './key-ring.ts';

export { makeFolders } from './new-folder.ts';

export interface ArtifactOptions {
  /** If given, content is encrypted at rest. */
  readonly keys?: KeyRing;
  /** Says when an artifact has expired. */
  readonly clock?: Clock;
}

/** An artifact that something is wrong with. */
export interface ArtifactProblem {
  readonly id: ArtifactId;
  readonly problem: string;
}

/** What a sweep did. What could not be judged was kept, and is among the problems. */
export interface Swept {
  readonly kept: number;
  readonly removed: number;
  readonly problems: readonly ArtifactProblem[];
}

/** What a rotation did. What could not be brought under the current key is among the problems. */
export interface Rotated {
  readonly rotated: number;
  readonly problems: readonly ArtifactProblem[];
}

/** What was copied, and what could not be. */
export interface CopiedArtifacts {
  readonly copied: number;
  readonly problems: readonly ArtifactProblem[];
}

/** An artifact store over named bytes, with what its keeper needs. Each artifact is taken alone: one problem stops none. */
export interface KeptArtifacts extends ArtifactStore {
  /** Removes what has expired and what `isLive` does not name; a claim that is still good keeps the content. */
  sweep(
    tenant: string,
    isLive: (id: ArtifactId) => boolean,
    now: number,
    options?: SweepOptions,
  ): Promise<Swept>;
  /** Encrypts with the current key what is in the clear or under another key, and counts those. */
  rotate(tenant: string): Promise<Rotated>;
  /** Which of a tenant's artifacts cannot be read as they were put, and which of the expected ones are not there. */
  verify(tenant: string, expected?: Iterable<ArtifactId>): Promise<readonly ArtifactProblem[]>;
  /** Puts all that a tenant has into another artifact store, with every claim. */
  copyTo(to: ArtifactStore, tenant: string): Promise<CopiedArtifacts>;
}

export interface SweepOptions {
  /** How long something stays after it expired: a plan that points to it may be about to be committed. */
  readonly graceMs?: number;
  /** Says whether a thread is still there: what only threads that are gone have put, is removed. */
  readonly hasThread?: (thread: ThreadId) => Promise<boolean>;
}

const HOUR_MS = 3_600_000;

/**
 * Artifacts as blobs: the content once, and next to it a claim of each thread that put it, which holds the metadata.
 * The content is written before the claim, and the claim before a plan that points to it.
 * @throws RangeError if the keys could not encrypt.
 */
export function keepArtifacts(blobs: Blobs, options: ArtifactOptions = {}): KeptArtifacts {
  if (options.keys !== undefined) assertKeyRing(options.keys);
  return new BlobArtifacts(blobs, options.keys, options.clock ?? { now: Date.now });
}

export function folderArtifacts(folder: string, options?: ArtifactOptions): KeptArtifacts {
  return keepArtifacts(folderBlobs(folder), options);
}

class BlobArtifacts implements KeptArtifacts {
  readonly #blobs: Blobs;
  readonly #keys: KeyRing | undefined;
  readonly #clock: Clock;

  constructor(blobs: Blobs, keys: KeyRing | undefined, clock: Clock) {
    this.#blobs = blobs;
    this.#keys = keys;
    this.#clock = clock;
  }

  async put(content: string | Uint8Array, metadata: ArtifactMetadata): Promise<ArtifactId> {
    assertSensitivity(metadata);
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const id = idOf(bytes);
    const place = placeOf(metadata.tenant, id);
    const { keyId: _, ...claim } = metadata;
    const before = await keptAt(this.#blobs, place);
    const usual = contentName(place, this.#keys?.current);
    const there = await this.#goodCopy(before.contents);
    if (there === undefined) await this.#write(usual, bytes);
    const name = claimName(place, metadata.thread, before);
    await this.#blobs.write(name, Buffer.from(JSON.stringify(claim)));
    // A sweep that began before the claim was there has left its mark, or has removed the content already.
    const now = await keptAt(this.#blobs, place);
    if (now.marks.length > 0)
      await this.#write(freshContentName(place, this.#keys?.current), bytes);
    else if (!now.contents.some((each) => each.name === (there ?? usual)))
      await this.#write(usual, bytes);
    for (const older of olderClaims(now, name)) await this.#blobs.remove(older.name);
    return id;
  }

  async metadata(id: ArtifactId, requester: Requester): Promise<ArtifactMetadata | undefined> {
    return this.#look(id, requester, async ([content], claim) =>
      content?.key === undefined ? claim : { ...claim, keyId: keyIdOf(this.#keys, content.key) },
    );
  }

  async get(id: ArtifactId, requester: Requester): Promise<string | undefined> {
    const bytes = await this.bytes(id, requester);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString();
  }

  async bytes(id: ArtifactId, requester: Requester): Promise<Uint8Array | undefined> {
    return this.#look(id, requester, (contents) => this.#readAny(contents));
  }

  async sweep(
    tenant: string,
    isLive: (id: ArtifactId) => boolean,
    now: number,
    { graceMs = HOUR_MS, hasThread = async () => true }: SweepOptions = {},
  ): Promise<Swept> {
    const isOver = async (claim: ArtifactMetadata): Promise<boolean> =>
      hasExpired(claim, now - graceMs) ||
      (claim.createdAt <= now - graceMs && !(await hasThread(claim.thread)));
    const { all, done, problems } = await this.#each(tenant, (id, kept) =>
      sweepPlace(this.#blobs, placeOf(tenant, id), kept, now, async () => {
        if (isLive(id)) return false;
        for (const { name } of currentClaims(kept)) {
          const claim = await this.#claim(name);
          if (claim === undefined || !(await isOver(claim))) return false;
        }
        return true;
      }),
    );
    return { kept: all - done, removed: done, problems };
  }

  async delete({ tenant, threads }: Erasure): Promise<number> {
    const named = threads && new Set(threads.map(fileName));
    let gone = 0;
    for await (const [id, kept] of keptOf(this.#blobs, tenant)) {
      const own = kept.claims.filter(({ thread }) => named?.has(thread) !== false);
      const isSole = own.length === kept.claims.length;
      if (named !== undefined && own.length === 0) continue;
      const place = placeOf(tenant, id);
      if (isSole && (await sweepPlace(this.#blobs, place, kept, 0, async () => true))) gone += 1;
      else for (const { name } of own) await this.#blobs.remove(name);
    }
    return gone;
  }

  async rotate(tenant: string): Promise<Rotated> {
    const { done, problems } = await this.#each(tenant, (id, kept) =>
      this.#rotateOne(placeOf(tenant, id), kept),
    );
    return { rotated: done, problems };
  }

  async verify(
    tenant: string,
    expected: Iterable<ArtifactId> = [],
  ): Promise<readonly ArtifactProblem[]> {
    const missing = new Set(expected);
    const problems: ArtifactProblem[] = [];
    for await (const [id, { contents, claims }] of keptOf(this.#blobs, tenant)) {
      missing.delete(id);
      if (contents.length === 0) problems.push({ id, problem: 'its content is missing' });
      const checks = [
        ...contents.map((content) => () => this.#read(content)),
        ...claims.map(
          ({ name }) =>
            () =>
              this.#claim(name),
        ),
      ];
      for (const check of checks) problems.push(...(await problemOf(id, check)));
    }
    for (const id of missing) problems.push({ id, problem: 'it is missing' });
    return problems;
  }

  async copyTo(to: ArtifactStore, tenant: string): Promise<CopiedArtifacts> {
    const { done, problems } = await this.#each(tenant, async (_, kept) => {
      const bytes = await this.#readAny(this.#preferred(kept.contents));
      if (bytes === undefined) throw new StoreError('damaged', 'its content is missing');
      for (const { name } of currentClaims(kept)) {
        const claim = await this.#claim(name);
        if (claim !== undefined) await to.put(bytes, claim);
      }
      return true;
    });
    return { copied: done, problems };
  }

  /** Does something for each artifact alone, and counts how often it was done. */
  async #each(
    tenant: string,
    work: (id: ArtifactId, kept: Kept) => Promise<boolean>,
  ): Promise<{ all: number; done: number; problems: readonly ArtifactProblem[] }> {
    const problems: ArtifactProblem[] = [];
    let [all, done] = [0, 0];
    for await (const [id, kept] of keptOf(this.#blobs, tenant)) {
      all += 1;
      const isDone = async (): Promise<void> => {
        if (await work(id, kept)) done += 1;
      };
      problems.push(...(await problemOf(id, isDone)));
    }
    return { all, done, problems };
  }

  async #rotateOne(place: string, { contents, marks }: Kept): Promise<boolean> {
    const current = contentName(place, this.#keys?.current);
    const old = contents.filter(({ name }) => name !== current);
    if (old.length === 0) return false;
    // The copy of two that stays may be the one that the sweep is about to remove.
    if (marks.length > 0)
      throw new StoreError('unavailable', `${place}: a sweep is under way; rotate again after it`);
    const there = contents.filter(({ name }) => name === current);
    if ((await this.#goodCopy(there)) === undefined) {
      const bytes = await this.#readAny(this.#preferred(contents));
      if (bytes === undefined) return false;
      await this.#write(current, bytes);
    }
    for (const { name } of old) await this.#blobs.remove(name);
    return true;
  }

  /** Looks again if something was replaced between the listing and the look. */
  async #look<T>(
    id: ArtifactId,
    requester: Requester,
    look: (contents: readonly ContentBlob[], claim: ArtifactMetadata) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    if (!/^[0-9a-f]{32}$/.test(id)) return undefined;
    const place = placeOf(requester.tenant, id);
    for (let kept = await keptAt(this.#blobs, place); kept.contents.length > 0;) {
      const claim = await this.#claimFor(kept, requester);
      const seen = claim && (await look(this.#preferred(kept.contents), claim));
      if (seen !== undefined) return seen;
      const again = await keptAt(this.#blobs, place);
      if (JSON.stringify(again) === JSON.stringify(kept)) return undefined;
      kept = again;
    }
    return undefined;
  }

  /** A claim that lets someone read. A damaged one matters only if no other does. */
  async #claimFor(kept: Kept, requester: Requester): Promise<ArtifactMetadata | undefined> {
    let problem: unknown;
    for (const { name } of currentClaims(kept)) {
      const claim = await this.#claim(name).catch((error: unknown) => {
        problem = error;
      });
      const isGood =
        claim !== undefined && mayRead(claim, requester) && !hasExpired(claim, this.#clock.now());
      if (isGood) return claim;
    }
    if (problem !== undefined) throw problem;
    return undefined;
  }

  async #claim(name: string): Promise<ArtifactMetadata | undefined> {
    const bytes = await this.#blobs.read(name);
    if (bytes === undefined) return undefined;
    try {
      const claim = JSON.parse(Buffer.from(bytes).toString()) as ArtifactMetadata;
      assertSensitivity(claim);
      return claim;
    } catch (error) {
      const problem = error instanceof RangeError ? error.message : 'the metadata is no JSON';
      throw new StoreError('damaged', `${name}: ${problem}`, error);
    }
  }

  /** The copies in the order in which they are read: the current key's, those of other keys, those without a key. */
  #preferred(contents: readonly ContentBlob[]): readonly ContentBlob[] {
    const rank = ({ key }: ContentBlob): number => {
      const keyId = key === undefined ? undefined : keyIdOf(this.#keys, key);
      if (keyId === this.#keys?.current) return 0;
      return keyId === undefined || holdsKey(this.#keys, keyId) ? 1 : 2;
    };
    return contents.toSorted((a, b) => rank(a) - rank(b));
  }

  /** The name of a copy that can be read. */
  async #goodCopy(contents: readonly ContentBlob[]): Promise<string | undefined> {
    for (const content of this.#preferred(contents))
      if ((await this.#read(content).catch(undefinedWhereBad)) !== undefined) return content.name;
    return undefined;
  }

  /** The content of the first copy that can be read; undefined if one has vanished meanwhile. */
  async #readAny(contents: readonly ContentBlob[]): Promise<Uint8Array | undefined> {
    const problems: unknown[] = [];
    for (const content of contents) {
      const bytes = await this.#read(content).catch((error: unknown) => {
        undefinedWhereBad(error);
        problems.push(error);
      });
      if (bytes !== undefined) return bytes;
    }
    if (problems.length < contents.length || problems.length === 0) return undefined;
    throw problems[0];
  }

  async #write(name: string, plain: Uint8Array): Promise<void> {
    const bytes =
      this.#keys === undefined ? plain : encrypt(this.#keys, plain, partsOf(name).place);
    await this.#blobs.write(name, bytes);
  }

  /** The content of a copy, checked; undefined if it is gone. */
  async #read({ name, key }: ContentBlob): Promise<Uint8Array | undefined> {
    const { place, id } = partsOf(name);
    const bytes = await this.#blobs.read(name);
    if (bytes === undefined) return undefined;
    const plain =
      key === undefined ? bytes : decrypt(this.#keys, keyIdOf(this.#keys, key), bytes, place);
    if (idOf(plain) !== id)
      throw new StoreError('damaged', `${name}: the content is not what was put`);
    return plain;
  }
}

async function problemOf(
  id: ArtifactId,
  work: () => Promise<unknown>,
): Promise<readonly ArtifactProblem[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [{ id, problem: error.message }];
  }
}

/** Unreadable content can be replaced; an unreachable store cannot be repaired. */
function undefinedWhereBad(error: unknown): undefined {
  if (!(error instanceof StoreError) || error.problem === 'unavailable') throw error;
}

function partsOf(name: string): { place: string; id: string } {
  const [, place = '', id = ''] = /^(.*\/([^/]+)\/)[^/]+$/.exec(name) ?? [];
  return { place, id };
}

function idOf(bytes: Uint8Array): ArtifactId {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32) as ArtifactId;
}
