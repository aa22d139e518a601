import type { SummaryRequest } from '../ports.ts';
import { EMPTY_SUMMARY, type Summary } from '../plan/summary.ts';

/**
 * Turns the text of a model into a `Summary` that contains only this text. Bobbin then fills the other fields from the
 * messages.
 */
export function proseSummary(prose: string, { nodes, previous, round }: SummaryRequest): Summary {
  return {
    ...EMPTY_SUMMARY,
    round,
    firstTurn: previous?.firstTurn ?? nodes[0]?.turn ?? 0,
    lastTurn: nodes.at(-1)?.turn ?? previous?.lastTurn ?? 0,
    prose: prose.trim(),
  };
}
