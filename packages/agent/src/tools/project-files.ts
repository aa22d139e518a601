import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';

const SKIPPED = new Set(['.git', 'node_modules', '.hg', '.svn']);
const MOST_FILES = 100_000;

/** The files below a folder, relative to it: in a repository without what it ignores, or all of them. */
export async function projectFiles(
  folder: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return (await gitFiles(folder, signal)) ?? (await walkedFiles(folder, signal));
}

/**
 * No person has allowed anything to run here, and a repository's own configuration can name programs that git runs. So
 * git never opens the repository: it gets an empty one of ours, to which every file is new, and reads of the project
 * only the `.gitignore` files.
 */
function gitFiles(folder: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
  const root = repositoryOf(folder);
  if (root === undefined) return Promise.resolve(undefined);
  const places = [`--git-dir=${emptyRepository()}`, `--work-tree=${root}`];
  const args = [...places, 'ls-files', '-z', '--others', '--exclude-standard'];
  const options = { cwd: folder, signal, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile('git', args, options, (error, stdout) => {
      if (error !== null) return resolve(undefined);
      const files = stdout.split('\0').filter((file) => file !== '');
      return resolve(files.slice(0, MOST_FILES).toSorted());
    });
  });
}

/** The nearest folder, from this one up, that is a repository. */
function repositoryOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : repositoryOf(parent);
}

let emptyPath: string | undefined;

function emptyRepository(): string {
  if (emptyPath !== undefined) return emptyPath;
  const path = mkdtempSync(join(tmpdir(), 'bobbin-git-'));
  for (const name of ['objects', 'refs']) mkdirSync(join(path, name));
  writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/none\n');
  process.once('exit', () => rmSync(path, { recursive: true, force: true }));
  emptyPath = path;
  return path;
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
