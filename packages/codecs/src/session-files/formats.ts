import { bobbinSession } from './bobbin.ts';
import { claudeCodeSession } from './claude-code.ts';
import { codexSession } from './codex.ts';
import { opencodeSession } from './opencode.ts';
import { piSession } from './pi.ts';
import type { SessionFormat } from './session.ts';

export const SESSION_FORMATS: readonly SessionFormat[] = [
  bobbinSession,
  piSession,
  claudeCodeSession,
  codexSession,
  opencodeSession,
];

/** The format of a session file, by what is in it; undefined if it is none of them. */
export function recogniseSession(text: string): SessionFormat | undefined {
  return SESSION_FORMATS.find((format) => format.recognises(text));
}
