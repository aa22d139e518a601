import type { ArtifactStore } from '@bobbin/core';
import type { ArtifactId } from '@bobbin/core/internal';
import type { KeyRing } from '@bobbin/stores';
import { parseOptions, type Command, type OptionTable } from '../command.ts';
import { EXIT, InputError, UsageError } from '../failure.ts';
import { readKeys } from '../input/key-file.ts';
import { plainText } from '../output/plain-text.ts';
import { write } from '../input/text-stream.ts';

/** Whose artifacts are read and written here: those of `createBobbin` if it is given no other tenant. */
const REQUESTER = { tenant: 'default' } as const;

const OPTIONS = {
  keys: {
    type: 'string',
    value: 'FILE',
    help: 'The keys of the artifacts: {"current": ID, "keys": {ID: BASE64 of 32 bytes, …}}.',
  },
} as const satisfies OptionTable;

export const artifactCommand: Command = {
  name: 'artifact',
  operands: 'FOLDER ID',
  about:
    'Prints the content that was replaced by "[Externalized Content - artifact:ID]", from the folder that compact was given as --artifacts.',
  options: OPTIONS,
  examples: [
    'bobbin artifact moved-out 3f2a… | less',
    'bobbin artifact moved-out artifact:3f2a… | grep error',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const [folder, name, ...more] = operands;
    if (folder === undefined || name === undefined || more.length > 0)
      throw new UsageError('give a FOLDER and an ID');
    const id = name.replace(/^artifact:/, '') as ArtifactId;
    const keys = values.keys === undefined ? undefined : await readKeys(values.keys);
    const bytes = await (await artifactsIn(folder, keys)).bytes(id, REQUESTER);
    if (bytes === undefined) throw new InputError(folder, undefined, `holds no artifact ${id}`);
    await write(
      process.stdout,
      process.stdout.isTTY ? plainText(Buffer.from(bytes).toString('utf8')) : bytes,
    );
    return EXIT.done;
  },
};

/** The artifacts of a folder, which is made if it does not exist: what cannot be written fails before the work. */
export async function newArtifactsIn(folder: string): Promise<ArtifactStore> {
  const { makeFolders } = await import('@bobbin/stores/artifacts');
  await makeFolders(folder);
  return artifactsIn(folder);
}

/** Stores are loaded when they are asked for: no other command waits for them. */
async function artifactsIn(folder: string, keys?: KeyRing): Promise<ArtifactStore> {
  const { folderArtifacts } = await import('@bobbin/stores/artifacts');
  return folderArtifacts(folder, keys === undefined ? {} : { keys });
}

/** The command that prints an artifact of a folder, ready for a shell. */
export function readingCommand(folder: string, id: string): string {
  const word = /^[\w./:@-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'\\''`)}'`;
  return `bobbin artifact ${word} ${id}`;
}
