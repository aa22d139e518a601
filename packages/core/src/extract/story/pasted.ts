import { linesOf } from '../../message/text.ts';
import type { Redact } from '../../summary/redact.ts';
import { saysWhatFailed } from '../work/commands.ts';
import { passagesOf, type Passage } from './passages.ts';
import { isProseLine } from './user-words.ts';

/** Shorter messages are all the user's own words. */
const PASTES_FROM_CHARS = 600;
/** A shorter paste is shown as it is. */
const LEAST_LINES = 8;
/** Lines with more prose than this are hardly the output of a program. */
const MOST_PROSE = 0.6;
const MOST_FAILURES = 3;
const LONGEST_LINE = 160;

/** A passage of a person's message. */
export interface UserPassage {
  readonly passage: Passage;
  /** Whether the person hardly typed it. */
  readonly isPasted: boolean;
}

/**
 * The passages of a person's message. A long output that was pasted is one passage: how it begins, what failed in it,
 * and how it ends. Its lines are cut after secrets are gone.
 */
export function passagesOfUser(words: string, redact: Redact): readonly UserPassage[] {
  if (words.length <= PASTES_FROM_CHARS)
    return passagesOf(words).map((passage) => ({ passage, isPasted: false }));
  const lines = linesOf(words);
  const others = [...lines.keys()].filter((i) => !isProseLine(lines[i] ?? ''));
  const [from, to] = [others[0] ?? 0, (others.at(-1) ?? -1) + 1];
  const output = lines.slice(from, to).filter((line) => line.trim() !== '');
  if (output.length < LEAST_LINES || proseShare(output) > MOST_PROSE)
    return passagesOf(words).map((passage) => ({ passage, isPasted: !isProse(passage) }));
  const passages: readonly Passage[] = [
    ...passagesOf(lines.slice(0, from).join('\n')),
    { at: 0, lead: '', text: inBrief(redact(output.join('\n')).split('\n')), kind: 'prose' },
    ...passagesOf(lines.slice(to).join('\n')),
  ];
  return passages.map((passage, at) => ({ passage: { ...passage, at }, isPasted: false }));
}

const isProse = ({ kind, text }: Passage): boolean =>
  kind === 'prose' && proseShare(linesOf(text)) > 0.5;

const proseShare = (lines: readonly string[]): number =>
  lines.filter(isProseLine).length / Math.max(1, lines.length);

function inBrief(lines: readonly string[]): string {
  const failures = lines.slice(1, -1).filter(saysWhatFailed).slice(0, MOST_FAILURES);
  const [begin = '', end = ''] = [lines[0], lines.at(-1)];
  const shown = [begin, '…', ...failures.flatMap((line) => [line, '…']), end];
  return [
    `(${lines.length} pasted lines)`,
    ...shown.map((line) => line.trim().slice(0, LONGEST_LINE)),
  ].join('\n');
}
