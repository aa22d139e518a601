import type { Blobs } from '../artifacts/blobs.ts';

export interface SqliteOptions {
  /**
   * `full` (the default): what is acknowledged survives a power failure. `normal`: it survives the death of the
   * process, and a power failure takes back the newest commits as a whole.
   */
  readonly sync?: 'full' | 'normal';
  /** The store must be there already, in the present schema: opening it makes and changes nothing. */
  readonly existing?: boolean;
  /** The place of messages that were moved out of the file with `moveCold`, such as `s3Blobs` of a bucket. */
  readonly cold?: Blobs;
  /** Called with what an operator should know, such as that another program's reader makes the log long; the console if absent. */
  readonly onWarning?: (message: string) => void;
}
