/** Named bytes: what a folder and a bucket have in common. Names are parts of `a-z0-9_-.%` joined by `/`. */
export interface Blobs {
  read(name: string): Promise<Uint8Array | undefined>;
  /** Writes all of it or nothing, and replaces what was there. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** The names that begin with a prefix, which ends with `/` or is empty. */
  list(prefix: string): AsyncIterable<string>;
}
