import { headOf } from '@bobbin/core/internal';
import { resolve } from 'node:path';
import { imageType, imageTypeOf } from '../input/images.ts';
import { pathRequest } from '../loop/permissions.ts';
import { fileDeterminism, markOf, readBytes } from './source-file.ts';
import { isText } from './text-bytes.ts';
import { failure, integer, objectSchema, text, type Tool } from './tool.ts';

const MOST_LINES = 2_000;
const LONGEST_LINE = 2_000;

/** Reads a file with its line numbers. What it gave can be read again as long as the file is the same. */
export function readTool(root: string): Tool {
  return {
    name: 'read',
    description:
      'Read a text file with line numbers, or look at an image. Give offset and limit (in lines) for a part of a long file.',
    parameters: objectSchema(
      {
        path: text('The file, relative to the project or absolute'),
        offset: integer('The first line to read, from 1'),
        limit: integer('How many lines to read'),
      },
      'offset',
      'limit',
    ),
    policy: {
      durability: 'replayable',
      replayCost: 'free',
      captureDeterminism: fileDeterminism(root),
    },
    request: (args) => pathRequest('read', args.text('path'), root),
    async run(args) {
      const path = resolve(root, args.text('path'));
      const bytes = await readBytes(path);
      if (typeof bytes === 'string') return failure(bytes, { path });
      if (imageType(path) !== undefined) {
        const mediaType = imageTypeOf(bytes);
        if (mediaType === undefined)
          return failure(`${path} is no image that can be shown`, { path });
        const image = { mediaType, base64: bytes.toString('base64') };
        return { text: `The image ${path}`, outcome: 'success', keyFields: { path }, image };
      }
      if (!isText(bytes)) return failure(`${path} is no text file`, { path });
      const from = Math.max(1, args.optionalCount('offset') ?? 1);
      const shown = numbered(bytes.toString('utf8'), from, args.optionalCount('limit'));
      return { ...shown, keyFields: { path, lines: shown.lines }, determinism: markOf(bytes) };
    },
  };
}

function numbered(
  content: string,
  from: number,
  limit: number | undefined,
): { text: string; outcome: 'success' | 'partial'; lines: string } {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const until = Math.min(lines.length, from - 1 + Math.min(limit ?? MOST_LINES, MOST_LINES));
  const shown = lines.slice(from - 1, until).map((line, i) => {
    const cut = line.length > LONGEST_LINE ? `${headOf(line, LONGEST_LINE)}…` : line;
    return `${String(from + i).padStart(5)}\t${cut}`;
  });
  const range = `${from}-${until} of ${lines.length}`;
  if (shown.length === 0)
    return {
      text: `(no lines from ${from} on; the file has ${lines.length})`,
      outcome: 'success',
      lines: range,
    };
  if (until < lines.length)
    shown.push(`(${lines.length - until} more lines; go on with offset ${until + 1})`);
  return {
    text: shown.join('\n'),
    outcome: until < lines.length ? 'partial' : 'success',
    lines: range,
  };
}
