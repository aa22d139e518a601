import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a folder, and if `sync` is asked for makes its name durable, with those of all that were made above it. */
export function makeFolder(path: string, sync: boolean): void {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined || !sync) return;
  for (let folder = path; ; folder = dirname(folder)) {
    syncFolder(dirname(folder));
    if (folder === first || folder === dirname(folder)) return;
  }
}

/** The name of a new file or folder is durable when the folder that holds it is. */
export function syncFolder(folder: string): void {
  // Windows opens no folders; its file system keeps a journal of names.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
