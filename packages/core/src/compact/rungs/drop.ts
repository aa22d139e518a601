import { sorted } from '../../check/list.ts';
import { isSummary, textOf, type ArtifactId } from '../../message/message.ts';
import { spanOf } from '../../thread/thread.ts';
import { oneLine } from '../../message/text.ts';
import { describeMessage } from '../artifact-record.ts';
import type { Draft, Entry } from '../draft.ts';
import { boolean, oneOf, optionsParser } from '../../check/shape.ts';
import type { DropIndex } from '../../plan/plan.ts';
import type { RungContext, Rung } from './rung.ts';

export interface DropOptions {
  /**
   * `'cut'`: drop all messages before the cut. `'target'`: drop the oldest messages until the target is reached.
   * `'everything'`: drop all messages except pins and the newest ones.
   */
  readonly reach: 'cut' | 'target' | 'everything';
  /** Messages before the first user message stay. */
  readonly keepPreamble?: true;
  readonly aim?: 'target' | 'limit';
}

const parseOptions = optionsParser<DropOptions>(
  'drop',
  {
    reach: oneOf('cut', 'target', 'everything'),
    keepPreamble: boolean,
    aim: oneOf('target', 'limit'),
  },
  { reach: 'target' },
);

const MOST_KEYWORDS = 12;
const INDEXED_CHARS = 20_000;

/**
 * Leaves messages out of the prompt, the oldest first. Recall can still find them. The newest message stays, together
 * with its calls or results.
 */
export function drop(options: Partial<DropOptions> = {}): Rung {
  const { reach, keepPreamble, aim } = parseOptions(options);
  return {
    name: 'drop',
    replacesMessages: true,
    ...(aim === undefined ? {} : { aim }),
    propose(context) {
      const dropped =
        reach === 'cut' ? beforeCut(context, keepPreamble) : oldestUnits(context, reach);
      const span = spanOf(dropped.map(({ node }) => node));
      if (span === undefined) return [];
      const tokensFreed = dropped.reduce((sum, entry) => sum + context.draft.cost(entry), 0);
      return [
        {
          strategy: 'drop',
          span,
          tokensFreed,
          reason: reach === 'cut' ? 'before the window' : 'last resort',
        },
      ];
    },
    async execute(proposal, context) {
      const ids = new Set(proposal.span.ids);
      const dropped = context.draft.entries.filter(({ node }) => ids.has(node.id));
      const { span, reason } = proposal;
      const artifacts = storedOf(context.draft, dropped);
      return {
        kind: 'drop',
        span,
        reason,
        index: indexOf(dropped, context.now, context.draft),
        ...(artifacts.length === 0 ? {} : { artifacts }),
      };
    },
  };
}

/** Synthetic messages are kept, first and uncounted. */
function beforeCut({ draft, cut }: RungContext, keepPreamble: true | undefined): readonly Entry[] {
  const before = draft.entries.slice(0, cut.index);
  for (const entry of before) {
    if (isSummary(entry.message) || (keepPreamble === true && entry.node.turn === 0))
      draft.hold(entry);
  }
  return before.filter((entry) => !draft.stays(entry) && !draft.isGone(entry));
}

function oldestUnits(
  { draft, targetTokens }: RungContext,
  reach: 'target' | 'everything',
): readonly Entry[] {
  const newest = reach === 'everything' ? undefined : draft.newestUnit;
  const dropped: Entry[] = [];
  let tokens = draft.tokens;
  for (const entry of draft.entries) {
    if (entry.unit === newest) break;
    if (tokens <= targetTokens && entry.startsUnit) break;
    if (entry.pinned || draft.isGone(entry)) continue;
    dropped.push(entry);
    tokens -= draft.cost(entry);
  }
  return dropped;
}

/** The artifacts that hold what is dropped: a sweep must not take them. */
function storedOf(draft: Draft, dropped: readonly Entry[]): readonly ArtifactId[] {
  return dropped.flatMap((entry) => {
    const action = draft.action(entry);
    return action?.kind === 'externalize' && action.unstored !== true ? [action.artifactId] : [];
  });
}

function indexOf(dropped: readonly Entry[], time: number, { redact }: Draft): DropIndex {
  const counts = new Map<string, number>();
  for (const { message } of dropped) {
    const text = redact(textOf(message).slice(0, INDEXED_CHARS));
    for (const word of text.match(/[\p{L}_][\p{L}\p{N}_./-]{3,60}/gu) ?? [])
      counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const ranked = sorted([...counts], (a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const first = dropped[0];
  const description =
    first === undefined ? '' : redact(oneLine(describeMessage(first.message), 120));
  return {
    keywords: ranked.slice(0, MOST_KEYWORDS).map(([word]) => word),
    description: `${dropped.length} messages from: ${description}`,
    time,
  };
}
