import { StoreError } from '../store-error.ts';
import { BUSY_MS, longer, pause } from './lock-wait.ts';

/** Its row says `busy: 0` if all of the log is in the file now, and the log is empty. */
export const EMPTY_LOG = 'PRAGMA wal_checkpoint(TRUNCATE)';

/**
 * Tries to empty a database's log until nothing of what was erased can be in it. While a reader needs the log, the
 * process goes on with its other work.
 *
 * @throws StoreError if the reader does not end in time.
 */
export async function emptyLog(path: string, attempt: () => { busy: number }): Promise<void> {
  const until = performance.now() + BUSY_MS;
  for (let waitMs = longer(0); attempt().busy !== 0; waitMs = longer(waitMs)) {
    if (performance.now() > until)
      throw new StoreError(
        'unavailable',
        `${path}: what was erased may still be in its log, because another program is reading: end its transaction, then erase again`,
      );
    await pause(waitMs);
  }
}
