import type { Answer } from '../loop/permissions.ts';

const ANSWERS: ReadonlySet<unknown> = new Set<Answer>(['yes', 'always', 'edits', 'alike', 'no']);

/** An answer to a permission as it comes over a wire; undefined if it is not one. */
export function answerOf(value: unknown): Answer | undefined {
  return ANSWERS.has(value) ? (value as Answer) : undefined;
}
