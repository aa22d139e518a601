import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { lineDiff } from './line-diff.ts';
import { pathRequest } from '../loop/permissions.ts';
import type { Arguments } from './arguments.ts';
import { fileProblem, readBytes } from './source-file.ts';
import { utf8Text } from './text-bytes.ts';
import { failure, objectSchema, text, type Tool } from './tool.ts';

export function editTool(root: string): Tool {
  return {
    name: 'edit',
    description:
      'Replace an exact piece of text in a file. old must occur exactly once, unless all is true. Give enough lines around it to be unique.',
    parameters: objectSchema(
      {
        path: text('The file, relative to the project or absolute'),
        old: text('The text to replace, exactly as it is in the file'),
        new: text('The text to put there'),
        all: { type: 'boolean', description: 'Replace every occurrence' },
      },
      'all',
    ),
    policy: { durability: 'anchoring', replayCost: 'expensive' },
    request: (args) => pathRequest('write', args.text('path'), root),
    async preview(args) {
      const edit = await editOf(args, root);
      return typeof edit === 'string' ? undefined : lineDiff(edit.before, edit.after);
    },
    async run(args) {
      const path = resolve(root, args.text('path'));
      const edit = await editOf(args, root);
      if (typeof edit === 'string') return failure(edit, { path });
      const { before, after, places } = edit;
      try {
        await writeFile(path, after);
      } catch (error) {
        return failure(fileProblem(path, error), { path });
      }
      return {
        text: `Edited ${path} (${places} ${places === 1 ? 'place' : 'places'}).`,
        outcome: 'success',
        keyFields: { path },
        diff: await lineDiff(before, after),
      };
    },
  };
}

interface Edit {
  readonly before: string;
  readonly after: string;
  readonly places: number;
}

/** The file after an edit, or in words why the edit is not possible. */
async function editOf(args: Arguments, root: string): Promise<Edit | string> {
  const path = resolve(root, args.text('path'));
  const bytes = await readBytes(path);
  if (typeof bytes === 'string') return bytes;
  const before = utf8Text(bytes);
  // Written back as UTF-8, every other byte of it would be lost.
  if (before === undefined) return `${path} is not UTF-8; change it with bash`;
  const old = args.text('old');
  const places = old === '' ? 0 : before.split(old).length - 1;
  if (places === 0) return `old does not occur in ${path}; read the file again`;
  if (places > 1 && !args.flag('all'))
    return `old occurs ${places} times in ${path}; give more of its surroundings, or all`;
  // As a function, so that `$&` in the new text means itself.
  return { before, after: before.replaceAll(old, () => args.text('new')), places };
}
