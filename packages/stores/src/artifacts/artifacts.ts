import { createHash } from 'node:crypto';
import {
  mayRead,
  type ArtifactId,
  type ArtifactMetadata,
  type ArtifactStore,
  type Requester,
} from '@bobbin/core';
import { fileName } from '../file-name.ts';
import { StoreError } from '../store-error.ts';
import type { Blobs } from './blobs.ts';
import { folderBlobs } from './folder-blobs.ts';
import { decrypt, encrypt, type KeyRing } from './key-ring.ts';
import { s3Blobs, type S3Options } from './s3-blobs.ts';

export interface ArtifactOptions {
  /** Where given, content is encrypted at rest. */
  readonly keys?: KeyRing;
}

/** What a sweep did. */
export interface Swept {
  readonly kept: number;
  readonly removed: number;
}

/** An artifact store over named bytes, with what its keeper needs. */
export interface KeptArtifacts extends ArtifactStore {
  /** Removes what has expired and what `isLive` does not name; a claim that is still good keeps the content. */
  sweep(
    tenant: string,
    isLive: (id: ArtifactId) => boolean,
    now: number,
    options?: SweepOptions,
  ): Promise<Swept>;
  /** Encrypts with the current key what is in the clear or under another key, and returns how many those were. */
  rotate(tenant: string): Promise<number>;
  /** The ids of a tenant's artifacts whose content is not what its id says, or cannot be read. */
  verify(tenant: string): Promise<readonly { readonly id: ArtifactId; readonly problem: string }[]>;
}

export interface SweepOptions {
  /** How long something stays after it expired: a plan that points to it may be about to be committed. */
  readonly graceMs?: number;
}

const HOUR_MS = 3_600_000;

/**
 * Artifacts as blobs: `TENANT/ID/content` (or `content.KEY`, encrypted) once, and beside it a claim for each thread and
 * time that put it, which holds the metadata. The content stands before the claim, and the claim before a plan that
 * points to it.
 */
export function keepArtifacts(blobs: Blobs, options: ArtifactOptions = {}): KeptArtifacts {
  return new BlobArtifacts(blobs, options.keys);
}

export function folderArtifacts(folder: string, options?: ArtifactOptions): KeptArtifacts {
  return keepArtifacts(folderBlobs(folder), options);
}

export function s3Artifacts(bucket: S3Options, options?: ArtifactOptions): KeptArtifacts {
  return keepArtifacts(s3Blobs(bucket), options);
}

/** What lies under an artifact's name. */
interface Kept {
  readonly contents: readonly string[];
  readonly claims: readonly string[];
}

class BlobArtifacts implements KeptArtifacts {
  readonly #blobs: Blobs;
  readonly #keys: KeyRing | undefined;

  constructor(blobs: Blobs, keys: KeyRing | undefined) {
    this.#blobs = blobs;
    this.#keys = keys;
  }

  async put(content: string | Uint8Array, metadata: ArtifactMetadata): Promise<ArtifactId> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const id = idOf(bytes);
    const place = placeOf(metadata.tenant, id);
    const { keyId: _, ...claim } = metadata;
    if ((await this.#kept(place)).contents.length === 0) await this.#write(place, bytes);
    await this.#blobs.write(
      `${place}claim.${fileName(metadata.thread)}.${metadata.createdAt}.json`,
      Buffer.from(JSON.stringify(claim)),
    );
    // A sweep may have removed the content before it could see the claim.
    if ((await this.#kept(place)).contents.length === 0) await this.#write(place, bytes);
    return id;
  }

  async metadata(id: ArtifactId, requester: Requester): Promise<ArtifactMetadata | undefined> {
    return (await this.#find(id, requester))?.metadata;
  }

  async get(id: ArtifactId, requester: Requester): Promise<string | undefined> {
    const bytes = await this.bytes(id, requester);
    return bytes === undefined ? undefined : Buffer.from(bytes).toString();
  }

  async bytes(id: ArtifactId, requester: Requester): Promise<Uint8Array | undefined> {
    const found = await this.#find(id, requester);
    return found === undefined ? undefined : this.#read(found.content);
  }

  async sweep(
    tenant: string,
    isLive: (id: ArtifactId) => boolean,
    now: number,
    { graceMs = HOUR_MS }: SweepOptions = {},
  ): Promise<Swept> {
    let removed = 0;
    const places = await this.#all(tenant);
    for (const [id, place] of places)
      if (!isLive(id) && (await this.#sweepOne(place, now - graceMs))) removed += 1;
    return { kept: places.size - removed, removed };
  }

  async rotate(tenant: string): Promise<number> {
    let rotated = 0;
    for (const [, place] of await this.#all(tenant)) {
      const { contents } = await this.#kept(place);
      const old = contents.filter((name) => name !== this.#contentName(place));
      const [first] = old;
      if (first === undefined) continue;
      await this.#write(place, await this.#read(first));
      for (const name of old) await this.#blobs.remove(name);
      rotated += 1;
    }
    return rotated;
  }

  async verify(tenant: string): Promise<readonly { id: ArtifactId; problem: string }[]> {
    const problems: { id: ArtifactId; problem: string }[] = [];
    for (const [id, place] of await this.#all(tenant)) {
      const { contents } = await this.#kept(place);
      if (contents.length === 0) problems.push({ id, problem: 'its content is missing' });
      for (const name of contents) {
        await this.#read(name).catch((error: unknown) => {
          if (!(error instanceof StoreError)) throw error;
          problems.push({ id, problem: error.message });
        });
      }
    }
    return problems;
  }

  async #find(
    id: ArtifactId,
    requester: Requester,
  ): Promise<{ metadata: ArtifactMetadata; content: string } | undefined> {
    if (!/^[0-9a-f]{32}$/.test(id)) return undefined;
    const { contents, claims } = await this.#kept(placeOf(requester.tenant, id));
    const [content] = contents;
    if (content === undefined) return undefined;
    const keyId = keyIdOf(content);
    for (const name of claims) {
      const claim = await this.#claim(name);
      if (claim === undefined || !mayRead(claim, requester)) continue;
      return { metadata: keyId === undefined ? claim : { ...claim, keyId }, content };
    }
    return undefined;
  }

  async #claim(name: string): Promise<ArtifactMetadata | undefined> {
    const bytes = await this.#blobs.read(name);
    if (bytes === undefined) return undefined;
    try {
      return JSON.parse(Buffer.from(bytes).toString()) as ArtifactMetadata;
    } catch (error) {
      throw new StoreError('damaged', `${name}: the metadata is no JSON`, error);
    }
  }

  /**
   * Removes the claims that have expired, and the content when none is left. Should a thread put the same content
   * meanwhile, its claim has another name, is seen at last, and the content comes back.
   */
  async #sweepOne(place: string, now: number): Promise<boolean> {
    const { claims, contents } = await this.#kept(place);
    for (const name of claims) {
      const claim = await this.#claim(name);
      if (claim === undefined) continue;
      if (claim.ttlMs === undefined || claim.createdAt + claim.ttlMs > now) return false;
    }
    for (const name of claims) await this.#blobs.remove(name);
    if ((await this.#kept(place)).claims.length > 0) return false;
    const sealed: [string, Uint8Array | undefined][] = [];
    for (const name of contents) sealed.push([name, await this.#blobs.read(name)]);
    for (const name of contents) await this.#blobs.remove(name);
    if ((await this.#kept(place)).claims.length === 0) return true;
    for (const [name, bytes] of sealed)
      if (bytes !== undefined) await this.#blobs.write(name, bytes);
    return false;
  }

  async #write(place: string, plain: Uint8Array): Promise<void> {
    const bytes = this.#keys === undefined ? plain : encrypt(this.#keys, plain, place);
    await this.#blobs.write(this.#contentName(place), bytes);
  }

  async #read(name: string): Promise<Uint8Array> {
    const [, place = '', id = ''] = /^(.*\/([^/]+)\/)[^/]+$/.exec(name) ?? [];
    const bytes = await this.#blobs.read(name);
    if (bytes === undefined) throw new StoreError('damaged', `${name}: the content is missing`);
    const keyId = keyIdOf(name);
    const plain = keyId === undefined ? bytes : decrypt(this.#keys, keyId, bytes, place);
    if (idOf(plain) !== id)
      throw new StoreError('damaged', `${name}: the content is not what was put`);
    return plain;
  }

  #contentName(place: string): string {
    return this.#keys === undefined
      ? `${place}content`
      : `${place}content.${fileName(this.#keys.current)}`;
  }

  async #kept(place: string): Promise<Kept> {
    const contents: string[] = [];
    const claims: string[] = [];
    for await (const name of this.#blobs.list(place))
      (name.startsWith(`${place}content`) ? contents : claims).push(name);
    return { contents: contents.toSorted(), claims: claims.toSorted() };
  }

  /** The places of a tenant's artifacts by id. */
  async #all(tenant: string): Promise<ReadonlyMap<ArtifactId, string>> {
    const places = new Map<ArtifactId, string>();
    for await (const name of this.#blobs.list(`${fileName(tenant)}/`)) {
      const [, id] = name.split('/') as [string, ArtifactId];
      places.set(id, placeOf(tenant, id));
    }
    return places;
  }
}

function placeOf(tenant: string, id: ArtifactId): string {
  return `${fileName(tenant)}/${id}/`;
}

/** The key id in a content's name; undefined where it is in the clear. */
function keyIdOf(name: string): string | undefined {
  const file = /\/content\.([^/]+)$/.exec(name)?.[1];
  return file === undefined ? undefined : decodeURIComponent(file);
}

function idOf(bytes: Uint8Array): ArtifactId {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32) as ArtifactId;
}
