import type { Answer } from '../permissions.ts';

/** An answer to a permission as it comes over a wire; undefined where it is none. */
export function answerOf(value: unknown): Answer | undefined {
  return value === 'yes' || value === 'always' || value === 'no' ? value : undefined;
}
