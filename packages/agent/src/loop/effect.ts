import type { Refusal } from '@bobbin/core';
import type { EndReason } from '../events.ts';

/** When to compact for a prompt: early, as the policy says; only if it would not fit; or not at all. */
export type Readiness = 'early' | 'must' | 'never';

/** What the agent has to do next. */
export type Effect =
  | { readonly kind: 'append'; readonly text: string }
  | { readonly kind: 'prepare'; readonly compaction: Readiness }
  | { readonly kind: 'ask' }
  | { readonly kind: 'act' }
  | { readonly kind: 'compact'; readonly instructions?: string }
  /** The provider refused the prompt; what it said of the sizes helps. */
  | { readonly kind: 'compact-for-provider'; readonly refusal: Refusal }
  | { readonly kind: 'switch'; readonly model: string }
  | { readonly kind: 'abort' }
  | { readonly kind: 'use-extract' }
  | { readonly kind: 'show-queue'; readonly texts: readonly string[] }
  /** What was typed and not sent goes back to the place where it was typed: it is never lost. */
  | { readonly kind: 'return'; readonly texts: readonly string[] }
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'end'; readonly reason: EndReason };

const LONG: ReadonlySet<Effect['kind']> = new Set([
  'prepare',
  'ask',
  'act',
  'compact',
  'compact-for-provider',
  'switch',
]);

/** Whether an effect takes its time and can be interrupted. */
export function isLong({ kind }: Effect): boolean {
  return LONG.has(kind);
}
