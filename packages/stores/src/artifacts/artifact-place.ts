import { randomBytes } from 'node:crypto';
import type { ArtifactId } from '@bobbin/core/internal';
import { fileName } from '../file-name.ts';
import type { Blobs } from './blobs.ts';

/** A copy of an artifact's content; `key` is the name of the key that it is encrypted with. */
export interface ContentBlob {
  readonly name: string;
  readonly key: string | undefined;
}

/** What a thread said of an artifact when it put it. */
export interface ClaimBlob {
  readonly name: string;
  readonly thread: string;
  readonly order: number;
}

/** What is stored under an artifact's name. */
export interface Kept {
  readonly contents: readonly ContentBlob[];
  readonly claims: readonly ClaimBlob[];
  /** Left by a sweep that is about to remove the contents that were there before the mark. */
  readonly marks: readonly string[];
}

/**
 * The place of a tenant's artifact: `TENANT/ID/`, in it `content`, `content.KEY` (encrypted), or either with `.NONCE`:
 * a copy that no sweep has seen yet; `claim.THREAD.ORDER-NONCE.json`, of which the highest order of each thread counts;
 * and `sweep.NONCE`, the mark of a sweep.
 */
export function placeOf(tenant: string, id: ArtifactId): string {
  return `${fileName(tenant)}/${id}/`;
}

export function contentName(place: string, key: string | undefined): string {
  return key === undefined ? `${place}content` : `${place}content.${fileName(key)}`;
}

/** Another, unused name for content. */
export function freshContentName(place: string, key: string | undefined): string {
  return `${place}content.${key === undefined ? '' : fileName(key)}.${nonce()}`;
}

/** A name for a claim that counts before all others of its thread. */
export function claimName(place: string, thread: string, { claims }: Kept): string {
  const own = fileName(thread);
  const order = Math.max(0, ...claims.filter((each) => each.thread === own).map(orderOf)) + 1;
  return `${place}claim.${own}.${order}-${nonce()}.json`;
}

export function markName(place: string): string {
  return `${place}sweep.${nonce()}`;
}

/** The claims of a thread that a claim has taken the place of. */
export function olderClaims({ claims }: Kept, than: string): readonly ClaimBlob[] {
  const own = claims.find(({ name }) => name === than);
  if (own === undefined) return [];
  return claims.filter(({ thread, order }) => thread === own.thread && order < own.order);
}

/** The claim that counts of each thread. */
export function currentClaims({ claims }: Kept): readonly ClaimBlob[] {
  const newest = new Map<string, ClaimBlob>();
  for (const claim of claims) {
    const other = newest.get(claim.thread);
    if (other === undefined || isLater(claim, other)) newest.set(claim.thread, claim);
  }
  return [...newest.values()];
}

function isLater(a: ClaimBlob, b: ClaimBlob): boolean {
  return a.order === b.order ? a.name > b.name : a.order > b.order;
}

export async function keptAt(blobs: Blobs, place: string): Promise<Kept> {
  const names: string[] = [];
  for await (const name of blobs.list(place)) names.push(name);
  return sorted(names);
}

/** All that a tenant has, artifact by artifact: the names of one come after each other. */
export async function* keptOf(
  blobs: Blobs,
  tenant: string,
): AsyncIterable<readonly [ArtifactId, Kept]> {
  let names: string[] = [];
  for await (const name of blobs.list(`${fileName(tenant)}/`)) {
    if (names.length > 0 && idIn(names[0]) !== idIn(name)) {
      yield [idIn(names[0]), sorted(names)];
      names = [];
    }
    names.push(name);
  }
  if (names.length > 0) yield [idIn(names[0]), sorted(names)];
}

function idIn(name: string | undefined): ArtifactId {
  return (name ?? '').split('/')[1] as ArtifactId;
}

const CONTENT = /\/content(?:\.([^./]*))?(?:\.[^./]+)?$/;
const CLAIM = /\/claim\.([^./]+)\.(\d+)-[^./]+\.json$/;
const MARK = /\/sweep\.[^./]+$/;

function sorted(names: readonly string[]): Kept {
  const kept = { contents: [] as ContentBlob[], claims: [] as ClaimBlob[], marks: [] as string[] };
  for (const name of names.toSorted()) {
    const [, thread, order] = CLAIM.exec(name) ?? [];
    const content = CONTENT.exec(name);
    if (content !== null) kept.contents.push({ name, key: content[1] || undefined });
    else if (thread !== undefined) kept.claims.push({ name, thread, order: Number(order) });
    else if (MARK.test(name)) kept.marks.push(name);
  }
  return kept;
}

function orderOf({ order }: ClaimBlob): number {
  return order;
}

function nonce(): string {
  return randomBytes(6).toString('hex');
}
