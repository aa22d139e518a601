import { largestResultTokens } from '../../tokens/counter.ts';
import { spanOf } from '../../thread/thread.ts';
import { shorten } from './shorten.ts';
import type { Rung } from './rung.ts';

/** Shortens tool results above a size that no model has read yet: no cache is lost. */
export function firstSight(sent: number, overTokens: number): Rung {
  return {
    name: 'first-sight',
    propose({ draft }) {
      return draft.entries.flatMap((entry) => {
        const span = spanOf([entry.node]);
        if (entry.pinned || entry.node.index < sent) return [];
        const tokens = largestResultTokens(entry.message, draft.cost(entry));
        if (tokens <= overTokens || draft.action(entry) !== undefined) return [];
        const reason = `${tokens} tokens, not sent yet`;
        return [{ strategy: 'first-sight', span, tokensFreed: tokens - overTokens, reason }];
      });
    },
    execute: shorten,
  };
}
