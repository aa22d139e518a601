import { isRefused } from './lost-connection.ts';

interface Asked<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Asks for some items at once; the answers are in their order. */
export type AskTogether<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

const MOST_ITEMS = 32;

/**
 * Asks together for what is asked for in one turn of the event loop, or while other rounds are under way: of many small
 * transactions it makes few, and the disk is waited for once. Free rounds share what waits, so that the server works on
 * them side by side. If the server refuses one item, each is asked for alone, so that none fails with another.
 */
export class Rounds<Item, Answer> {
  readonly #ask: AskTogether<Item, Answer>;
  readonly #mostUnderWay: number;
  readonly #waiting: Asked<Item, Answer>[] = [];
  #underWay = 0;

  constructor(ask: AskTogether<Item, Answer>, mostUnderWay: number) {
    this.#ask = ask;
    this.#mostUnderWay = mostUnderWay;
  }

  ask(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#waiting.length === 1) this.#startSoon();
    });
  }

  /** After all that is asked for in this turn of the event loop. */
  #startSoon(): void {
    setImmediate(() => {
      for (let free = this.#mostUnderWay - this.#underWay; free > 0; free--) {
        const share = Math.min(MOST_ITEMS, Math.ceil(this.#waiting.length / free));
        if (share > 0) void this.#run(this.#waiting.splice(0, share));
      }
    });
  }

  async #run(round: readonly Asked<Item, Answer>[]): Promise<void> {
    this.#underWay += 1;
    await this.#settle(round);
    this.#underWay -= 1;
    this.#startSoon();
  }

  async #settle(round: readonly Asked<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#ask(round.map(({ item }) => item));
      for (const [i, { resolve }] of round.entries()) resolve(answers[i] as Answer);
    } catch (error) {
      if (round.length > 1 && isRefused(error))
        await Promise.all(round.map((each) => this.#settle([each])));
      else for (const { reject } of round) reject(error);
    }
  }
}
