import { mediaBytes } from '../../message/message.ts';
import { NOTHING } from '../../render/excerpt.ts';
import { spanOf } from '../../thread/thread.ts';
import { moveToArtifact } from '../artifact-record.ts';
import type { Rung } from './rung.ts';

/** What stays of the most that a request may contain, so that the next pictures do not need it again. */
const TARGET_SHARE = 0.6;

/**
 * Moves pictures and files to artifacts, the oldest first, until the rest is small enough to send. What no model has
 * seen goes only if the request would be refused with it. The text of their messages stays.
 */
export function externalizeMedia(mostBytes: number): Rung {
  return {
    name: 'externalize-media',
    propose({ draft, sent }) {
      const holders = draft.entries
        .filter((entry) => !draft.isGone(entry))
        .map((entry) => ({ entry, bytes: mediaBytes(draft.shown(entry)) }))
        .filter(({ bytes }) => bytes > 0);
      let total = holders.reduce((sum, { bytes }) => sum + bytes, 0);
      return holders.flatMap(({ entry, bytes }) => {
        const span = spanOf([entry.node]);
        const most = entry.node.index < sent ? mostBytes * TARGET_SHARE : mostBytes;
        if (entry.pinned || total <= most) return [];
        if (draft.action(entry) !== undefined) return [];
        total -= bytes;
        const reason = `${bytes} bytes of pictures and files`;
        return [{ strategy: 'externalize-media', span, tokensFreed: draft.cost(entry), reason }];
      });
    },
    execute: (proposal, context, effects) =>
      moveToArtifact(proposal, context, effects, { ...NOTHING, withoutMedia: true }),
  };
}
