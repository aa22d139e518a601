import { hasResults } from '../../message/message.ts';
import { spanOf } from '../../thread/span.ts';
import { shorten } from './shorten.ts';
import type { Rung } from './rung.ts';

/** Shortens tool results above a size that stand behind everything that was sent: no cache is lost. */
export function firstSight(sent: number, overTokens: number): Rung {
  return {
    name: 'first-sight',
    propose({ draft }) {
      return draft.entries.flatMap((entry) => {
        const span = spanOf([entry.node]);
        const cost = draft.cost(entry);
        if (span === undefined || entry.pinned || entry.node.index < sent || cost <= overTokens)
          return [];
        if (!hasResults(entry.message) || draft.action(entry) !== undefined) return [];
        return [
          {
            strategy: 'first-sight',
            span,
            tokensFreed: cost - overTokens,
            reason: `${cost} tokens, not sent yet`,
          },
        ];
      });
    },
    execute: shorten,
  };
}
