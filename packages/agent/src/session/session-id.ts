import { createHash, randomBytes } from 'node:crypto';
import { basename } from 'node:path';

/** A name for a new session: its start time, and enough random characters to be unique. */
export function newSessionId(now: number): string {
  const time = new Date(now)
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replaceAll(/[:-]/g, '')
    .replace('T', '-');
  return `${time}-${randomBytes(3).toString('hex')}`;
}

/** The folder of a project's sessions: readable, and unique for every path. */
export function projectName(path: string): string {
  const readable = basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .slice(0, 40);
  return `${readable === '' ? 'root' : readable}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}`;
}
