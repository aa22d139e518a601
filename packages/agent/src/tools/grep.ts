import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { globPattern } from '../glob-pattern.ts';
import { pathWish } from '../permissions.ts';
import { projectFiles } from './project-files.ts';
import { fileProblem, isText } from './source-file.ts';
import { failure, integer, objectSchema, text, type Tool } from './tool.ts';

const DEFAULT_MATCHES = 100;
const LONGEST_LINE = 300;
const LARGEST_BYTES = 2_000_000;

/** Searches file contents. Its results go stale by themselves and are found again for nothing. */
export function grepTool(root: string): Tool {
  return {
    name: 'grep',
    description: 'Search file contents with a regular expression. Gives path:line: text.',
    parameters: objectSchema(
      {
        pattern: text('A JavaScript regular expression'),
        path: text('A folder or file to search in; the project where absent'),
        glob: text('Only files whose path matches, e.g. src/**/*.ts'),
        ignoreCase: { type: 'boolean', description: 'Match capitals and small letters alike' },
        most: integer(`The most matches to give, ${DEFAULT_MATCHES} where absent`),
      },
      'path',
      'glob',
      'ignoreCase',
      'most',
    ),
    policy: { durability: 'ephemeral', replayCost: 'cheap' },
    wish: (args) => pathWish('read', args.optionalText('path') ?? '.', root),
    async run(args, { signal }) {
      const pattern = compiled(args.text('pattern'), args.flag('ignoreCase'));
      if (typeof pattern === 'string') return failure(pattern);
      const place = await searchPlace(resolve(root, args.optionalText('path') ?? '.'), signal);
      if (typeof place === 'string') return failure(place);
      const glob = args.optionalText('glob');
      const wanted =
        glob === undefined ? undefined : globPattern(glob.includes('/') ? glob : `**/${glob}`);
      const files = place.files.filter((file) => wanted?.test(file) ?? true);
      const most = args.optionalCount('most') ?? DEFAULT_MATCHES;
      const found: string[] = [];
      for (const file of files) {
        if (found.length > most || signal.aborted) break;
        found.push(
          ...(await matches(join(place.folder, file), file, pattern, most + 1 - found.length)),
        );
      }
      if (found.length === 0)
        return { text: 'No matches.', outcome: 'success', keyFields: { matches: 0 } };
      const shown = found.slice(0, most);
      const more = found.length > most ? `\n(more than ${most} matches; narrow the search)` : '';
      return {
        text: shown.join('\n') + more,
        outcome: more === '' ? 'success' : 'partial',
        keyFields: { matches: shown.length },
      };
    },
  };
}

function compiled(pattern: string, ignoreCase: boolean): RegExp | string {
  try {
    return new RegExp(pattern, ignoreCase ? 'i' : '');
  } catch (error) {
    return `the pattern is no regular expression: ${(error as Error).message}`;
  }
}

async function searchPlace(
  path: string,
  signal: AbortSignal,
): Promise<{ folder: string; files: readonly string[] } | string> {
  try {
    const info = await stat(path);
    if (info.isFile()) return { folder: dirname(path), files: [basename(path)] };
    return { folder: path, files: await projectFiles(path, signal) };
  } catch (error) {
    return fileProblem(path, error);
  }
}

async function matches(
  path: string,
  name: string,
  pattern: RegExp,
  most: number,
): Promise<readonly string[]> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined || info.size > LARGEST_BYTES) return [];
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined || !isText(bytes)) return [];
  const found: string[] = [];
  for (const [i, line] of bytes.toString('utf8').split('\n').entries()) {
    if (found.length === most) break;
    if (pattern.test(line)) found.push(`${name}:${i + 1}: ${line.slice(0, LONGEST_LINE)}`);
  }
  return found;
}
