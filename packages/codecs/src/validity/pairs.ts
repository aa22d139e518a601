import { jsonText } from '@bobbin/core/internal';
/** A value as a problem names it. */
export function named(value: unknown): string {
  return typeof value === 'string' ? value : (jsonText(value) ?? 'absent');
}

/** Which calls wait for their results, and what is wrong with how they are answered. */
export class Pairs {
  readonly problems: string[] = [];
  #open = new Map<string, string>();

  call(path: string, value: unknown): void {
    const id = named(value);
    if (this.#open.has(id)) this.problems.push(`${path}: the call id ${id} is used twice`);
    this.#open.set(id, path);
  }

  result(path: string, value: unknown): void {
    const id = named(value);
    if (!this.#open.delete(id)) this.problems.push(`${path}: a result without its call (${id})`);
  }

  /** From here on the calls so far can no longer be answered. */
  close(): void {
    for (const [id, path] of this.#open)
      this.problems.push(`${path}: a call without its result (${id})`);
    this.#open = new Map();
  }
}
