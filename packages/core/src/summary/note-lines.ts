import { linesOf } from '../message/text.ts';
import type { FileRecord, Note, SeenChange, Summary } from '../plan/summary.ts';
import { indented, quoteLines } from './entry-texts.ts';
import {
  commitsBetween,
  fileText,
  isChanged,
  seenText,
  shownPath,
  type Commit,
} from './file-texts.ts';
import { RANK, type Line } from './summary-line.ts';

/** By what files are named. */
interface Names {
  readonly root: string;
  readonly commits: readonly Commit[];
}

/** What was said, and quoted lines under the file or the call that they come from. */
export function noteLines(s: Summary, root: string): readonly Line[] {
  const commits = commitsBetween(s);
  const files = new Map(s.files.map((file) => [file.path, file]));
  const seen = new Map((s.seen ?? []).map((change) => [change.path, change]));
  return s.notes.map((note) => {
    const change = note.by === 'tool' ? seen.get(note.source ?? '') : undefined;
    return change === undefined ? noteLine(note, files, { root, commits }) : seenLine(note, change);
  });
}

function seenLine({ text, worth = 0 }: Note, change: SeenChange): Line {
  const heading = seenText(change);
  const own = { rank: RANK.note, worth, at: change.at };
  return { ...own, section: 'Changes Seen', heading, text: quoteLines(text).replace(/^/gm, '  ') };
}

function noteLine(note: Note, files: ReadonlyMap<string, FileRecord>, names: Names): Line {
  const { by, source, turn, at = 0, worth = 0, text } = note;
  const where = place(note.at, turn);
  const own = { rank: RANK.note, worth, at };
  if (by === 'system')
    return { ...own, section: 'From the System Message', text: quoteLines(text) };
  if (by === 'user') {
    const said = indented(text) + changedMark(note.overruledAt);
    return { ...own, section: 'Conversation', label: `${where} User:`, text: said };
  }
  if (by === 'assistant' && source === undefined)
    return { ...own, section: 'Conversation', label: `${where} Agent:`, text: indented(text) };
  const file = source === undefined ? undefined : files.get(source);
  return {
    ...own,
    ...sourceOf(note, file, names),
    text: quotedText(note, file),
    at: file?.at ?? at,
  };
}

/** Where a quotation is shown: under its file, or under the call that returned it. */
function sourceOf(
  { source, at, turn }: Note,
  file: FileRecord | undefined,
  { root, commits }: Names,
): Pick<Line, 'section' | 'heading'> {
  if (file !== undefined && isChanged(file))
    return { section: 'Changed Files', heading: `- ${fileText(file, root, commits)}` };
  const name =
    file === undefined
      ? `${place(at, turn)} ${source ?? 'tool result'}`
      : shownPath(file.path, root);
  return { section: 'Exact Lines', heading: `### ${name}` };
}

function quotedText({ by, text, at, turn }: Note, file: FileRecord | undefined): string {
  if (by === 'tool') return quoteLines(text);
  if (text === '') return '';
  return file !== undefined && isChanged(file)
    ? addedLines(text, place(at, turn))
    : `  ${indented(text)}`;
}

/** Lines that the agent put into a file. Several of them are a block of their own. */
function addedLines(text: string, where: string): string {
  const lines = linesOf(text);
  const block = lines.length === 1 ? [] : [`  ${where}`];
  return [...block, ...lines.map((line) => `  + ${line}`)].join('\n');
}

/** Says which message may change what was said. */
export const changedMark = (at: number | undefined): string =>
  at === undefined ? '' : ` (m${at + 1} may change this)`;

const place = (at: number | undefined, turn: number): string =>
  at === undefined ? `[turn ${turn}]` : `[m${at + 1}]`;
