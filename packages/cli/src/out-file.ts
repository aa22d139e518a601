import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { basename, dirname, join } from 'node:path';

/**
 * A file that is written beside its place and moved there when all of it is written: until then, and where anything
 * fails, what was there stays untouched.
 */
export class OutFile {
  readonly stream: WriteStream;
  readonly #path: string;
  readonly #beside: string;
  readonly #done: Promise<void>;

  /** Begins it; fails at once where there is no such folder, or where it must not be written. */
  static async open(path: string): Promise<OutFile> {
    const target = await realpath(path).catch(() => path);
    const mode = await stat(target).then(
      (found) => found.mode,
      () => undefined,
    );
    const file = new OutFile(target, mode);
    await once(file.stream, 'open').catch((error: unknown) => {
      throw Object.assign(error as NodeJS.ErrnoException, { path });
    });
    return file;
  }

  private constructor(path: string, mode: number | undefined) {
    this.#path = path;
    this.#beside = join(dirname(path), `.${basename(path)}.${process.pid}.partial`);
    this.stream = createWriteStream(this.#beside, {
      flags: 'wx',
      ...(mode === undefined ? {} : { mode }),
    });
    this.#done = finished(this.stream);
    this.#done.catch(() => undefined);
  }

  /** Moves it to its place. */
  async keep(): Promise<void> {
    this.stream.end();
    await this.#done;
    await rename(this.#beside, this.#path);
  }

  async discard(): Promise<void> {
    this.stream.destroy();
    await this.#done.catch(() => undefined);
    await rm(this.#beside, { force: true });
  }
}
