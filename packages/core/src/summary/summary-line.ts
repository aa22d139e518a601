import { reversed } from '../check/list.ts';
import { handedOver, isHandedOver } from './hand-over.ts';

/** The sections of a summary's text, in the order in which they are shown. */
export const SECTIONS = [
  'Task',
  'Rules and Preferences',
  'Facts',
  'Account',
  'Conversation',
  'Decisions and Findings',
  'Changed Files',
  'Changes Seen',
  'Problems Solved',
  'Commands',
  'Artifacts',
  'From the System Message',
  'Exact Lines',
  'Files Read',
  'Turn Context (split turn)',
  'State',
  'Open Work',
] as const;
export type Section = (typeof SECTIONS)[number];

/** The order in which lines are left out if not all can be shown: lower is left out later. */
export const RANK = {
  task: 0,
  fact: 1,
  state: 2,
  account: 3,
  finding: 4,
  note: 5,
  more: 6,
} as const;
export type Rank = (typeof RANK)[keyof typeof RANK];

/** A line or an entry of a few lines in a section. */
export interface Line {
  readonly section: Section;
  /** Lines under one heading stay together. */
  readonly heading?: string;
  /** Says where the text is from. Neighbours with one label share it. */
  readonly label?: string;
  readonly text: string;
  readonly rank: Rank;
  readonly worth: number;
  /** A person's words in it: if the conversation shows them, the line is left out. */
  readonly said?: string;
  /** Its place among the lines of its section; the place where it was added if absent. */
  readonly at?: number;
}

export interface RenderSpace {
  /** How many characters there are for the whole text. */
  readonly chars: number;
  /** The task is in the prompt as a message: the summary does not repeat it. */
  readonly taskIsShown?: boolean;
}

/** What a harness appends to a plan that it hands over. */
const PLAN_NOTE = /\n+If you need specific details from before exiting plan mode[^\n]*$/;

/** A task as a person gave it. */
export function taskWithoutHostText(task: string): string {
  if (isHandedOver(task)) return handedOver(task);
  return task.replace(PLAN_NOTE, '').trim();
}

/** Lines that are all shown. */
export const always = (section: Section, rank: Rank, texts: readonly string[]): readonly Line[] =>
  texts.map((text) => ({ section, rank, text, worth: 0 }));

/** The newest lines of a list within a number of characters; older ones give way. */
export function listed(
  section: Section,
  rank: Rank,
  mostChars: number,
  texts: readonly string[],
  own: (i: number) => Partial<Line> = () => ({}),
): readonly Line[] {
  let left = mostChars;
  const ranks = reversed(texts).map((text) => ((left -= text.length + 1) >= 0 ? rank : RANK.more));
  return texts.map((text, i) => ({
    section,
    rank: ranks[texts.length - 1 - i] ?? rank,
    text,
    ...own(i),
    worth: i / texts.length,
  }));
}
