import { linesOf } from '../message/text.ts';
import type { FileRecord, Note, SeenChange, Summary } from '../plan/summary.ts';
import { indented, quoteLines } from './entry-texts.ts';
import { fileText, isChanged, seenText, shownPath } from './file-texts.ts';
import { RANK, type Line } from './summary-line.ts';

/** What was said, and quoted lines under the file or the call that they come from. */
export function noteLines(s: Summary, root: string): readonly Line[] {
  const files = new Map(s.files.map((file) => [file.path, file]));
  const seen = new Map((s.seen ?? []).map((change) => [change.path, change]));
  const lines = s.notes.map((note) => {
    const change = note.by === 'tool' ? seen.get(note.source ?? '') : undefined;
    return change === undefined ? noteLine(note, files, root) : seenLine(note, change);
  });
  return lines;
}

function seenLine({ text, worth = 0 }: Note, change: SeenChange): Line {
  const heading = seenText(change);
  const own = { rank: RANK.note, worth, at: change.at };
  return { ...own, section: 'Changes Seen', heading, text: quoteLines(text).replace(/^/gm, '  ') };
}

function noteLine(note: Note, files: ReadonlyMap<string, FileRecord>, root: string): Line {
  const { by, source, turn, at = 0, worth = 0 } = note;
  const where = place(note.at, turn);
  const own = { rank: RANK.note, worth, at };
  const file = source === undefined ? undefined : files.get(source);
  const isOfChanged = file !== undefined && isChanged(file);
  const heading =
    file === undefined
      ? `### ${where} ${source ?? 'tool result'}`
      : isOfChanged
        ? `- ${fileText(file, root)}`
        : `### ${shownPath(file.path, root)}`;
  const section = isOfChanged ? 'Changed Files' : 'Exact Lines';
  switch (by) {
    case 'system':
      return { ...own, section: 'From the System Message', text: quoteLines(note.text) };
    case 'tool':
      return { ...own, section, heading, text: quoteLines(note.text), at: file?.at ?? at };
    case 'user':
      return {
        ...own,
        section: 'Conversation',
        label: `${where} User:`,
        text: indented(note.text) + overruled(note),
      };
    case 'assistant':
      return source === undefined
        ? { ...own, section: 'Conversation', label: `${where} Agent:`, text: indented(note.text) }
        : {
            ...own,
            section,
            heading,
            text:
              note.text === ''
                ? ''
                : isOfChanged
                  ? addedLines(note.text, where)
                  : `  ${indented(note.text)}`,
            at: file?.at ?? at,
          };
  }
}

/** Lines that the agent put into a file. Several of them are a block of their own. */
function addedLines(text: string, where: string): string {
  const lines = linesOf(text);
  const block = lines.length === 1 ? [] : [`  ${where}`];
  return [...block, ...lines.map((line) => `  + ${line}`)].join('\n');
}

const overruled = ({ overruledAt }: Note): string =>
  overruledAt === undefined ? '' : ` (m${overruledAt + 1} may change this)`;

const place = (at: number | undefined, turn: number): string =>
  at === undefined ? `[turn ${turn}]` : `[m${at + 1}]`;
