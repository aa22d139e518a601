import type { Setting } from '../compactor.ts';
import { calibrate, scaled, type Calibration } from '../tokens/calibration.ts';
import type { Counter } from '../tokens/counter.ts';

const RECALIBRATE_SHARE = 0.03;

/** What a request holds beside its messages, in tokens. */
export function besideMessages({ budget }: Setting): number {
  return budget.systemTokens + budget.toolTokens + budget.formattingTokens;
}

/** A counter that learns from what a provider reports (B4, C14). */
export class LearntCounter {
  readonly #counter: Counter;
  #calibration: Calibration;

  constructor(counter: Counter, calibration: Calibration) {
    this.#counter = counter;
    this.#calibration = calibration;
  }

  get counter(): Counter {
    return scaled(this.#counter, this.#calibration);
  }

  /** Compares a prompt's estimate with what the provider reported for it. The setting that holds from now on. */
  learn(given: Setting, sentTokens: number, reportedTokens: number): Setting {
    let setting = given;
    if (besideMessages(setting) === 0) {
      // The host said nothing of its system prompt and tools: what the first report has beyond the messages is theirs.
      const formattingTokens = Math.max(0, reportedTokens - sentTokens);
      setting = { ...setting, budget: { ...setting.budget, formattingTokens } };
    }
    const estimate = sentTokens + besideMessages(setting);
    const learnt = calibrate(this.#calibration, estimate, reportedTokens);
    const moved = Math.abs(learnt.factor / this.#calibration.factor - 1) > RECALIBRATE_SHARE;
    this.#calibration = moved ? learnt : { ...this.#calibration, samples: learnt.samples };
    return moved ? { ...setting, counter: this.counter } : setting;
  }
}
