import { resolve } from 'node:path';
import { globPattern } from '../glob-pattern.ts';
import { pathWish } from '../permissions.ts';
import { projectFiles } from './project-files.ts';
import { objectSchema, text, type Tool } from './tool.ts';

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
    wish: (args) => pathWish('read', args.optionalText('path') ?? '.', root),
    async run(args, { signal }) {
      const pattern = globPattern(args.text('pattern'));
      const files = await projectFiles(resolve(root, args.optionalText('path') ?? '.'), signal);
      const found = files.filter((file) => pattern.test(file));
      const more = found.length > MOST_FILES ? [`(${found.length - MOST_FILES} more)`] : [];
      return {
        text:
          found.length === 0
            ? 'No files match.'
            : [...found.slice(0, MOST_FILES), ...more].join('\n'),
        outcome: more.length === 0 ? 'success' : 'partial',
        keyFields: { files: found.length },
      };
    },
  };
}
