import { spawnSync } from 'node:child_process';

/** A Node 20 of this machine: the one that a variable names, or the host's own. */
export function node20(): string | undefined {
  const candidates = [process.env['NODE20'], '/usr/bin/node', '/usr/local/bin/node'];
  return candidates.find((path) => path !== undefined && versionOf(path).startsWith('v20.'));
}

export const NO_NODE_20 = 'no Node 20 here; name one in NODE20';

/** What a Node says its version is; nothing if there is none at the path. */
function versionOf(path: string): string {
  const { error, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return error === undefined ? stdout : '';
}
