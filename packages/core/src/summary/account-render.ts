import { lastIndex, sorted } from '../check/list.ts';
import type { Fact, Note, RepositoryEvent, Summary, ToolOutcome } from '../plan/summary.ts';
import { contentWords, headOf, namesIn, sentencesOf } from '../message/text.ts';
import type { Counter } from '../tokens/counter.ts';
import { accountParts, accountWithin, chronologyWithin, dedented } from './account.ts';
import { chooseFresh, SeenWords, wordsOf, type Candidate } from './novelty.ts';
import {
  hasPassed,
  isCheck,
  outcomeText,
  repositoryTexts,
  tellingOutcomes,
} from './entry-texts.ts';
import { currentTexts, itemTexts } from './item-texts.ts';
import { changedFiles, lastEdit, nameOf, seenText } from './file-texts.ts';
import { fitSummary, renderSummary, SUMMARY_RENDER_VERSION } from './render.ts';
import { taskWithoutHostText } from './summary-line.ts';

/** What is always said, if the account lacks it, may take this share of the text, or what the account leaves. */
const ALWAYS_SHARE = 0.2;
/** A line that has fewer new words than this repeats the account. */
const LEAST_FRESH = 0.15;
const TASK_CHARS = 600;
const ERROR_LINES = 3;

/** The text of a summary: its account first, if a model wrote one. */
export function summaryText(summary: Summary): string {
  return summary.prose === null
    ? renderSummary(summary)
    : accountText(summary, Number.POSITIVE_INFINITY, false);
}

/** The same within a number of tokens; undefined if not even its first line fits. */
export function fitSummaryText(
  summary: Summary,
  maxTokens: number,
  counter: Counter,
  taskIsShown = false,
): string | undefined {
  if (summary.prose === null) return fitSummary(summary, maxTokens, counter, taskIsShown);
  const whole = accountText(summary, Number.POSITIVE_INFINITY, taskIsShown);
  let tokens = counter.text(whole);
  if (tokens <= maxTokens) return whole;
  let chars = Math.floor((maxTokens * whole.length) / tokens);
  for (let tries = 0; tries < MOST_TRIES && chars > LEAST_CHARS; tries++) {
    const text = accountText(summary, chars, taskIsShown);
    tokens = counter.text(text);
    if (tokens <= maxTokens) return text;
    chars = Math.floor(chars * Math.min(0.98, maxTokens / tokens));
  }
  return undefined;
}

const MOST_TRIES = 12;
const MOST_CUTS = 4;
const LEAST_CHARS = 80;

const SECTIONS = [
  'Original Task',
  'In the User’s Words',
  'Open Items',
  'Turn Context (split turn)',
  'Not in the Account',
  'Commands',
  'Repository',
  'Changed Files',
  'Changes Seen',
  'Artifacts',
] as const;
type Section = (typeof SECTIONS)[number];

interface Line extends Candidate {
  readonly section: Section;
  /** What is said before anything else, if the account lacks it. */
  readonly always?: true;
  /** What is only shown next to an account that says little. */
  readonly fills?: 'thin account';
}

const isAlways = (line: Line): boolean => line.always === true;

/**
 * The account comes first and whole if it fits. What it lacks of rules, open items, commands and files follows, and then
 * what only its analysis says. Other lines fill the space next to an account that says little.
 */
function accountText(summary: Summary, chars: number, taskIsShown: boolean): string {
  const title = `[Summary ${SUMMARY_RENDER_VERSION}, round ${summary.round}]`;
  const { body: written, analysis } = accountParts(summary.prose ?? '');
  const body = written.length + analysis.length < chars * SPARE_SHARE ? written : dedented(written);
  const lines = recordLines(summary, body, taskIsShown);
  const space = chars - title.length - FRAME_CHARS;
  const recordChars = Number.isFinite(chars)
    ? Math.min(chars * RECORD_SHARE, chars * LEAST_RECORD_SHARE + openFailureChars(summary))
    : 0;
  const alwaysChars = Math.max(
    LEAST_ALWAYS_CHARS,
    Math.min(space - body.length, chars * ALWAYS_SHARE),
  );
  const beside = (shown: string): Always =>
    chosenAlways(lines.filter(isAlways), shown, alwaysChars);
  const within = (first: ReadonlySet<Line>): string =>
    accountWithin(body, space - lengthOf([...first]) - recordChars);
  // What the account says where it is cut has to be said beside it, which may cut it again.
  let { chosen: first, leftOut } = beside(body);
  let account = within(first);
  for (let tries = 0; tries < MOST_CUTS; tries++) {
    const next = beside(account);
    ({ leftOut } = next);
    if ([...next.chosen].every((line) => first.has(line))) break;
    first = new Set([...first, ...next.chosen]);
    account = within(first);
  }
  const shown = new SeenWords([account, ...[...first].map(({ text }) => text)].join('\n'));
  let left = space - account.length - lengthOf([...first]);
  const rest = new Set<Line>();
  const fill = (own: readonly Line[], most: number): void => {
    for (const line of chooseFresh(own, shown, Math.min(left, most), LEAST_FRESH)) {
      rest.add(line);
      left -= line.text.length + 1;
    }
  };
  fill(
    lines.filter((line) => !isAlways(line) && line.fills === undefined),
    Math.max(left - analysis.length * DENSITY, chars * RECORD_SHARE),
  );
  account = accountWithin(body, account.length + left);
  left = space - account.length - lengthOf([...first, ...rest]);
  const chronology = chronologyWithin(analysis, shown, left);
  left -= chronology.join('\n').length;
  const fillers = lines.filter(({ fills }) => fills !== undefined);
  fill(fillers, chars * THIN_SHARE - account.length);
  const text = [account, ...chronology].join('\n');
  fill(
    fillers.filter((line) => !rest.has(line) && hasNewNames(line, text)),
    left,
  );
  const more = leftOut === 0 ? [] : ['', `(${leftOut} more rules and items left out)`];
  return [
    title,
    account,
    ...layOut(lines.filter((line) => first.has(line) || rest.has(line))),
    ...(chronology.length === 0 ? [] : ['', ...chronology]),
    ...more,
  ].join('\n');
}

/** An account that takes more than this share of the text is shown with less indentation. */
const SPARE_SHARE = 0.8;
/** The record is short: it may take this share of the text, or what the analysis leaves. */
const RECORD_SHARE = 0.12;
/** … and this share even next to an account that has to be cut for it, in addition to what fails. */
const LEAST_RECORD_SHARE = 0.03;
/** How much shorter an analysis becomes with less indentation. */
const DENSITY = 0.95;
/** An account below this share of the text is thin. */
const THIN_SHARE = 0.5;
const FRAME_CHARS = 24;
const HEADING_CHARS = 20;

const lengthOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, { text }) => sum + text.length + 1, 0) +
  new Set(lines.map(({ section }) => section)).size * HEADING_CHARS;

/** What the account lacks of what is always said, by weight. A rule is only left out if the account quotes it. */
function chosenAlways(lines: readonly Line[], body: string, mostChars: number): Always {
  const account = flat(body);
  const seen = new SeenWords(body);
  const chosen = new Set<Line>();
  let leftOut = 0;
  let left = mostChars;
  // A part of the items would look like all of them.
  const areItemsSaid = areAllNamed(
    lines.filter(({ section }) => section === 'Open Items').map(({ text }) => text),
    body,
  );
  const isSaid = ({ section, text }: Line): boolean => {
    if (section === 'Open Items') return areItemsSaid;
    if (section !== 'Original Task') return account.includes(flat(text));
    return seen.freshShare(wordsOf(text)) < (body.length < THIN_CHARS ? LEAST_FRESH : NEW_TASK);
  };
  for (const line of sorted(lines, (a, b) => b.weight - a.weight)) {
    if (isSaid(line)) continue;
    if (line.text.length + 1 > left) leftOut += 1;
    else {
      chosen.add(line);
      left -= line.text.length + 1;
    }
  }
  return { chosen, leftOut };
}

interface Always {
  readonly chosen: ReadonlySet<Line>;
  readonly leftOut: number;
}

/** A longer account says what the task is; the first request is then shown only if the account is about another one. */
const THIN_CHARS = 1_500;
const NEW_TASK = 0.9;
const LEAST_ALWAYS_CHARS = 600;

/** True if an account speaks of each of some items. */
function areAllNamed(items: readonly string[], body: string): boolean {
  if (items.length === 0) return true;
  const sentences = sentencesOf(body).map((one) => new Set(contentWords(one)));
  return items.every((item) => isNamedIn(sentences, item));
}

/**
 * An account that speaks of an item knows more of it than the list, which is often out of date: it names the item's
 * number and its first words, or all of its words. What must not be done is always listed.
 */
function isNamedIn(sentences: readonly ReadonlySet<string>[], item: string): boolean {
  const [, text = '', number] =
    /^- (?:\[.\] |Working on: )?([^]*?)(?: \(#(\d+)\))?$/.exec(item) ?? [];
  if (/\b(?:not|never|no|without)\b|n['’]t\b/i.test(text)) return false;
  const all = contentWords(text);
  const words = number === undefined ? all : [number, ...all.slice(0, LEAST_ITEM_WORDS)];
  return (
    all.length >= LEAST_ITEM_WORDS &&
    sentences.some((said) => words.every((word) => said.has(word)))
  );
}

const LEAST_ITEM_WORDS = 3;

/** A text without case, punctuation and list marks. */
const flat = (text: string): string =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');

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

/** A list of lines, the last worth most. */
function listed(section: Section, texts: readonly string[], weight: number): readonly Line[] {
  return texts.map((text, i) => ({
    section,
    text,
    weight: weight * (0.5 + (i + 1) / texts.length / 2),
  }));
}

const always = (line: Line): Line => ({ ...line, always: true });
const thin = (line: Line): Line => ({ ...line, fills: 'thin account' });

function recordLines(s: Summary, body: string, taskIsShown: boolean): readonly Line[] {
  const open = s.items.filter(({ state }) => state !== 'done');
  const { task, splitTurn } = s;
  return [
    ...(task === null || taskIsShown
      ? []
      : listed('Original Task', [shortTask(task)], 4).map(always)),
    ...s.facts.map(factLine),
    ...listed('Open Items', currentTexts(s.currentTask, open), 3).map(always),
    ...listed('Open Items', itemTexts(open, s.outcomes), 2).map(always),
    ...listed(
      'Turn Context (split turn)',
      splitTurn === null || splitTurn.text === '' ? [] : [splitTurn.text],
      3,
    ).map(always),
    ...s.notes.filter((note) => !isEdit(note)).map(noteLine),
    ...listed(
      'Commands',
      openOutcomes(s).map((outcome) => commandText(outcome, s)),
      1,
    ),
    ...listed('Repository', repositoryTexts(sinceAccount(s, body)), 1.2).map(always),
    ...alsoChanged(s, body),
    ...listed('Changes Seen', (s.seen ?? []).map(seenText), 0.9).map(thin),
    ...listed(
      'Artifacts',
      s.artifacts.map(({ artifactId, description }) => `- artifact:${artifactId}: ${description}`),
      0.5,
    ),
  ];
}

/** The last run of each check. Another failure that was followed by edits may be over: the account says how it went on. */
function openOutcomes({ outcomes, files }: Summary): readonly ToolOutcome[] {
  const edited = lastEdit(files);
  return tellingOutcomes(outcomes).filter(
    (one) => isCheck(one) || ((one.at ?? edited) >= edited && !hasPassed(one)),
  );
}

const commandText = (outcome: ToolOutcome, { files }: Summary): string =>
  outcomeText(outcome, ERROR_LINES, lastEdit(files));

/** How long the lines are that say what fails: an account is cut for these. */
function openFailureChars(s: Summary): number {
  return openOutcomes(s)
    .filter((one) => one.resolution === undefined && !hasPassed(one))
    .reduce((sum, outcome) => sum + commandText(outcome, s).length + 1, 0);
}

/** What happened in the repository, without commits older than one that the account names: it chose among those. */
function sinceAccount({ repository = [] }: Summary, body: string): readonly RepositoryEvent[] {
  const newest = lastIndex(
    repository,
    ({ kind, text }) => kind === 'commit' && body.includes(text.slice(0, SHORT_HASH)),
  );
  return repository.filter(({ kind }, i) => kind !== 'commit' || i > newest);
}

const SHORT_HASH = 7;

/** The files that were changed and that the account does not name: all of them in one line, or none. */
function alsoChanged({ files }: Summary, body: string): readonly Line[] {
  const paths = changedFiles(files)
    .filter(({ path }) => !body.includes(nameOf(path)))
    .map(
      ({ path, deleted, written }) =>
        `${path} (${deleted ? 'deleted' : written ? 'created' : 'edited'})`,
    );
  return paths.length === 0
    ? []
    : [{ section: 'Changed Files', text: `- Not in the account: ${paths.join(', ')}`, weight: 1 }];
}

/** If there are more, each is shown without its turn. */
const FEW_FACTS = 12;

function factLine({ text, by, turn }: Fact, i: number, all: readonly Fact[]): Line {
  const isUsers = by === 'user' || by === 'system';
  const line: Line = {
    section: 'In the User’s Words',
    text: all.length <= FEW_FACTS ? `- ${text} (turn ${turn})` : `- ${text}`,
    weight: 2 + Math.abs((2 * i) / all.length - 1),
  };
  return isUsers ? always(line) : { ...line, weight: 0.8 };
}

/** What was written to a file is not what the agent says. */
const isEdit = ({ by, source }: Note): boolean => by === 'assistant' && source !== undefined;

/** "ok, start implementing": an account says what came of it. */
const isSmallTalk = (text: string): boolean =>
  namesIn(text).size === 0 && text.split(' ').length < LEAST_SAID_WORDS;

const LEAST_SAID_WORDS = 10;

function noteLine(note: Note): Line {
  const { by, source, at, turn, worth: weight = 1 } = note;
  const where = at === undefined ? `[turn ${turn}]` : `[m${at + 1}]`;
  const text = note.text.replace(/\s+/g, ' ');
  const fills = 'thin account';
  switch (by) {
    case 'user':
      return {
        section: 'In the User’s Words',
        text: `- ${where} ${text}`,
        weight,
        ...(isSmallTalk(text) ? { fills } : {}),
      };
    case 'assistant':
      return { section: 'Not in the Account', text: `- ${where} ${text}`, weight, fills };
    case 'system':
    case 'tool':
      return { section: 'Commands', text: `- ${where} ${source ?? by}: ${text}`, weight, fills };
  }
}

/** True for a sentence of the agent with exact strings that are nowhere else. */
function hasNewNames({ section, text }: Line, shown: string): boolean {
  if (section !== 'Not in the Account') return false;
  const said = text.replace(WHERE, '');
  const names = [...namesIn(said)].filter((name) => !COUNT.test(name) && !shown.includes(name));
  const words = said.replace(CODE, '').match(PLAIN_WORD) ?? [];
  return !LED.test(said) && names.length >= LEAST_NEW_NAMES && words.length >= LEAST_PLAIN_WORDS;
}

const WHERE = /^- \[[^\]]*\] /;
const COUNT = /^\d{1,5}$/;
/** A sentence about what was said before it. */
const LED = /^(?:they|it|this|that|these|those|both|which|used|also|so|and|but|then)\b/i;
const CODE = /`[^`]*`/g;
const PLAIN_WORD = /(?<![\w./"-])[A-Za-z][a-z]+(?=[\s,.;:!?)]|$)(?!\.\w)/g;
const [LEAST_NEW_NAMES, LEAST_PLAIN_WORDS] = [2, 4];

function shortTask(given: string): string {
  const task = taskWithoutHostText(given);
  return task.length <= TASK_CHARS ? task : `${headOf(task, TASK_CHARS)}…`;
}
