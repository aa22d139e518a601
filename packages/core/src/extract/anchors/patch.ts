import { parseJson, type Json } from '../../message/json.ts';

/** A file of a patch: what the patch does to it, the lines that it takes away and those that it adds. */
export interface PatchedFile {
  readonly path: string;
  readonly does: 'writes' | 'edits' | 'deletes';
  readonly before: string;
  readonly after: string;
  /** In how many places lines are added. */
  readonly places: number;
}

const FILE = /^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+)$/;
/** The lines of a patch are read to here, its files to the end. */
const LONGEST = 60_000;
const DOES = { Add: 'writes', Update: 'edits', Delete: 'deletes' } as const;

/** True if the arguments of a call hold a patch of the form "*** Begin Patch". */
export function hasPatch(args: string): boolean {
  return args.includes('*** Begin Patch');
}

/** The files of the patch in some arguments. A file that is moved is deleted in one place and written in another. */
export function patchedFiles(args: string): readonly PatchedFile[] {
  const found: Reading[] = [];
  let [chars, isAdding] = [0, false];
  for (const text of textsIn(parseJson(args) ?? args))
    for (const line of text.split('\n')) {
      chars += line.length + 1;
      const last = found.at(-1);
      const [, verb, path] = FILE.exec(line) ?? [];
      if (path !== undefined) {
        if (verb === undefined && last !== undefined) last.does = 'deletes';
        const does = DOES[(verb ?? 'Add') as keyof typeof DOES];
        found.push({ path: path.trim(), does, before: [], after: [], places: 0 });
      } else if (chars > LONGEST) continue;
      else if (line.startsWith('-')) last?.before.push(line.slice(1));
      else if (line.startsWith('+')) {
        last?.after.push(line.slice(1));
        if (last !== undefined && !isAdding) last.places += 1;
      }
      isAdding = line.startsWith('+') || (isAdding && line.startsWith('-'));
    }
  return found.map(({ before, after, ...file }) => ({
    ...file,
    before: before.join('\n'),
    after: after.join('\n'),
  }));
}

interface Reading extends Pick<PatchedFile, 'path'> {
  does: PatchedFile['does'];
  readonly before: string[];
  readonly after: string[];
  places: number;
}

/** The texts in some arguments, at any depth. */
function textsIn(given: Json): readonly string[] {
  if (typeof given === 'string') return [given];
  if (typeof given !== 'object' || given === null) return [];
  return Object.values(given).flatMap((value: Json | undefined) => textsIn(value ?? null));
}
