import { sorted } from '../check/list.ts';
import type { Stretch } from '../plan/plan.ts';
import {
  accountParts,
  cleanAccount,
  dedented,
  depthOf,
  FENCE,
  GOAL,
  HARNESS,
  isAnalysis,
  isSummary,
  LISTED,
  OPEN_WORK,
  SECTION,
} from './account.ts';

/** How a session begins that a harness continues from a summary. */
const CONTINUED = /^\s*This session is being continued from a previous conversation/i;

/** True for a message in which a harness hands over what a model wrote about an earlier session. */
export const isHandedOver = (text: string): boolean => CONTINUED.test(text);

/** Headings of what helped with the work at that time only. */
const OF_ITS_TIME = /\b(?:concepts|errors?|problems?|troubleshooting)\b/i;

/**
 * An account that was handed over, without its scaffolding, its code, what was open and what was difficult: all that has
 * changed since.
 */
export function handedOver(text: string): string {
  let [isOver, isCode] = [false, false];
  const body = dedented(accountParts(cleanAccount(text)).body);
  const settled = body.split('\n').filter((line) => {
    if (FENCE.test(line)) {
      isCode = !isCode;
      return false;
    }
    if (SECTION.test(line.trim()))
      [isOver, isCode] = [OPEN_WORK.test(line) || OF_ITS_TIME.test(line), false];
    return !isOver && !isCode && !OF_THAT_MOMENT.test(line);
  });
  return withoutBareLeads(settled).join('\n').trim() || body;
}

/** What was asked last then is not what was asked last. */
const OF_THAT_MOMENT =
  /\b(?:most recent|latest|last|current) (?:explicit )?(?:request|message|task|instruction)\b/i;

/** Lines without those that introduce what is gone. */
function withoutBareLeads(lines: readonly string[]): readonly string[] {
  return lines.filter((line, i) => {
    const next = lines.slice(i + 1).find((one) => one.trim() !== '');
    const isLead = /:\s*$/.test(line) && !SECTION.test(line.trim());
    return (
      !isLead ||
      (next !== undefined &&
        (depthOf(next) > depthOf(line) || (LISTED.test(next) && !LISTED.test(line))))
    );
  });
}

/** A section of a hand-over: where it is in the text, and how soon it is shown. */
interface HandedSection {
  readonly from: number;
  to: number;
  readonly rank: number;
}

/** What the user said. */
const SAID = /\buser messages?\b|\buser (?:requests|instructions|feedback)\b/i;
const SAID_RANK = 2;
const SAID_SHARE = 0.4;
const LAST_RANK = 3;
/** A section that is cut leaves some of the space to the next ones. */
const CUT_SHARE = 0.6;
/** Less of a section says little. */
const LEAST_SECTION_CHARS = 60;
const FIRST_LINE_CHARS = 200;

function rankOf(heading: string, isOld: boolean): number {
  if (isOld && OPEN_WORK.test(heading)) return LAST_RANK + 1;
  const rank = [GOAL, OPEN_WORK, SAID].findIndex((kind) => kind.test(heading));
  return rank < 0 ? LAST_RANK : rank;
}

/**
 * What a hand-over says to the agent that goes on from it, in a number of characters: what all the work is for and what
 * is open, then the user's words and the rest, section by section. The analysis before it is left out. If it is long ago,
 * what was open then comes last. Empty if it has no sections.
 */
export function handOverStretches(text: string, chars: number, isOld: boolean): readonly Stretch[] {
  const sections = sectionsOf(text, isOld);
  if (sections.length === 0) return [];
  const opening = Math.min(FIRST_LINE_CHARS, text.indexOf('\n'));
  const kept: Stretch[] = [[0, opening]];
  let left = chars - opening;
  for (const { from, to, rank } of sorted(sections, (a, b) => a.rank - b.rank)) {
    const most = rank === SAID_RANK ? Math.min(left, chars * SAID_SHARE) : left;
    const isWhole = to - from <= most;
    const end = isWhole ? to : text.lastIndexOf('\n', from + most * CUT_SHARE);
    if (end < to && end - from < LEAST_SECTION_CHARS) continue;
    kept.push([from, end]);
    left -= end - from;
  }
  return sorted(kept, (a, b) => a[0] - b[0]);
}

/** The sections of a hand-over, up to what the harness appends. */
function sectionsOf(text: string, isOld: boolean): readonly HandedSection[] {
  let sections: HandedSection[] = [];
  let isInAnalysis = false;
  let from = 0;
  for (const line of text.split('\n')) {
    const last = sections.at(-1);
    if (isAnalysis(line)) isInAnalysis = true;
    else if (isInAnalysis && isSummary(line)) [isInAnalysis, sections] = [false, []];
    else if (last !== undefined && HARNESS.test(line)) break;
    else if (SECTION.test(line.trim()))
      sections.push({ from, to: from, rank: rankOf(line, isOld) });
    from += line.length + 1;
    const open = sections.at(-1);
    if (open !== undefined && line.trim() !== '') open.to = from - 1;
  }
  return sections;
}
