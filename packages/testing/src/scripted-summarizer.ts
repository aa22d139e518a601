import type { Summarizer, Summary, SummaryRequest } from '@bobbin/core';
import { extract, EMPTY_SUMMARY } from '@bobbin/core/internal';

/** What a summarizer does when it is asked. */
export type SummarizerOutcome =
  /** A summary, as the built-in extract makes it, with fields of the script's own. */
  | { readonly kind: 'good'; readonly summary?: Partial<Summary> }
  | { readonly kind: 'blank' }
  /** Rejects with an error of that message. */
  | { readonly kind: 'throws'; readonly message: string }
  /** Never answers; rejects when the request's signal says so. */
  | { readonly kind: 'hangs' }
  /** A summary larger than what it replaces. */
  | { readonly kind: 'huge'; readonly chars: number }
  /** Something that is not a summary, as a careless adapter may return. */
  | { readonly kind: 'malformed'; readonly value: unknown };

export interface ScriptedSummarizer extends Summarizer {
  /** What it was asked, in order. */
  readonly requests: readonly SummaryRequest[];
  /** Throws if the script was not played to its end. */
  expectDone(): void;
}

/** A summarizer that plays a script, one outcome a request, records what it was asked and refuses to be asked more. */
export function scriptedSummarizer(...script: readonly SummarizerOutcome[]): ScriptedSummarizer {
  const requests: SummaryRequest[] = [];
  return {
    id: 'scripted',
    requests,
    summarize(request) {
      const outcome = script[requests.length];
      requests.push(request);
      if (outcome === undefined) {
        const asked = `request ${requests.length} for ${request.nodes.length} messages`;
        return Promise.reject(new UnexpectedRequest(`the script ends before ${asked}`));
      }
      return playOutcome(outcome, request);
    },
    expectDone() {
      if (requests.length > script.length)
        throw new UnexpectedRequest(`asked ${requests.length} times, not ${script.length}`);
      if (requests.length < script.length)
        throw new Error(`asked ${requests.length} times of ${script.length}`);
    },
  };
}

/** The compactor survives any error of a summarizer; `expectDone` reports this one afterwards. */
class UnexpectedRequest extends Error {
  override readonly name = 'UnexpectedRequest';
}

/** Plays one outcome. */
export function playOutcome(outcome: SummarizerOutcome, request: SummaryRequest): Promise<Summary> {
  switch (outcome.kind) {
    case 'good':
      return Promise.resolve({ ...extract(request), ...outcome.summary });
    case 'blank':
      return Promise.resolve({ ...EMPTY_SUMMARY, round: request.round });
    case 'throws':
      return Promise.reject(new Error(outcome.message));
    case 'hangs':
      return untilAborted(request.signal);
    case 'huge':
      return Promise.resolve({
        ...extract(request),
        prose: 'All of it. '.repeat(outcome.chars / 11),
      });
    case 'malformed':
      return Promise.resolve(outcome.value as Summary);
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(new Error('aborted'));
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
