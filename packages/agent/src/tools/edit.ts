import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { lineDiff } from '../line-diff.ts';
import { pathWish } from '../permissions.ts';
import { fileProblem, readBytes } from './source-file.ts';
import { failure, objectSchema, text, type Tool } from './tool.ts';

export function editTool(root: string): Tool {
  return {
    name: 'edit',
    description:
      'Replace an exact piece of text in a file. old must occur exactly once, unless all is true. Give enough lines around it to be unique.',
    parameters: objectSchema(
      {
        path: text('The file, relative to the project or absolute'),
        old: text('The text to replace, exactly as it stands in the file'),
        new: text('The text to put there'),
        all: { type: 'boolean', description: 'Replace every occurrence' },
      },
      'all',
    ),
    policy: { durability: 'anchoring', replayCost: 'expensive' },
    wish: (args) => pathWish('write', args.text('path'), root),
    async run(args) {
      const path = resolve(root, args.text('path'));
      const bytes = await readBytes(path);
      if (typeof bytes === 'string') return failure(bytes, { path });
      const before = bytes.toString('utf8');
      const old = args.text('old');
      const found = old === '' ? 0 : before.split(old).length - 1;
      if (found === 0)
        return failure(`old does not occur in ${path}; read the file again`, { path });
      if (found > 1 && !args.flag('all'))
        return failure(
          `old occurs ${found} times in ${path}; give more of its surroundings, or all`,
          { path },
        );
      // As a function, so that `$&` in the new text means itself.
      const after = before.replaceAll(old, () => args.text('new'));
      try {
        await writeFile(path, after);
      } catch (error) {
        return failure(fileProblem(path, error), { path });
      }
      return {
        text: `Edited ${path} (${found} ${found === 1 ? 'place' : 'places'}).`,
        outcome: 'success',
        keyFields: { path },
        diff: lineDiff(before, after),
      };
    },
  };
}
