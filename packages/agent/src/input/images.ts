import { extname } from 'node:path';
import type { ArtifactStore, ImagePart } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
]);

/** The media type that a path promises; undefined if it is not an image's. */
export function imageType(path: string): string | undefined {
  return MEDIA_TYPES.get(extname(path).toLowerCase());
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/**
 * The media type by the first bytes. A provider refuses an image of another type, and from then on every prompt that
 * holds it.
 */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12));
  if (head.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (head.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head.toString('latin1'))) return 'image/gif';
  return /^RIFF.{4}WEBP$/s.test(head.toString('latin1')) ? 'image/webp' : undefined;
}

/** An image that comes with a message, and what the text says of it. */
export interface AttachedImage {
  readonly image: ImagePart;
  readonly note: string;
}

export interface AttachmentPlace {
  readonly key: ThreadKey;
  readonly artifacts: ArtifactStore;
  readonly now: number;
}

/** An image for a message. It is an artifact as well, so that it can be read back after a summary replaced it. */
export async function attachedImage(
  path: string,
  bytes: Buffer,
  mediaType: string,
  { key: { tenant, thread }, artifacts, now }: AttachmentPlace,
): Promise<AttachedImage> {
  const id = await artifacts.put(bytes, {
    tenant,
    thread,
    createdAt: now,
    mediaType,
    sensitivity: 'internal',
  });
  const source = `data:${mediaType};base64,${bytes.toString('base64')}`;
  return {
    image: { kind: 'image', source, mediaType },
    note: `[attached image ${path}, artifact:${id}]`,
  };
}
