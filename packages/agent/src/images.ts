import { extname } from 'node:path';
import type { ArtifactStore, ImagePart, ThreadKey } from '@bobbin/core';
import { readBytes } from './tools/source-file.ts';

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
]);

/** The media type of an image by its path; undefined where it is none. */
export function imageType(path: string): string | undefined {
  return MEDIA_TYPES.get(extname(path).toLowerCase());
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

/** An image for a message. It is an artifact as well, so that it can be read back when a summary stands in its place (B13). */
export async function attachedImage(
  path: string,
  mediaType: string,
  { key: { tenant, thread }, artifacts, now }: AttachmentPlace,
): Promise<AttachedImage | undefined> {
  const bytes = await readBytes(path);
  if (typeof bytes === 'string') return undefined;
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
