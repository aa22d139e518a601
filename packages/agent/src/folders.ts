import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where the agent reads and keeps things. */
export interface Folders {
  /** The folder that is worked on. */
  readonly project: string;
  readonly config: string;
  readonly data: string;
}

export function foldersOf(project: string, env: NodeJS.ProcessEnv): Folders {
  return {
    project,
    config: join(env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'bobbin'),
    data: join(env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share'), 'bobbin'),
  };
}
