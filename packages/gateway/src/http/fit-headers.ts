import { redactSecrets } from '@bobbin/core';
import type { Fit } from '../fitting/fit.ts';

const LONGEST_REASON = 200;

/** What the client learns of what was done. The reason of a failure is an error, which may quote what was sent. */
export function fitHeaders({ action, reason, taken }: Fit): Record<string, string> {
  return {
    'x-bobbin-action': action,
    'x-bobbin-reason': headerText(action === 'failed-open' ? redactSecrets(reason) : reason),
    ...(taken === undefined
      ? {}
      : {
          'x-bobbin-thread': encodeURIComponent(taken.thread),
          'x-bobbin-tokens-before': String(taken.tokensBefore),
          'x-bobbin-tokens-after': String(taken.tokensAfter),
        }),
  };
}

/** A text as a header can have it. */
function headerText(text: string): string {
  return text.slice(0, LONGEST_REASON).replace(/[^\x20-\x7e]/g, '?');
}
