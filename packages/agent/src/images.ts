import { extname, resolve } from 'node:path';
import { readFile } from 'node:fs/promises';
import type { ArtifactStore, ImagePart, ThreadKey } from '@bobbin/core';

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

/** Images that come with a message, and what the text says of them. */
export interface Attached {
  readonly text: string;
  readonly images: readonly ImagePart[];
}

export interface AttachmentPlace {
  readonly root: string;
  readonly key: ThreadKey;
  readonly artifacts: ArtifactStore;
  readonly now: number;
  readonly mayRead: (path: string) => boolean;
}

const MENTION = /(?<=^|\s)@([^\s,;:!?'"()]+)/g;

/**
 * A message with the images that it mentions by `@path`. Each is an artifact as well, named in the text: it can be read
 * back when a summary stands in its place (B13).
 */
export async function withImages(text: string, place: AttachmentPlace): Promise<Attached> {
  const images: ImagePart[] = [];
  const notes: string[] = [];
  for (const [, name = ''] of text.matchAll(MENTION)) {
    const mediaType = imageType(name);
    const path = resolve(place.root, name);
    if (mediaType === undefined || !place.mayRead(path)) continue;
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes === undefined) continue;
    const { tenant, thread } = place.key;
    const metadata = {
      tenant,
      thread,
      createdAt: place.now,
      mediaType,
      sensitivity: 'internal',
    } as const;
    const id = await place.artifacts.put(bytes, metadata);
    images.push({
      kind: 'image',
      source: `data:${mediaType};base64,${bytes.toString('base64')}`,
      mediaType,
    });
    notes.push(`[attached image ${path}, artifact:${id}]`);
  }
  return { text: [text, ...notes].join('\n'), images };
}
