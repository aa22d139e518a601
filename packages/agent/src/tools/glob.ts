import { resolve } from 'node:path';
import { pathRequest } from '../loop/permissions.ts';
import { projectFiles } from './project-files.ts';
import { search } from './search.ts';
import { failure, objectSchema, text, type Tool } from './tool.ts';

const MOST_FILES = 500;

/** Finds files by name. */
export function globTool(root: string): Tool {
  return {
    name: 'glob',
    description:
      'List files whose path matches a pattern such as **/*.ts; ignored files are left out.',
    parameters: objectSchema(
      { pattern: text('A glob'), path: text('The folder to look in; the project where absent') },
      'path',
    ),
    policy: { durability: 'ephemeral', replayCost: 'free' },
    request: (args) => pathRequest('read', args.optionalText('path') ?? '.', root),
    async run(args, { signal }) {
      const folder = resolve(root, args.optionalText('path') ?? '.');
      const files = await projectFiles(folder, signal);
      const task = { folder, files, within: [], glob: args.text('pattern'), most: MOST_FILES };
      const found = await search(task, signal);
      if (typeof found === 'string') return failure(`glob: ${found}`);
      const { lines, more } = found;
      const notes = more ? [`(more than ${MOST_FILES} files; narrow the pattern)`] : [];
      return {
        text: lines.length === 0 ? 'No files match.' : [...lines, ...notes].join('\n'),
        outcome: more ? 'partial' : 'success',
        keyFields: { files: lines.length },
      };
    },
  };
}
