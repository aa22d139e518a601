/** The beginning and the end of an output of any length. */
export class CappedText {
  readonly #headChars: number;
  readonly #tailChars: number;
  #head = '';
  #tail = '';
  #left = 0;

  constructor(headChars: number, tailChars: number) {
    this.#headChars = headChars;
    this.#tailChars = tailChars;
  }

  add(chunk: string): void {
    const space = this.#headChars - this.#head.length;
    if (space > 0) this.#head += chunk.slice(0, space);
    this.#tail += chunk.slice(Math.max(0, space));
    if (this.#tail.length <= 2 * this.#tailChars) return;
    this.#left += this.#tail.length - this.#tailChars;
    this.#tail = this.#tail.slice(-this.#tailChars);
  }

  /** … with a mark in place of a character that was cut in half: providers refuse halves. */
  text(): string {
    const over = Math.max(0, this.#tail.length - this.#tailChars);
    const left = this.#left + over;
    const tail = this.#tail.slice(over);
    return left === 0
      ? this.#head + tail
      : `${this.#head}\n… ${left} characters left out …\n${tail}`.toWellFormed();
  }
}

const PACE_MS = 100;
const PACE_CHARS = 4_000;

/** Emits an output as it comes, at a pace that a listener can keep: what comes faster is emitted in part. */
export class PacedText {
  readonly #emit: (text: string) => void;
  #pending: CappedText | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (text: string) => void) {
    this.#emit = emit;
  }

  add(chunk: string): void {
    this.#pending ??= new CappedText(PACE_CHARS, PACE_CHARS);
    this.#pending.add(chunk);
    this.#timer ??= setTimeout(() => this.#flush(), PACE_MS);
  }

  /** Emits the rest. */
  end(): void {
    clearTimeout(this.#timer);
    this.#flush();
  }

  #flush(): void {
    const text = this.#pending?.text() ?? '';
    this.#pending = undefined;
    this.#timer = undefined;
    if (text !== '') this.#emit(text);
  }
}
