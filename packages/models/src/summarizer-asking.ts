import type { Usage } from '@bobbin/core';
import type { SummaryReport } from '@bobbin/core/internal';
import { messageOf, type CallOutcome, type ModelCall } from './model-call.ts';
import type { Patience } from './patience.ts';
import { callModel } from './summarizer-call.ts';

const DEFAULT_RETRIES = 3;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** The calls for one summary: one deadline, one bill. */
export class Asking {
  readonly #patience: Patience;
  readonly #report: (report: SummaryReport) => void;
  readonly #signal: AbortSignal;
  readonly #started = performance.now();
  readonly #late = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #usage = NO_USAGE;
  #attempts = 0;

  constructor(
    patience: Patience,
    signal: AbortSignal | undefined,
    report: (report: SummaryReport) => void = () => undefined,
  ) {
    this.#patience = patience;
    this.#report = report;
    const { timeoutMs } = patience;
    const late = this.#late;
    // Not AbortSignal.timeout: an idle process would end before the time is over.
    if (timeoutMs !== undefined)
      this.#timer = setTimeout(() => late.abort(new Error('no answer in time')), timeoutMs);
    this.#signal = AbortSignal.any([signal, late.signal].filter((each) => each !== undefined));
  }

  /** Asks until there is an answer, as long as asking again may help. */
  async ask(call: Omit<ModelCall, 'signal'>): Promise<CallOutcome> {
    const { retries = DEFAULT_RETRIES, sleep = wait } = this.#patience;
    for (let failures = 0; ; failures++) {
      this.#attempts += 1;
      const outcome = await this.#inTime(callModel({ ...call, signal: this.#signal }));
      if (outcome.kind === 'answer' || outcome.kind === 'no-answer') this.#pay(outcome.usage);
      if (outcome.kind !== 'failure' || failures === retries) return outcome;
      const waitMs = Math.min(
        outcome.retryAfterMs ?? FIRST_WAIT_MS * 2 ** failures,
        LONGEST_WAIT_MS,
      );
      this.#report({ kind: 'retried', reason: outcome.reason, waitMs });
      await sleep(waitMs, this.#signal);
    }
  }

  /** A model that does not heed its signal is not waited for after the deadline. */
  async #inTime(answer: Promise<CallOutcome>): Promise<CallOutcome> {
    const { signal } = this.#late;
    let stop: (() => void) | undefined;
    const late = new Promise<CallOutcome>((resolve) => {
      stop = () => resolve({ kind: 'permanent-failure', reason: messageOf(signal.reason) });
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      if (stop !== undefined) signal.removeEventListener('abort', stop);
    }
  }

  #pay(usage: Usage): void {
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
      cacheReadTokens: this.#usage.cacheReadTokens + usage.cacheReadTokens,
      cacheWriteTokens: this.#usage.cacheWriteTokens + usage.cacheWriteTokens,
    };
  }

  /** Ends the deadline and reports the cost: a failure is paid for as well. */
  end(model: string): void {
    clearTimeout(this.#timer);
    if (this.#attempts === 0) return;
    this.#report({
      kind: 'called',
      model,
      usage: this.#usage,
      attempts: this.#attempts,
      durationMs: Math.round(performance.now() - this.#started),
    });
  }
}

/** The text of an answer; rejects, with the reason, if there is none. */
export function answerOf(outcome: CallOutcome): string {
  if (outcome.kind !== 'answer') throw new Error(outcome.reason);
  return outcome.text;
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
