import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { pathRequest } from '../loop/permissions.ts';
import { projectFiles } from './project-files.ts';
import { search, type Found } from './search.ts';
import { fileProblem } from './source-file.ts';
import { failure, integer, objectSchema, text, type Tool, type ToolOutput } from './tool.ts';

const DEFAULT_MATCHES = 100;

/** Searches file contents. Its results go stale by themselves and cost nothing to find again. */
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
    request: (args) => pathRequest('read', args.optionalText('path') ?? '.', root),
    async run(args, { signal }) {
      const pattern = { source: args.text('pattern'), ignoreCase: args.flag('ignoreCase') };
      const problem = patternProblem(pattern.source);
      if (problem !== undefined) return failure(problem);
      const place = await searchPlace(resolve(root, args.optionalText('path') ?? '.'), signal);
      if (typeof place === 'string') return failure(place);
      const glob = args.optionalText('glob');
      const most = args.optionalCount('most') ?? DEFAULT_MATCHES;
      const task = {
        ...place,
        within: [await realpath(root), place.folder],
        ...(glob === undefined ? {} : { glob: glob.includes('/') ? glob : `**/${glob}` }),
        pattern,
        most,
      };
      const found = await search(task, signal);
      return typeof found === 'string' ? failure(`grep: ${found}`) : report(found, most);
    },
  };
}

function report({ lines, more, links }: Found, most: number): ToolOutput {
  const notes = [
    ...(lines.length === 0 ? ['No matches.'] : []),
    ...(more ? [`(more than ${most} matches; narrow the search)`] : []),
    ...(links === 0 ? [] : [`(links that lead out of the project were left out: ${links})`]),
  ];
  return {
    text: [...lines, ...notes].join('\n'),
    outcome: more ? 'partial' : 'success',
    keyFields: { matches: lines.length },
  };
}

function patternProblem(pattern: string): string | undefined {
  try {
    return new RegExp(pattern) instanceof RegExp ? undefined : pattern;
  } catch (error) {
    return `the pattern is no regular expression: ${(error as Error).message}`;
  }
}

/** The real path: a link that was asked for by name has been allowed. */
async function searchPlace(
  path: string,
  signal: AbortSignal,
): Promise<{ folder: string; files: readonly string[] } | string> {
  try {
    const real = await realpath(path);
    const info = await stat(real);
    if (info.isFile()) return { folder: dirname(real), files: [basename(real)] };
    return { folder: real, files: await projectFiles(real, signal) };
  } catch (error) {
    return fileProblem(path, error);
  }
}
