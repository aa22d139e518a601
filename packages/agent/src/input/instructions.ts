import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Folders } from '../folders.ts';
import { leadsOut } from '../loop/permissions.ts';

/** A file with permanent instructions: always whole in the prompt, as it is on disk now. */
export interface Instruction {
  readonly path: string;
  readonly content: string;
}

const NAMES = ['AGENTS.md', 'CLAUDE.md'];

/**
 * The instruction files that apply to a project: the user's own, then those of each folder from the repository's root
 * down. If two names in one folder say the same, the first counts. A link that leads out of the repository is not
 * followed: it would send the file that it points to.
 */
export function readInstructions(folders: Folders): readonly Instruction[] {
  const found: Instruction[] = [];
  const own = ancestors(folders.project);
  const [root = folders.project] = own;
  for (const folder of [folders.config, ...own]) {
    for (const name of NAMES) {
      const path = join(folder, name);
      const content = contentOf(path, folder === folders.config ? undefined : root);
      const isNew = content !== '' && !found.some((known) => known.content === content);
      if (isNew) found.push({ path, content });
    }
  }
  return found;
}

function contentOf(path: string, within: string | undefined): string {
  try {
    if (!statSync(path).isFile()) return '';
    if (within !== undefined && leadsOut(relative(realpathSync(within), realpathSync(path))))
      return '';
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

/** The folders from the repository's root to the project; the project alone if there is no repository. */
function ancestors(project: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = project; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (isThere(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return [project];
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
