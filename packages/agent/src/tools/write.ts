import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { lineDiff } from './line-diff.ts';
import { pathRequest } from '../loop/permissions.ts';
import { fileProblem, readBytes } from './source-file.ts';
import { utf8Text } from './text-bytes.ts';
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
    request: (args) => pathRequest('write', args.text('path'), root),
    async preview(args) {
      const before = await presentContent(resolve(root, args.text('path')));
      return changeOf(before, args.text('content'));
    },
    async run(args) {
      const path = resolve(root, args.text('path'));
      const content = args.text('content');
      try {
        const before = await presentContent(path);
        if (before === 'special') return failure(`${path} is no regular file`, { path });
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
        const lines = content.split('\n').length;
        return {
          text: `${before === 'absent' ? 'Made' : 'Replaced'} ${path} (${lines} lines).`,
          outcome: 'success',
          keyFields: { path, lines },
          diff: await changeOf(before, content),
        };
      } catch (error) {
        return failure(fileProblem(path, error), { path });
      }
    },
  };
}

/** What is there before a write: a text, nothing, bytes that are not text, or something that is not a file. */
type Present = { readonly text: string } | 'absent' | 'unreadable' | 'special';

async function presentContent(path: string): Promise<Present> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) return 'absent';
  if (!info.isFile()) return 'special';
  const bytes = await readBytes(path);
  const content = typeof bytes === 'string' ? undefined : utf8Text(bytes);
  return content === undefined ? 'unreadable' : { text: content };
}

async function changeOf(before: Present, content: string): Promise<string> {
  if (typeof before === 'object') return lineDiff(before.text, content);
  const diff = await lineDiff('', content);
  return before === 'unreadable' ? `It replaces what cannot be shown as text.\n${diff}` : diff;
}
