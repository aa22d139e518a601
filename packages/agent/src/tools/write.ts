import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { lineDiff } from '../line-diff.ts';
import { pathWish } from '../permissions.ts';
import { fileProblem } from './source-file.ts';
import { failure, objectSchema, text, type Tool } from './tool.ts';

export function writeTool(root: string): Tool {
  return {
    name: 'write',
    description:
      'Write a whole file, making its folders. It replaces what was there; prefer edit for changes.',
    parameters: objectSchema({
      path: text('The file, relative to the project or absolute'),
      content: text('The whole content'),
    }),
    policy: { durability: 'anchoring', replayCost: 'expensive' },
    wish: (args) => pathWish('write', args.text('path'), root),
    async run(args) {
      const path = resolve(root, args.text('path'));
      const content = args.text('content');
      try {
        const before = await readFile(path, 'utf8').catch(() => undefined);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
        const lines = content.split('\n').length;
        return {
          text: `${before === undefined ? 'Made' : 'Replaced'} ${path} (${lines} lines).`,
          outcome: 'success',
          keyFields: { path, lines },
          diff: lineDiff(before ?? '', content),
        };
      } catch (error) {
        return failure(fileProblem(path, error), { path });
      }
    },
  };
}
