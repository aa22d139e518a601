import { headOf, linesOf } from '../message/text.ts';
import type { Fact, Note, Summary } from '../plan/summary.ts';
import type { Counter } from '../tokens/counter.ts';
import { accountWithin } from './account.ts';
import { SeenWords } from './novelty.ts';
import { fitSummary, renderSummary, SUMMARY_RENDER_VERSION } from './render.ts';

/** The share of the room that an account has at least, where it is long enough. */
export const ACCOUNT_SHARE = 0.88;
/** What is always said, where the account lacks it, may take this share of the room. */
const ALWAYS_SHARE = 0.2;
/** A line that has fewer new words than this repeats the account. */
const LEAST_FRESH = 0.34;
const TASK_CHARS = 600;

/** The text of a summary: its account first, where a model wrote one. */
export function summaryText(summary: Summary): string {
  return summary.prose === null
    ? renderSummary(summary)
    : accountText(summary, Number.POSITIVE_INFINITY, false);
}

/** The same within a number of tokens; undefined where not even its first line fits. */
export function fitSummaryText(
  summary: Summary,
  maxTokens: number,
  counter: Counter,
  taskStands = false,
): string | undefined {
  if (summary.prose === null) return fitSummary(summary, maxTokens, counter, taskStands);
  const whole = accountText(summary, Number.POSITIVE_INFINITY, taskStands);
  let tokens = counter.text(whole);
  if (tokens <= maxTokens) return whole;
  let chars = Math.floor((maxTokens * whole.length) / tokens);
  for (let tries = 0; tries < MOST_TRIES && chars > LEAST_CHARS; tries++) {
    const text = accountText(summary, chars, taskStands);
    tokens = counter.text(text);
    if (tokens <= maxTokens) return text;
    chars = Math.floor(chars * Math.min(0.98, maxTokens / tokens));
  }
  return undefined;
}

const MOST_TRIES = 12;
const LEAST_CHARS = 80;

const SECTIONS = [
  'Original Task',
  'In the User’s Words',
  'Open Items',
  'Turn Context (split turn)',
  'Not in the Account',
  'Decisions',
  'Commands and Results',
  'Changed Files',
  'Also Named',
  'Artifacts',
] as const;
type Section = (typeof SECTIONS)[number];

interface Line {
  readonly section: Section;
  readonly text: string;
  /** What is said whatever it is worth, where the account lacks it. */
  readonly always?: boolean;
  readonly worth: number;
}

function accountText(summary: Summary, chars: number, taskStands: boolean): string {
  const title = `[Summary ${SUMMARY_RENDER_VERSION}, round ${summary.round}]`;
  const prose = summary.prose ?? '';
  const lines = recordLines(summary, taskStands);
  const first = chosenLines(lines, new SeenWords(prose), chars * ALWAYS_SHARE, true);
  const room = chars - title.length - FRAME_CHARS - lengthOf(first);
  const account = accountWithin(prose, room * ACCOUNT_SHARE);
  const left = room - account.length;
  const seen = new SeenWords(account);
  for (const { text } of first) seen.add(text);
  const rest = chosenLines(lines, seen, left, false);
  return [title, account, ...layOut([...first, ...rest])].join('\n');
}

const FRAME_CHARS = 24;
const HEADING_CHARS = 12;

const lengthOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, { text }) => sum + text.length + 1, 0) +
  new Set(lines.map(({ section }) => section)).size * HEADING_CHARS;

/** The lines of one sort that add something, those of the greatest worth first, within a number of characters. */
function chosenLines(
  lines: readonly Line[],
  seen: SeenWords,
  chars: number,
  always: boolean,
): readonly Line[] {
  const chosen = new Set<Line>();
  const sections = new Set<Section>();
  let left = chars;
  const sorted = lines
    .filter((line) => (line.always === true) === always)
    .toSorted((a, b) => b.worth - a.worth);
  for (const line of sorted) {
    const cost = line.text.length + 1 + (sections.has(line.section) ? 0 : HEADING_CHARS + line.section.length);
    if (cost > left || seen.freshShare(line.text) < LEAST_FRESH) continue;
    chosen.add(line);
    sections.add(line.section);
    seen.add(line.text);
    left -= cost;
  }
  return lines.filter((line) => chosen.has(line));
}

function layOut(lines: readonly Line[]): readonly string[] {
  const bySection = new Map<Section, string[]>();
  for (const { section, text } of lines) {
    const own = bySection.get(section);
    if (own === undefined) bySection.set(section, [text]);
    else own.push(text);
  }
  return SECTIONS.flatMap((section) => {
    const own = bySection.get(section);
    return own === undefined ? [] : ['', `## ${section}`, ...own];
  });
}

function recordLines(s: Summary, taskStands: boolean): readonly Line[] {
  const line = (section: Section, text: string, worth: number): Line => ({ section, text, worth });
  const must = (section: Section, text: string, worth: number): Line => ({
    section,
    text,
    worth,
    always: true,
  });
  const open = s.items.filter(({ state }) => state !== 'done');
  return [
    ...(s.task === null || taskStands ? [] : [must('Original Task', taskText(s.task), 3)]),
    ...s.facts.map((fact, i) => factLine(fact, i / s.facts.length)),
    ...open.map((item, i) =>
      must(
        'Open Items',
        `- [${item.state === 'current' ? '>' : ' '}] ${item.text}`,
        1 + i / open.length,
      ),
    ),
    ...(s.splitTurn === null || s.splitTurn.text === ''
      ? []
      : [must('Turn Context (split turn)', s.splitTurn.text, 2)]),
    ...s.decisions.map(({ text, rationale }, i) =>
      line('Decisions', `- ${text}${rationale === undefined ? '' : ` — ${rationale}`}`, i / s.decisions.length),
    ),
    ...s.notes.map(noteLine),
    ...s.outcomes.map((o, i) => {
      const end = o.error === undefined ? o.outcome : o.error;
      return line('Commands and Results', `- ${o.call}: ${end}${o.resolution === undefined ? '' : ` → ${o.resolution}`}`, 0.1 * i / s.outcomes.length);
    }),
    ...s.files
      .filter(({ edited, written, deleted }) => edited || written || deleted)
      .map(({ path, deleted, note }, i) =>
        line('Changed Files', `- ${path}${deleted ? ' (deleted)' : ''}${note === undefined ? '' : `: ${note}`}`, 0.5 + i / 1000),
      ),
    ...s.artifacts.map(({ artifactId, description }) =>
      line('Artifacts', `- artifact:${artifactId}: ${description}`, 0.3),
    ),
  ];
}

function factLine({ kind, text, by }: Fact, age: number): Line {
  const isOrder = by === 'user' || by === 'system';
  const line = { section: 'In the User’s Words', text: `- ${text}`, worth: 2 + age } as const;
  return isOrder && kind !== 'value' ? { ...line, always: true } : { ...line, worth: 0.5 + age };
}

function noteLine(note: Note): Line {
  const { by, source, at, turn, worth = 0 } = note;
  if (source === NAMES) return { section: 'Also Named', text: note.text, worth: 1 };
  const where = at === undefined ? `[turn ${turn}]` : `[m${at + 1}]`;
  const text = linesOf(note.text).join(' ');
  switch (by) {
    case 'user':
      return { section: 'In the User’s Words', text: `- ${where} ${text}`, worth };
    case 'assistant':
      return { section: 'Not in the Account', text: `- ${where} ${text}`, worth };
    case 'system':
    case 'tool':
      return {
        section: 'Commands and Results',
        text: `- ${where} ${source ?? by}: ${text}`,
        worth,
      };
  }
}

/** The source of a note that only lists names. */
export const NAMES = 'names';

function taskText(task: string): string {
  return task.length <= TASK_CHARS ? task : `${headOf(task, TASK_CHARS)}…`;
}
