import { once } from 'node:events';
import { createWriteStream, type Stats, type WriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { basename, dirname, join } from 'node:path';

/**
 * A file that is written under another name and moved into place when all of it is written: until then, and if anything
 * fails, what was there stays untouched.
 */
export class OutFile {
  readonly stream: WriteStream;
  readonly #path: string;
  /** The place of writing; undefined for a device or a pipe, which is written to directly. */
  readonly #beside: string | undefined;
  readonly #done: Promise<void>;

  /** Begins it; fails at once if it is a folder, if its folder does not exist, or if it must not be written. */
  static async open(path: string): Promise<OutFile> {
    const target = await realpath(path).catch(() => path);
    const found = await stat(target).catch(() => undefined);
    if (found?.isDirectory() === true)
      throw Object.assign(new Error('is a folder'), { code: 'EISDIR', syscall: 'open', path });
    const file = new OutFile(path, target, found);
    await once(file.stream, 'open');
    return file;
  }

  private constructor(name: string, path: string, found: Stats | undefined) {
    this.#path = path;
    this.#beside =
      found?.isFile() === false
        ? undefined
        : join(dirname(path), `.${basename(path)}.${process.pid}.partial`);
    this.stream = createWriteStream(this.#beside ?? path, {
      flags: this.#beside === undefined ? 'w' : 'wx',
      ...(found === undefined ? {} : { mode: found.mode }),
    });
    // Every failure is reported with the name that the user knows.
    this.stream.on('error', (error) => Object.assign(error, { path: name }));
    this.#done = finished(this.stream);
    this.#done.catch(() => undefined);
  }

  /** Moves it to its place. */
  async keep(): Promise<void> {
    this.stream.end();
    await this.#done;
    if (this.#beside !== undefined) await rename(this.#beside, this.#path);
  }

  async discard(): Promise<void> {
    this.stream.destroy();
    await this.#done.catch(() => undefined);
    if (this.#beside !== undefined) await rm(this.#beside, { force: true });
  }
}
