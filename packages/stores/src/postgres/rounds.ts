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
 * Asks together for what is asked for while other rounds are under way: of many small transactions it makes few, and the
 * disk is waited for once. If the server refuses one item, each is asked for alone, so that none fails with another.
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
      void this.#next();
    });
  }

  async #next(): Promise<void> {
    if (this.#underWay === this.#mostUnderWay || this.#waiting.length === 0) return;
    this.#underWay += 1;
    await this.#settle(this.#waiting.splice(0, MOST_ITEMS));
    this.#underWay -= 1;
    void this.#next();
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
