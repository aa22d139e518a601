import { memoryStore, type Plan, type Store } from '@bobbin/core';
import type { Random } from '@bobbin/testing';

export const DISK_FULL = 'disk full';

/** A store that cannot always commit, and that another writer gets to first now and then. */
export class RoughStore {
  readonly store: Store;
  /** Every plan that was to be committed, whether it could be or not. */
  tried: Plan[] = [];
  readonly #random: Random;
  readonly #meet: (inner: Store) => Promise<void>;
  readonly #inner: Store = memoryStore();
  #meeting = false;
  #calm = false;

  constructor(random: Random, meet: (inner: Store) => Promise<void>) {
    this.#random = random;
    this.#meet = meet;
    const inner = this.#inner;
    this.store = {
      ...inner,
      commit: async (key, plan, expected, events) => {
        // One that is tried again was made before those that wait after it.
        if (!this.tried.includes(plan)) this.tried.push(plan);
        await this.#meetSomebody();
        if (!this.#calm && random.chance(0.25)) throw new Error(DISK_FULL);
        return inner.commit(key, plan, expected, events);
      },
      record: async (key, events) => {
        await this.#meetSomebody();
        return inner.record(key, events);
      },
    };
  }

  /** From now on everything is kept, and nobody else comes. */
  calm(): void {
    this.#calm = true;
  }

  async #meetSomebody(): Promise<void> {
    if (this.#calm || this.#meeting || !this.#random.chance(0.5)) return;
    this.#meeting = true;
    await this.#meet(this.#inner);
    this.#meeting = false;
  }
}
