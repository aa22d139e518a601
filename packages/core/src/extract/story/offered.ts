import { reversed, sorted } from '../../check/list.ts';
import type { Note } from '../../plan/summary.ts';
import { rounded, type Group, type Item } from '../quotes/select.ts';
import { answeredText, type Answered } from './answers.ts';
import { changeOf, type Overruled } from './overruled.ts';
import type { Passage } from './passages.ts';

/** A passage that may be shown. */
export interface Offered extends Item {
  merit: number;
  readonly note: Omit<Note, 'worth'>;
  readonly passage: Passage;
  /** What the user wrote in a short message: shown first. */
  readonly isOwn: boolean;
  /** Ends a message. */
  readonly isLast: boolean;
  readonly isFinal: boolean;
  readonly isReport: boolean;
  /** What a short answer of the user answers. */
  readonly isAsked: boolean;
  /** What this short answer answers. */
  readonly answered: Answered | undefined;
  /** The call that these words refuse, in one line; empty if there is none. */
  readonly refuses: string;
}

export type Flags = Partial<
  Pick<Offered, 'isOwn' | 'isLast' | 'isFinal' | 'isReport' | 'isAsked' | 'answered' | 'refuses'>
>;

export interface LeadGroup extends Group {
  readonly lead: string;
}

/**
 * The chosen passages as notes in the order of the conversation, each lead before the first of its passages. A mark
 * says where passages of a message were left out, but not that the agent's message begins with others.
 */
export function notesOf(all: readonly Offered[], overruled: Overruled): readonly Note[] {
  const led = new Set<Group>();
  const notes: Note[] = [];
  const answers = answersShown(all.filter(({ taken }) => taken));
  let last: Offered | undefined;
  let gap = false;
  let isBegun = false;
  for (const offered of inOrder(all)) {
    const { note, group, worth, passage } = offered;
    if (last?.note.at !== note.at || last?.note.by !== note.by) [gap, isBegun] = [false, false];
    const before = last?.taken === true ? last.note : undefined;
    last = offered;
    if (!offered.taken) {
      gap = true;
      continue;
    }
    const { lead } = group as LeadGroup;
    const isSaid = led.has(group) || (before?.at === note.at && before?.text === lead);
    const text = passage.kind === 'code' ? `\`\`\`\n${note.text}\n\`\`\`` : note.text;
    const overruledAt = note.by === 'user' ? changeOf(note.text, overruled) : undefined;
    const parts = [
      ...(gap && (isBegun || note.by === 'user') && !text.startsWith(GAP) ? [GAP] : []),
      ...(lead === '' || isSaid ? [] : [lead]),
      text + (answers.get(offered) ?? '') + refusal(offered),
    ];
    led.add(group);
    [gap, isBegun] = [false, true];
    notes.push({
      ...note,
      ...(overruledAt === undefined ? {} : { overruledAt }),
      text: parts.join('\n'),
      worth: rounded(worth),
    });
  }
  return notes;
}

/** What short answers answer, if the conversation does not show it. */
function answersShown(taken: readonly Offered[]): ReadonlyMap<Offered, string> {
  const answers = new Map<Offered, string>();
  const shown = withoutMarks(
    taken
      .filter(({ note }) => note.by === 'assistant')
      .map(({ note }) => note.text)
      .join('\n'),
  );
  for (const offered of reversed(taken)) {
    const { answered } = offered;
    if (answered === undefined) continue;
    const { question = '', options } = answered;
    if ([question, ...options].every((part) => shown.includes(withoutMarks(part)))) continue;
    const text = ` (${answeredText(answered)})`;
    answers.set(offered, text);
  }
  return answers;
}

function inOrder(all: readonly Offered[]): readonly Offered[] {
  return sorted(all, (a, b) => (a.note.at ?? 0) - (b.note.at ?? 0) || a.passage.at - b.passage.at);
}

const refusal = ({ refuses }: Offered): string => (refuses === '' ? '' : ` (refuses ${refuses})`);

/** A text without the marks of lists and tables, by which texts are compared. */
const withoutMarks = (text: string): string => text.replace(/[\s*|:…]+/g, '');

const GAP = '…';
