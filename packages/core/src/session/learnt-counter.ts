import type { CompactorConfig } from '../compact/compact.ts';
import { calibrate, scaled, towards, type Calibration } from '../tokens/calibration.ts';
import type { Counter } from '../tokens/counter.ts';

const RECALIBRATE_SHARE = 0.03;
/** Messages that are less than this of what is sent beside them: a small error there would be a large one of theirs. */
const LEAST_SHARE = 0.1;

/** What a request holds beside its messages, in tokens. */
export function besideMessages({ budget }: CompactorConfig): number {
  return budget.systemTokens + budget.toolTokens + budget.formattingTokens;
}

/** A counter that learns from what a provider reports (B4, C14). */
export class LearntCounter {
  readonly #counter: Counter;
  #calibration: Calibration;
  /** What is sent beside the messages, where the host says nothing of it. */
  #measuredTokens = 0;
  /** What the messages of the last report were counted at, without the factor. */
  #lastUnits = Number.POSITIVE_INFINITY;

  constructor(counter: Counter, calibration: Calibration) {
    this.#counter = counter;
    this.#calibration = calibration;
  }

  get counter(): Counter {
    return scaled(this.#counter, this.#calibration);
  }

  /** Compares a prompt's estimate with what the provider reported for it. The setting that holds from now on. */
  learn(given: CompactorConfig, sentTokens: number, reportedTokens: number): CompactorConfig {
    const setting = this.#measured(given, sentTokens, reportedTokens);
    const beside = besideMessages(setting);
    if (sentTokens < beside * LEAST_SHARE) return setting;
    const learnt = calibrate(this.#calibration, sentTokens, reportedTokens - beside);
    const moved = Math.abs(learnt.factor / this.#calibration.factor - 1) > RECALIBRATE_SHARE;
    this.#calibration = moved ? learnt : { ...this.#calibration, samples: learnt.samples };
    return moved ? { ...setting, counter: this.counter } : setting;
  }

  /**
   * Where the host said nothing of its system prompt and tools, what the first report has beyond the messages is theirs;
   * so it is with every report for fewer messages than before. Other reports can only lower it.
   */
  #measured(setting: CompactorConfig, sentTokens: number, reportedTokens: number): CompactorConfig {
    if (besideMessages(setting) !== this.#measuredTokens) return setting;
    const units = sentTokens / this.#calibration.factor;
    const seen = Math.max(0, reportedTokens - sentTokens);
    const known = units < this.#lastUnits ? seen : this.#measuredTokens;
    this.#lastUnits = units;
    this.#measuredTokens = Math.ceil(Math.min(known, towards(known, seen)));
    return {
      ...setting,
      budget: { ...setting.budget, formattingTokens: this.#measuredTokens },
    };
  }
}
