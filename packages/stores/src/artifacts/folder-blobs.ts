import { mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { causeText, StoreError } from '../store-error.ts';
import type { Blobs } from './blobs.ts';

/** Keeps blobs as files. A file is written beside and then moved into place, so that it is whole or not there. */
export function folderBlobs(folder: string): Blobs {
  const pathOf = (name: string): string => join(folder, ...name.split('/'));
  return {
    read: (name) => located(pathOf(name), () => readFile(pathOf(name)).catch(undefinedWhereAbsent)),
    write: (name, bytes) => located(pathOf(name), () => writeWhole(folder, pathOf(name), bytes)),
    remove: (name) =>
      located(pathOf(name), async () => {
        await unlink(pathOf(name)).catch(undefinedWhereAbsent);
        // Only an empty folder goes; one that got a new file meanwhile stays.
        await rm(dirname(pathOf(name)), { recursive: false }).catch(() => undefined);
      }),
    list: (prefix) => walk(folder, prefix),
  };
}

async function writeWhole(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  const beside = join(folder, '.unfinished', crypto.randomUUID());
  await mkdir(dirname(beside), { recursive: true });
  try {
    const file = await open(beside, 'wx');
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await mkdir(dirname(path), { recursive: true });
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

async function* walk(folder: string, prefix: string): AsyncIterable<string> {
  const entries = await located(folder, () =>
    readdir(join(folder, ...prefix.split('/')), { withFileTypes: true }).catch(
      undefinedWhereAbsent,
    ),
  );
  for (const entry of entries ?? []) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* walk(folder, `${prefix}${entry.name}/`);
    else yield `${prefix}${entry.name}`;
  }
}

function undefinedWhereAbsent(error: unknown): undefined {
  const { code } = error as { code?: string };
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

async function located<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StoreError('unavailable', `${path}: ${causeText(error)}`, error);
  }
}
