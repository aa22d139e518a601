import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder if it does not exist, with those above it, and returns the first that was made. Only its owner may
 * read it. The recursive `mkdir` of Node 24 never ends if a folder exists in which none can be made, as in /proc.
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  const above = dirname(path);
  if (await isFolder(path)) return undefined;
  const first = above === path ? undefined : await makeFolders(above);
  try {
    await mkdir(path, { mode: 0o700 });
    return first ?? path;
  } catch (error) {
    // Another process may have made it meanwhile.
    if (await isFolder(path)) return first;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
