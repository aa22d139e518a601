import { open, readdir, readFile, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { causeText, StoreError } from '../store-error.ts';
import type { Blobs } from './blobs.ts';
import { makeFolders } from './new-folder.ts';

const UNFINISHED = '.unfinished';
const UNFINISHED_FOR_MS = 86_400_000;
const ATTEMPTS = 20;

/**
 * Keeps blobs as files. A file is written under another name and then moved into place, so that it is whole or not
 * there; what was written survives a power failure, and so does its name.
 */
export function folderBlobs(folder: string): Blobs {
  const pathOf = (name: string): string => join(folder, ...name.split('/'));
  let tidied: Promise<void> | undefined;
  return {
    read: (name) => located(pathOf(name), () => readFile(pathOf(name)).catch(undefinedWhereAbsent)),
    write: (name, bytes) =>
      located(pathOf(name), async () => {
        tidied ??= removeUnfinished(folder);
        await tidied;
        await writeWhole(folder, pathOf(name), bytes);
      }),
    remove: (name) =>
      located(pathOf(name), async () => {
        await unlink(pathOf(name)).catch(undefinedWhereAbsent);
        await removeEmpty(dirname(pathOf(name)), folder);
      }),
    list: (prefix) => walk(folder, prefix),
  };
}

async function writeWhole(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  const beside = join(folder, UNFINISHED, crypto.randomUUID());
  const made = await makeFolders(dirname(beside));
  try {
    const file = await open(beside, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await moveIn(beside, path, made);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** Moves a file into its folder, and makes both names durable. `made` is the first folder that was made for it before. */
async function moveIn(beside: string, path: string, made: string | undefined): Promise<void> {
  let first = made;
  for (let attempt = 1; ; attempt++) {
    try {
      first = (await makeFolders(dirname(path))) ?? first;
      await rename(beside, path);
      break;
    } catch (error) {
      // The process that removed the last file of the folder removes the folder as well.
      if (attempt === ATTEMPTS || (error as { code?: string }).code !== 'ENOENT') throw error;
    }
  }
  const top = first === undefined ? dirname(path) : dirname(first);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    await syncFolder(folder);
    if (folder === top || folder === dirname(folder)) return;
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folders; its file system keeps a journal of names.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r').catch(undefinedWhereAbsent);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** Removes folders that are empty, from one up to another that stays. One that got a new file meanwhile stays too. */
async function removeEmpty(folder: string, top: string): Promise<void> {
  for (let path = folder; path !== join(top); path = dirname(path)) {
    const removed = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

/** Removes what dead writers left; one that lives has a younger file. */
async function removeUnfinished(folder: string): Promise<void> {
  const unfinished = join(folder, UNFINISHED);
  for (const name of (await readdir(unfinished).catch(undefinedWhereAbsent)) ?? []) {
    const path = join(unfinished, name);
    const { mtimeMs = Infinity } = (await stat(path).catch(undefinedWhereAbsent)) ?? {};
    if (Date.now() - mtimeMs > UNFINISHED_FOR_MS) await rm(path, { force: true });
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
