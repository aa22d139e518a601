import { reversed } from '../../check/list.ts';
import type { Json } from '../../message/json.ts';
import { hasResults, resultsOf, resultText, type ResultPart } from '../../message/message.ts';
import { spanOf } from '../../thread/thread.ts';
import { oneLine } from '../../message/text.ts';
import type { Draft, Entry } from '../draft.ts';
import { durabilityOf, preservedFields } from '../../plan/tool-policy.ts';
import { NOTHING } from '../../render/excerpt.ts';
import { excerptRecord, isIrreplaceable, moveToArtifact } from '../artifact-record.ts';
import { nonNegative, oneOf, optionsParser } from '../../check/shape.ts';
import type { ClearRecord, PlanRecord } from '../../plan/plan.ts';
import { inPlace } from '../../render/record.ts';
import type { Effects, Proposal, RungContext, Rung } from './rung.ts';

export interface ClearOptions {
  /** How many tokens of the newest tool results stay. */
  readonly protectTokens: number;
  /** If clearing would free fewer tokens than this, nothing is cleared. */
  readonly minimumTokens: number;
  readonly aim?: 'target' | 'limit';
}

const parseOptions = optionsParser<ClearOptions>(
  'clear',
  { protectTokens: nonNegative, minimumTokens: nonNegative, aim: oneOf('target', 'limit') },
  { protectTokens: 0, minimumTokens: 0 },
);

/**
 * Replaces tool results by placeholders, the oldest first, as their durability allows. A result that cannot be
 * requested again, or whose source has changed, becomes an artifact instead. The newest round (the last answer with its
 * tool results) stays.
 */
export function clear(options: Partial<ClearOptions> = {}): Rung {
  const { protectTokens, minimumTokens, aim } = parseOptions(options);
  return {
    name: 'clear',
    ...(aim === undefined ? {} : { aim }),
    propose(context) {
      const proposals = candidates(context, protectTokens).flatMap((entry) =>
        proposeClear(context, entry),
      );
      const freed = proposals.reduce((sum, proposal) => sum + proposal.tokensFreed, 0);
      return freed < minimumTokens ? [] : proposals;
    },
    execute: (proposal, context, effects) => clearOne(proposal, context, effects),
  };
}

function candidates(context: RungContext, protectTokens: number): readonly Entry[] {
  const { draft } = context;
  const newest = draft.newestUnit;
  const found: Entry[] = [];
  let left = protectTokens;
  for (let i = draft.entries.length - 1; i >= 0; i--) {
    const entry = draft.entries[i] as Entry;
    if (!hasResults(entry.message) || draft.isGone(entry)) continue;
    left -= entry.tokens;
    if (left >= 0 || entry.pinned || entry.unit === newest || draft.action(entry) !== undefined)
      continue;
    found.push(entry);
  }
  return reversed(found);
}

function proposeClear(context: RungContext, entry: Entry): readonly Proposal[] {
  const span = spanOf([entry.node]);
  const record = clearRecord(context, entry, span);
  const tokensFreed =
    entry.tokens - context.counter.message(inPlace(entry.message, record, context.draft.style));
  if (tokensFreed <= 0) return [];
  const [result] = resultsOf(entry.message);
  const durability = result === undefined ? 'anchoring' : durabilityOf(result, context.tools);
  return [{ strategy: 'clear', span, tokensFreed, reason: `an older ${durability} result` }];
}

function clearRecord(
  { draft, tools }: RungContext,
  entry: Entry,
  span: ClearRecord['span'],
): ClearRecord {
  const preserved: Record<string, Json> = {};
  for (const result of resultsOf(entry.message)) {
    const fields = preservedFields(result, tools);
    const anchors = durabilityOf(result, tools) === 'anchoring';
    preserved[result.callId] = anchors ? { ...summaryOf(result, draft), ...fields } : fields;
  }
  return { kind: 'clear', span, preserved };
}

const SUMMARY_CHARS = 120;

/** What an anchoring result said, in a line: its key fields alone may be none. */
function summaryOf(result: ResultPart, { redact }: Draft): { readonly summary?: string } {
  const text = redact(oneLine(resultText(result), SUMMARY_CHARS));
  return text === '' ? {} : { summary: text };
}

async function clearOne(
  proposal: Proposal,
  context: RungContext,
  effects: Effects,
): Promise<PlanRecord | undefined> {
  const [id] = proposal.span.ids;
  const entry = context.draft.entry(id);
  if (entry === undefined) return undefined;
  if (!(await isIrreplaceable(entry, context))) return clearRecord(context, entry, proposal.span);
  const pointer = excerptRecord(context.draft, entry, NOTHING);
  const tokens = context.counter.message(inPlace(entry.message, pointer, context.draft.style));
  return tokens < entry.tokens ? moveToArtifact(proposal, context, effects, NOTHING) : undefined;
}
