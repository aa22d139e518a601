import { sorted } from '../check/list.ts';
import { SeenWords, wordsOf } from './novelty.ts';

/** Lines that a harness puts around an account, for the session in which it was written. */
const HARNESS =
  /^(?:This session is being continued from a previous conversation|If you need specific details from before compaction|Please continue the conversation from where|Continue with the last task that you were asked)|\b(?:read|see) the full transcript at\b/i;
const TAG = /^\s*<\/?(?:analysis|summary|result|output)>\s*$/i;
const ANALYSIS = /^\W{0,4}analysis\W{0,4}$/i;
const SUMMARY = /^\W{0,4}summary\W{0,4}$/i;
const HEADING = /^\s{0,3}#{1,6}\s+(.*?)\s*#*$/;
const RULE = /^\s*(?:[-=_*]\s*){3,}$/;
const FENCE = /^\s*(?:```|~~~)/;
/** How this project's own summaries begin. */
const OWN_TITLE = /^\[Summary v\d+, round \d+\]$/;

/**
 * A model's account without its scaffolding: what a harness put around it is gone, the analysis that led to it comes
 * last, and no heading of it can pass for a section of the summary.
 */
export function cleanAccount(text: string): string {
  const lines = text.split('\n').filter((line) => !HARNESS.test(line) && !OWN_TITLE.test(line));
  const { body, analysis } = withoutAnalysis(lines);
  const parts = [neutral(body), ...(analysis.length === 0 ? [] : [neutral(analysis)])];
  return parts.filter((part) => part !== '').join('\n\n');
}

interface Parts {
  readonly body: readonly string[];
  readonly analysis: readonly string[];
}

const isAnalysis = (line: string): boolean => ANALYSIS.test(line) || /^\s*<analysis>/i.test(line);
const isSummary = (line: string): boolean => SUMMARY.test(line) || /^\s*<summary>/i.test(line);

/** An analysis is written to find the summary that follows it. */
function withoutAnalysis(lines: readonly string[]): Parts {
  const from = lines.findIndex(isAnalysis);
  const to = lines.findIndex((line, i) => i > from && isSummary(line));
  if (from < 0 || to < 0) return { body: lines, analysis: [] };
  const body = [...lines.slice(0, from), ...lines.slice(to + 1)];
  return body.some((line) => /\w/.test(line))
    ? { body, analysis: lines.slice(from, to) }
    : { body: lines, analysis: [] };
}

/** Headings become bold lines, code keeps its form, blank lines are joined, and no line is indented more than it must. */
function neutral(lines: readonly string[]): string {
  const out: string[] = [];
  let isCode = false;
  for (const line of lines) {
    if (FENCE.test(line)) isCode = !isCode;
    else if (!isCode && (TAG.test(line) || RULE.test(line))) continue;
    const heading = isCode ? undefined : HEADING.exec(line)?.[1];
    out.push(heading === undefined ? line.trimEnd() : `**${heading.replaceAll('**', '')}**`);
  }
  return out
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** A line of an account, with what it adds to the lines before it. */
interface AccountLine {
  readonly text: string;
  readonly isCode: boolean;
  readonly isHeading: boolean;
  readonly value: number;
}

/** The beginning of an account says what it is about, its end where things are. */
const EDGE_SHARE = 0.12;
const EDGE_WEIGHT = 1.5;
const CODE_WEIGHT = 0.6;

/** As much of an account as a number of characters holds: the lines that add least to the others are left out. */
export function accountWithin(account: string, chars: number): string {
  if (account.length <= chars) return account;
  const dense = dedented(account);
  if (dense.length <= chars) return dense;
  const lines = accountLines(dense);
  const order = sorted(
    [...lines.keys()],
    (a, b) => (lines[a] as AccountLine).value - (lines[b] as AccountLine).value || b - a,
  );
  const gone = new Set<number>();
  let left = dense.length;
  for (const i of order) {
    if (left <= chars) break;
    const { text, isHeading } = lines[i] as AccountLine;
    if (isHeading) continue;
    gone.add(i);
    left -= text.length + 1;
  }
  return withoutEmptyHeadings(lines, gone).slice(0, Math.max(0, chars)).trim();
}

/** Indentation costs tokens and says little: a list stays a list with less of it. */
function dedented(account: string): string {
  return account
    .replace(/\n\n(?=[ \t])/g, '\n')
    .replace(/^[ \t]{2,}/gm, (spaces) => ' '.repeat(Math.min(4, Math.floor(spaces.length / 3))));
}

const isHeadingLine = (line: string): boolean =>
  /^\s*(?:\*\*[^*]+\*\*:?|\d{1,2}\.\s+[^.]{1,60}:)\s*$/.test(line) || FENCE.test(line);

function accountLines(account: string): readonly AccountLine[] {
  const seen = new SeenWords();
  const texts = account.split('\n');
  const edge = texts.length * EDGE_SHARE;
  const end = texts.findIndex((line) => ANALYSIS.test(line));
  const last = end < 0 ? texts.length : end;
  let isCode = false;
  return texts.map((text, i) => {
    if (FENCE.test(text)) isCode = !isCode;
    const isEdge = i < edge || (i >= last - edge && i < last);
    const weight = (isCode ? CODE_WEIGHT : 1) * (isEdge ? EDGE_WEIGHT : 1);
    const words = wordsOf(text);
    const fresh = weight * seen.freshValue(words, text.length);
    const value = fresh + (i >= last ? 0 : 1);
    seen.add(words);
    return { text, isCode, isHeading: isHeadingLine(text), value };
  });
}

/** A heading with nothing left under it goes as well. */
function withoutEmptyHeadings(lines: readonly AccountLine[], gone: ReadonlySet<number>): string {
  const out: string[] = [];
  let heading: string[] = [];
  for (const [i, { text, isHeading }] of lines.entries()) {
    if (gone.has(i)) continue;
    if (FENCE.test(text) && out.length > 0 && FENCE.test(out.at(-1) as string)) {
      out.pop();
      continue;
    }
    if (isHeading && !FENCE.test(text)) {
      heading = [text];
      continue;
    }
    if (text.trim() === '') continue;
    out.push(...heading, text);
    heading = [];
  }
  return out.join('\n');
}
