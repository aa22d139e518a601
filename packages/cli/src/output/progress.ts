import { plainText } from './plain-text.ts';

/** A line on the terminal that is written over; nothing if stderr is not a terminal. */
export class Progress {
  #shownAt: number = performance.now();

  /** Shows a text, if some time has passed since the last one. */
  show(text: string): void {
    if (performance.now() - this.#shownAt >= 100) this.#write(text);
  }

  /** Shows a text at once, and gives the terminal the time to draw it: what follows takes a while. */
  async announce(text: string): Promise<void> {
    if (!process.stderr.isTTY) return;
    this.#write(text);
    await new Promise(setImmediate);
  }

  clear(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001B[K');
  }

  #write(text: string): void {
    if (!process.stderr.isTTY) return;
    this.#shownAt = performance.now();
    process.stderr.write(`\r${plainText(text)}\u001B[K`);
  }
}
