import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

const SKIPPED = new Set(['.git', 'node_modules', '.hg', '.svn']);
const MOST_FILES = 100_000;

/** The files below a folder, relative to it: those that git knows or would, or all where there is no repository. */
export async function projectFiles(
  folder: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return (await gitFiles(folder, signal)) ?? (await walkedFiles(folder, signal));
}

function gitFiles(folder: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  // The project's own configuration may name a program to ask what changed: it is not run for a list of files.
  const quiet = ['-c', 'core.fsmonitor=false'];
  const args = [...quiet, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const options = { cwd: folder, signal, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile('git', args, options, (error, stdout) => {
      if (error !== null) return resolve(undefined);
      const files = stdout.split('\0').filter((file) => file !== '');
      return resolve([...new Set(files)].slice(0, MOST_FILES).toSorted());
    });
  });
}

async function walkedFiles(root: string, signal: AbortSignal): Promise<readonly string[]> {
  const files: string[] = [];
  const folders = [root];
  for (
    let folder = folders.pop();
    folder !== undefined && files.length < MOST_FILES && !signal.aborted;
    folder = folders.pop()
  ) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) folders.push(path);
      } else if (entry.isFile()) files.push(relative(root, path).replaceAll(sep, '/'));
    }
  }
  return files.toSorted();
}
