import { mkdir } from 'node:fs/promises';
import type { ArtifactId, ArtifactStore } from '@bobbin/core';
import { parseOptions, type Command } from './command.ts';
import { EXIT, InputError, UsageError } from './failure.ts';

/** Whose artifacts are read and written here: those of `createBobbin` where it is told no other tenant. */
const REQUESTER = { tenant: 'default' } as const;

export const artifactCommand: Command = {
  name: 'artifact',
  summary: 'prints what compact moved out of a transcript',
  operands: 'FOLDER ID',
  about:
    'Prints the content that stands behind "[Externalized Content - artifact:ID]", from the folder that compact was given as --artifacts.',
  options: {},
  examples: [
    'bobbin artifact moved-out 3f2a… | less',
    'bobbin artifact moved-out artifact:3f2a… | grep error',
  ],
  async run(args) {
    const { operands } = parseOptions(args, {});
    const [folder, name, ...more] = operands;
    if (folder === undefined || name === undefined || more.length > 0)
      throw new UsageError('give a FOLDER and an ID');
    const id = name.replace(/^artifact:/, '') as ArtifactId;
    const bytes = await (await artifactsIn(folder)).bytes(id, REQUESTER);
    if (bytes === undefined) throw new InputError(folder, undefined, `holds no artifact ${id}`);
    process.stdout.write(bytes);
    return EXIT.done;
  },
};

/** The artifacts of a folder, which is made where it is not there: what cannot be written fails before the work. */
export async function newArtifactsIn(folder: string): Promise<ArtifactStore> {
  await mkdir(folder, { recursive: true });
  return artifactsIn(folder);
}

/** Stores are loaded when they are asked for: no other command waits for them. */
async function artifactsIn(folder: string): Promise<ArtifactStore> {
  const { folderArtifacts } = await import('@bobbin/stores');
  return folderArtifacts(folder);
}

/** The command that prints an artifact of a folder, ready for a shell. */
export function readingCommand(folder: string, id: string): string {
  const word = /^[\w./:@-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'\\''`)}'`;
  return `bobbin artifact ${word} ${id}`;
}
