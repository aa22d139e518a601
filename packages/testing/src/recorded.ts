import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Recorded conversations and session files are beside the repository, where there are any; they are not part of it. */
export const RECORDED: URL = new URL('../../../../shared/', import.meta.url);

/** Why a test that reads recordings is skipped; false if they are there. */
export function withoutRecorded(folder: 'transcripts' | 'session-files'): string | false {
  const path = fileURLToPath(new URL(folder, RECORDED));
  return existsSync(path) ? false : `no recordings: the folder ../shared/${folder} is absent`;
}
