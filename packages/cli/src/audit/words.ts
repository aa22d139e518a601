import { counted, grouped } from '../output/figures.ts';
import { plainText } from '../output/plain-text.ts';
import type { FileAudit } from './audit.ts';
import type { ClassTotal, CompactionAudit } from './session-audit.ts';

/** The names of the classes, for a table. */
export const PLURALS: Readonly<Record<ClassTotal['class'], string>> = {
  rule: 'rules',
  decision: 'decisions',
  path: 'paths',
  command: 'commands',
  number: 'numbers',
  'open item': 'open items',
  all: 'all',
};

/** What the words of a report mean, and what it cannot know. */
export const LEGEND: readonly string[] = [
  'exact: the same string is in what the agent was given. alike: most of its words are in one sentence of it, or the name of the file, or the program.',
  'lost: neither. This compares strings: whether other words say the same, only a reader can judge.',
  'used: the agent itself says or calls it after the compaction.',
  'The items are found by the rules by which Bobbin makes its own summaries. Bobbin had the same size and no model. What its prompt lacks stays in the thread, where recall finds it.',
];

/** `after m308, 2026-01-27 12:37 UTC`. */
export function placeOf({ after, time }: CompactionAudit): string {
  return `after m${after}${time === undefined ? '' : dayOf(new Date(time))}`;
}

function dayOf(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  return `, ${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export const UNREADABLE = 'Only its provider can read what the agent was given.';

/** `156,912 tokens became 3,910; Bobbin takes 3,902.` */
export function sizesOf(compaction: Extract<CompactionAudit, { kind: 'audited' }>): string {
  const { tokensBefore, tokensGiven, bobbin } = compaction;
  const over = bobbin.fits ? '' : ', more than that size';
  return `${grouped(tokensBefore)} tokens became ${grouped(tokensGiven)}; Bobbin takes ${grouped(bobbin.tokens)}${over}.`;
}

/** The share of all items that one side lost, 0 to 1. */
export function shareLost(total: ClassTotal, by: 'agent' | 'bobbin'): number {
  return total.said === 0 ? 0 : total[by].absent / total.said;
}

/** One line for a session that was never compacted. */
export function withoutCompaction({ file, format, messages, wouldBe }: FileAudit): string {
  const facts = `${format}, ${counted(messages, 'message')}: no compaction in it`;
  if (wouldBe === undefined) return `${facts}, and too short to need one.`;
  const { windowTokens, tokensBefore, tokensAfter } = wouldBe;
  return `${facts}. In a window of ${grouped(windowTokens)} tokens Bobbin would make ${grouped(tokensAfter)} of its ${grouped(tokensBefore)}; bobbin replay ${plainText(file)} --window ${windowTokens} shows the requests.`;
}
