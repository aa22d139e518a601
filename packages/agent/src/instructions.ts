import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Folders } from './folders.ts';

/** A file with standing orders: always whole in the prompt, as it is on disk now. */
export interface Instruction {
  readonly path: string;
  readonly content: string;
}

const NAMES = ['AGENTS.md', 'CLAUDE.md'];

/**
 * The instruction files that hold for a project: the user's own, then those of each folder from the repository's root
 * down. Of two names in one folder the first counts where both say the same.
 */
export function readInstructions(folders: Folders): readonly Instruction[] {
  const found: Instruction[] = [];
  for (const folder of [folders.config, ...ancestors(folders.project)]) {
    for (const name of NAMES) {
      const path = join(folder, name);
      const content = contentOf(path);
      const isNew = content !== '' && !found.some((known) => known.content === content);
      if (isNew) found.push({ path, content });
    }
  }
  return found;
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

/** The folders from the repository's root to the project; the project alone where there is no repository. */
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
