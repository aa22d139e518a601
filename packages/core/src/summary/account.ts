import { reversed, sorted } from '../check/list.ts';
import { chooseFresh, SeenWords, wordsOf } from './novelty.ts';

/** Lines that a harness puts around an account, for the session in which it was written. */
export const HARNESS: RegExp =
  /^(?:This session is being continued from a previous conversation|If you need specific details from before compaction|Please continue the conversation from where|Continue with the last task that you were asked)|\b(?:read|see) the full transcript at\b/i;
const TAG = /^\s*<\/?(?:analysis|summary|result|output)>\s*$/i;
export const ANALYSIS_HEADING = 'Analysis:';
/** The line that begins an analysis, or the tag before its text. */
const MARK = /^\s*<analysis>|^\W{0,4}analysis\W{0,4}$/i;
const SUMMARY = /^\W{0,4}summary\W{0,4}$/i;
const HEADING = /^\s{0,3}#{1,6}\s+(\S.*)$/;
const RULE = /^\s*(?:[-=_*]\s*){3,}$/;
export const FENCE: RegExp = /^\s*(?:```|~~~)/;
/** How this project's own summaries begin. */
const OWN_TITLE = /^\[Summary v\d+, round \d+\]$/;

/**
 * A model's account without its scaffolding: what a harness put around it is gone, the analysis that led to it comes
 * last, and no heading of it can pass for a section of the summary.
 */
export function cleanAccount(text: string): string {
  const lines = text.split('\n').filter((line) => !HARNESS.test(line) && !OWN_TITLE.test(line));
  const { body, analysis } = withoutAnalysis(lines);
  const led = neutral(analysis.map((line) => line.replace(MARK, '')));
  return [neutral(body), ...(led === '' ? [] : [`${ANALYSIS_HEADING}\n${led}`])].join('\n\n');
}

interface Parts {
  readonly body: readonly string[];
  readonly analysis: readonly string[];
}

export const isAnalysis = (line: string): boolean => MARK.test(line);
export const isSummary = (line: string): boolean =>
  SUMMARY.test(line) || /^\s*<summary>/i.test(line);

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
    const heading = isCode ? undefined : HEADING.exec(line.trimEnd())?.[1];
    out.push(heading === undefined ? line.trimEnd() : `**${withoutMarks(heading)}**`);
  }
  return out
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** A heading without the marks at its end and those of bold text. */
function withoutMarks(heading: string): string {
  let end = heading.length;
  while (heading[end - 1] === '#') end--;
  return heading.slice(0, end).trimEnd().replaceAll('**', '');
}

/** Lines of an account that only make sense together: a paragraph, a list item with what belongs to it, a block of code. */
interface Block {
  readonly text: string;
  readonly isHeading: boolean;
  readonly value: number;
}

/** The beginning of an account says what it is about, its end how far the work is. */
const EDGE_SHARE = 0.12;
const EDGE_WEIGHT = 1.5;

/** An account, and the analysis that led to it, if there is one. */
export function accountParts(account: string): {
  readonly body: string;
  readonly analysis: string;
} {
  const lines = account.split('\n');
  const at = lines.indexOf(ANALYSIS_HEADING);
  if (at <= 0) return { body: account, analysis: '' };
  return {
    body: lines.slice(0, at).join('\n').trim(),
    analysis: lines
      .slice(at + 1)
      .join('\n')
      .trim(),
  };
}

/** What a reader needs of a text that a model wrote: without its scaffolding, and each thing once. */
export function accountOf(text: string): string {
  const { body, analysis } = accountParts(cleanAccount(text));
  const entries = freshEntries(entriesOf(dedented(analysis).split('\n')), new SeenWords(body), {
    chars: Number.POSITIVE_INFINITY,
    leastFresh: NEWS,
  });
  return [dedented(body), ...entries].join('\n');
}

/** What came first is worth this much of what came last: it is finished more often. */
const EARLY = 0.2;
/** An entry of an analysis is news if so large a share of its words is not in the account. */
const NEWS = 0.2;

/**
 * As much of an account as a number of characters holds. Indentation and blank lines go first, then the blocks that add
 * least to the others.
 */
export function accountWithin(account: string, chars: number): string {
  if (account.length <= chars) return account;
  const dense = dedented(account);
  if (dense.length <= chars) return dense;
  const blocks = blocksOf(dense);
  let gone = leastBlocks(blocks, dense.length - chars);
  const valued = sorted([...gone], (a, b) => (blocks[b]?.value ?? 0) - (blocks[a]?.value ?? 0));
  // Headings of which nothing is left leave space for what is worth most.
  for (const i of valued.slice(0, MOST_BACK)) {
    const fewer = new Set([...gone].filter((one) => one !== i));
    if (withoutEmptyHeadings(blocks, fewer, [LEFT_OUT]).length <= chars) gone = fewer;
  }
  const marked = withoutEmptyHeadings(blocks, gone, [LEFT_OUT]);
  const text = marked.length <= chars ? marked : withoutEmptyHeadings(blocks, gone, []);
  return text.slice(0, Math.max(0, chars)).trim();
}

const MOST_BACK = 8;

/** The blocks that add least to the others, so many characters of them. Headings stay. */
function leastBlocks(blocks: readonly Block[], chars: number): ReadonlySet<number> {
  const at = (i: number): Block => blocks[i] as Block;
  const order = sorted(
    [...blocks.keys()].filter((i) => !at(i).isHeading),
    (a, b) => at(a).value - at(b).value || b - a,
  );
  const gone = new Set<number>();
  let excess = chars;
  for (const i of order) {
    if (excess <= 0) break;
    gone.add(i);
    excess -= at(i).text.length + 1;
  }
  // A long block may leave space for others that went before it.
  for (const i of reversed([...gone]))
    if (at(i).text.length + 1 <= -excess && gone.delete(i)) excess += at(i).text.length + 1;
  return gone;
}

/**
 * An analysis within a number of characters, under a heading: whole if it fits, otherwise its entries that say most of
 * what other text does not, in order and without their numbers.
 */
export function chronologyWithin(
  analysis: string,
  seen: SeenWords,
  chars: number,
): readonly string[] {
  const entries = entriesOf(dedented(analysis).split('\n'));
  if (entries.join('\n').length <= chars)
    return entries.length === 0 ? [] : ['## Chronology', ...entries];
  const fresh = freshEntries(entries, seen, { chars, leastFresh: LEAST_FRESH });
  const unnumbered = fresh.map((text) => text.replace(/^\d{1,3}[.)] +/, '- '));
  return fresh.length === 0 ? [] : ['## Chronology (in part)', ...unnumbered];
}

function freshEntries(
  entries: readonly string[],
  seen: SeenWords,
  { chars, leastFresh }: { readonly chars: number; readonly leastFresh: number },
): readonly string[] {
  const chosen = chooseFresh(
    entries.map((text, i) => ({ text, weight: EARLY + ((1 - EARLY) * (i + 1)) / entries.length })),
    seen,
    chars,
    leastFresh,
  );
  const texts = new Set([...chosen].map(({ text }) => text));
  return entries.filter((text) => texts.has(text));
}

/** What a model says to itself on the way. */
const ASIDE = /^(?:let me|looking at|let['’]s|i need to|i['’]ll|now,? (?:let me|i))\b[^\n]*$/i;

/**
 * The entries of a text. What is below a line, in a list after a line that ends in a colon, or in a block of code after
 * any line, belongs to that line.
 */
function entriesOf(lines: readonly string[]): readonly string[] {
  const entries: string[][] = [];
  let isCode = false;
  for (const line of lines) {
    const isFence = FENCE.test(line);
    const isInCode = isCode || isFence;
    if (isFence) isCode = !isCode;
    if (line.trim() === '') continue;
    const last = entries.at(-1);
    const [head = ''] = last ?? [];
    const isLed =
      head.endsWith(':') && !LISTED.test(head) && !ASIDE.test(head) && LISTED.test(line);
    const belongs = isInCode || depthOf(line) > depthOf(head) || isLed;
    if (last !== undefined && belongs) last.push(line);
    else entries.push([line]);
  }
  return entries
    .filter(([head = '', ...rest]) => rest.length > 0 || !(head.endsWith(':') || ASIDE.test(head)))
    .map((entry) => entry.join('\n'));
}

const LEAST_FRESH = 0.02;
const INDENT = '  ';

/** The same lists with less indentation, and without blank lines between their items. */
export function dedented(account: string): string {
  const depths: number[] = [];
  let fence: { readonly from: number; readonly indent: string } | undefined;
  const lines = account.replace(/\n\n(?=[ \t])/g, '\n').split('\n');
  return lines
    .map((line) => {
      if (fence !== undefined) {
        const { from, indent } = fence;
        if (FENCE.test(line)) fence = undefined;
        return indent + line.slice(Math.min(from, depthOf(line)));
      }
      if (line.trim() === '') return '';
      const depth = depthOf(line);
      while (depths.length > 0 && (depths.at(-1) as number) >= depth) depths.pop();
      depths.push(depth);
      const indent = INDENT.repeat(depths.length - 1);
      if (FENCE.test(line)) fence = { from: depth, indent };
      return indent + line.slice(depth);
    })
    .join('\n');
}

const isHeadingLine = (line: string): boolean =>
  /^(?:\*\*[^*]+\*\*:?|\d{1,2}\.\s+[^.]{1,60}:|[^.]{1,80}:)\s*$/.test(line);

/** Where a line begins in its list: deeper lines belong to the one before them. */
export const depthOf = (line: string): number => /^\s*/.exec(line)?.[0].length ?? 0;

/** Headings of what an account says is not done. */
export const OPEN_WORK: RegExp =
  /\b(?:pending|remaining|unfinished|not done|to-?dos?|open (?:items|questions|tasks|work|issues)|next steps?|current (?:work|task|state|status)|in progress)\b/i;
/** A heading that begins a section: bold, or with a number. */
export const SECTION: RegExp = /^(?:\*\*[^*]+\*\*:?|\d{1,2}\.\s+[^.]{1,60}:)\s*$/;
/** What is not done goes last: more than the value of any other block. */
const OPEN_VALUE = 10;
/** Headings of what all the work is for. It goes right before that. */
export const GOAL: RegExp =
  /\b(?:goals?|intent|objectives?|purpose|primary request|original (?:task|request))\b/i;
const GOAL_VALUE = 5;

function blocksOf(account: string): readonly Block[] {
  const texts = grouped(account.split('\n'));
  const seen = new SeenWords();
  const edge = texts.length * EDGE_SHARE;
  let sectionValue = 0;
  return texts.map((text, i) => {
    const isHeading = isHeadingLine(text);
    if (SECTION.test(text))
      sectionValue = OPEN_WORK.test(text) ? OPEN_VALUE : GOAL.test(text) ? GOAL_VALUE : 0;
    const isEdge = i < edge || i >= texts.length - edge;
    const weight = isEdge ? EDGE_WEIGHT : 1;
    const words = wordsOf(text);
    const value = weight * seen.freshValue(words, text.length) + sectionValue;
    seen.add(words);
    return { text, isHeading, value };
  });
}

export const LISTED: RegExp = /^\s*(?:[-*•+]|\d{1,3}[.)])\s/;

/** Lines with those that belong to them: a block of code is never parted, nor an item from what is below it. */
function grouped(lines: readonly string[]): readonly string[] {
  const groups: string[][] = [];
  let isCode = false;
  for (const line of lines) {
    const last = groups.at(-1);
    const [head = ''] = last ?? [];
    const isFence = FENCE.test(line);
    const isLed = head.endsWith(':') && depthOf(line) === depthOf(head);
    const belongs =
      isCode ||
      (last !== undefined &&
        !isHeadingLine(head) &&
        (depthOf(line) > depthOf(head) || (isLed && (isFence || LISTED.test(line)))));
    if (last !== undefined && belongs) last.push(line);
    else if (line.trim() !== '') groups.push([line]);
    if (isFence) isCode = !isCode;
  }
  return groups.map((group) => group.join('\n'));
}

const NUMBERED_HEADING = /^\d{1,2}\.\s/;

/** How deep a heading is: by its indentation, and below a numbered one if it has no number. */
const levelOf = (heading: string): number =>
  2 * depthOf(heading) + (NUMBERED_HEADING.test(heading) ? 0 : 1);

/** Where blocks were left out. */
const LEFT_OUT = '…';

/** The blocks that are not gone, with a mark at each gap. A heading with nothing left under it goes as well. */
function withoutEmptyHeadings(
  blocks: readonly Block[],
  gone: ReadonlySet<number>,
  mark: readonly string[],
): string {
  const out: string[] = [];
  let [headings, gap]: [readonly string[], readonly string[]] = [[], []];
  for (const [i, { text, isHeading }] of blocks.entries()) {
    if (gone.has(i)) gap = mark;
    else if (isHeading) {
      // A heading below another one belongs to it.
      headings = headings.filter((outer) => levelOf(outer) < levelOf(text));
      if (headings.length === 0) {
        if (out.at(-1) !== gap[0]) out.push(...gap);
        gap = [];
      }
      headings = [...headings, text];
    } else {
      out.push(...headings, ...gap, text);
      [headings, gap] = [[], []];
    }
  }
  return [...out, ...gap].join('\n');
}
