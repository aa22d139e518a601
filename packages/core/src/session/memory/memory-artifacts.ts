import type {
  ArtifactMetadata,
  ArtifactStore,
  Clock,
  Requester,
  Sensitivity,
} from '../../ports.ts';
import { artifactId } from '../../message/artifact-content.ts';
import type { ArtifactId } from '../../message/message.ts';
import { systemClock } from '../config/host.ts';
import { assertNames } from './stored-thread.ts';

/**
 * Keeps artifacts in the memory of this process. If several threads put the same content, each has its own metadata for
 * it.
 */
export function memoryArtifacts({
  clock = systemClock,
}: { readonly clock?: Clock } = {}): ArtifactStore {
  const artifacts = new Map<string, { bytes: Uint8Array; claims: readonly ArtifactMetadata[] }>();
  const find = (id: ArtifactId, requester: Requester) => {
    const found = artifacts.get(nameOf(requester.tenant, id));
    const metadata = found?.claims.find(
      (claim) => mayRead(claim, requester) && !hasExpired(claim, clock.now()),
    );
    return found === undefined || metadata === undefined
      ? undefined
      : { bytes: found.bytes, metadata };
  };
  return {
    async put(content, metadata) {
      assertSensitivity(metadata);
      const id = artifactId(content);
      const name = nameOf(metadata.tenant, id);
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
      const others = artifacts.get(name)?.claims.filter(({ thread }) => thread !== metadata.thread);
      artifacts.set(name, { bytes, claims: [metadata, ...(others ?? [])] });
      return id;
    },
    metadata: async (id, requester) => find(id, requester)?.metadata,
    async get(id, requester) {
      const found = find(id, requester);
      return found === undefined ? undefined : new TextDecoder().decode(found.bytes);
    },
    bytes: async (id, requester) => find(id, requester)?.bytes,
    async delete({ tenant, threads }) {
      assertNames(tenant);
      let gone = 0;
      for (const [name, { bytes, claims }] of artifacts) {
        const left = claims.filter(
          (claim) => claim.tenant !== tenant || threads?.includes(claim.thread) === false,
        );
        if (left.length === claims.length) continue;
        if (left.length > 0) artifacts.set(name, { bytes, claims: left });
        else {
          artifacts.delete(name);
          gone += 1;
        }
      }
      return gone;
    },
  };
}

/** True from the moment on at which an artifact's time to live is over. */
export function hasExpired({ createdAt, ttlMs }: ArtifactMetadata, now: number): boolean {
  return ttlMs !== undefined && createdAt + ttlMs <= now;
}

function nameOf(tenant: string, id: ArtifactId): string {
  assertNames(tenant);
  return `${tenant}\n${id}`;
}

const LEVELS: readonly Sensitivity[] = ['public', 'internal', 'confidential', 'restricted'];

/**
 * Call this before anything is kept: content of an unknown level could not be protected.
 * @throws RangeError if the sensitivity is none of the levels.
 */
export function assertSensitivity({ sensitivity }: ArtifactMetadata): void {
  if (!LEVELS.includes(sensitivity))
    throw new RangeError(
      `the sensitivity of an artifact is public, internal, confidential or restricted, not ${JSON.stringify(sensitivity) ?? 'missing'}`,
    );
}

/** True if the reader belongs to the artifact's tenant, is cleared for it and has a permission that it needs. */
export function mayRead(metadata: ArtifactMetadata, requester: Requester): boolean {
  const { tenant, permissions, clearance = 'restricted' } = requester;
  if (metadata.tenant !== tenant) return false;
  const level = LEVELS.indexOf(metadata.sensitivity);
  if (level < 0 || level > LEVELS.indexOf(clearance)) return false;
  const needed = metadata.permissions;
  return needed === undefined || needed.some((name) => permissions?.includes(name) ?? false);
}
