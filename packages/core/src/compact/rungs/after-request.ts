import { lastOf } from '../../check/list.ts';
import { startsTurn, textOf } from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { Draft, Entry } from '../draft.ts';

const REQUEST_CHARS = 60;
/** It is for summaries that replace at least so many times its tokens. */
const LEAST_REPLACED = 20;

/**
 * What a summary ends with if the user's newest message is shown after it, and the summary includes what was done for
 * that message: nothing should be done twice. `at` is the summary's place, `tokens` what it replaces.
 */
export function afterRequest(
  draft: Draft,
  covered: readonly Entry[],
  { at, tokens }: { readonly at: number; readonly tokens: number },
): string {
  const ids = new Set(covered.map(({ node }) => node.id));
  const end = covered.at(-1)?.node.index ?? -1;
  const kept = draft.entries.filter((entry) => !ids.has(entry.node.id) && !draft.isGone(entry));
  const request = lastOf(kept, ({ message }) => startsTurn(message));
  const isLast = kept.every(({ node }) => node.index < end);
  if (draft.style.summaryAt === 'last' || request === undefined || !isLast) return '';
  if (request.node.index < at) return '';
  const words = oneLine(draft.redact(textOf(request.message)), REQUEST_CHARS);
  const note = `\n\n(The user’s message “${words}” below is older than the end of this summary, which includes what was done for it.)`;
  return draft.counter.text(note) * LEAST_REPLACED <= tokens ? note : '';
}
