import { resultsOf, resultText, type ResultPart } from '../../message/message.ts';
import { headOf, oneLine, tailOf } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';
import { callLine, quoted, shortened } from '../quotes/quote.ts';
import { VOICE } from '../anchors/scan.ts';
import { shellCommands } from '../anchors/shell.ts';
import type { ToolOutcome } from '../../plan/summary.ts';
import type { CallTrail, Placed, AnchorStatistics } from '../anchors/statistics.ts';
import { searches } from '../anchors/tool-effects.ts';

/**
 * A line that tells of a failure: it begins with one, or counts some. A word alone, as in "LOG_LEVEL=ERROR", and a count
 * of none, as in "FAILED: 0", tell of nothing.
 */
const FAILED = new RegExp(
  [
    String.raw`^[^\w\n]{0,8}(?:npm |E +|error: )?(?:ERR!|error(?:\[\w+\])?[:!]|error [A-Z]|Error:|ERROR\b|FAIL(?:ED|URE)?\b|Failed\b|Traceback \(|panic:|fatal(?: error)?:|FATAL\b|Uncaught\b|Unhandled\b|[A-Z]\w*(?:Error|Exception)\b(?=:|$)|(?:Build|Compilation|Command) failed\b|Segmentation fault|tool_use_error)(?!\W{0,3}0\b)`,
    String.raw`: (?:command not found|No such file or directory|[Pp]ermission denied)\b`,
    String.raw`^\S+?[:(]\d+[^\n]{0,20}?: (?:fatal )?error\b`,
    String.raw`^\S+\.\w+:\d+:\d+: (?:undefined|cannot|expected|syntax)\b`,
    String.raw`\bnot found in\b`,
    String.raw`\b[1-9]\d* (?:[a-z]+ )?(?:fail(?:ed|ures?|ing)|errors?)\b(?! fixed)`,
    String.raw`\b(?:fail(?:ed|ures?|ing)?|errors?)(?:[:=] ?| )[1-9]`,
  ].join('|'),
  'm',
);
/** One of these stands in every such line: most results are done with after this test. */
const FAILED_HINT =
  /rror|ERR|[Ff]ailed|[Ff]ailure|[Ff]ailing|\bfail\b|FA[IT]|Traceback|panic:|fatal|Uncaught|Unhandled|xception|Segmentation|not found|No such|ermission denied|:\d+:\d+: [ucse]/;
/** How a shell says that a command failed: this is no guess. */
const EXIT = /\bexit(?:ed)?(?: with)?(?:[ _]code| status)?"?[:=]? ?([1-9]\d*)\b/i;
/** Says only that something failed; what it was, the next line says. */
const BARE = /^\W*(?:error|failed|exit(?:ed)?(?: with)?(?: code| status)?)?[\s:=\d]*$/i;
const RAISED = /^[\w.]+(?:Error|Exception|Exit|Interrupt)\b[^\n]*/m;
const REFUSED = /^\s*(?:\[error\]|<tool_use_error>|Error)/;
/** Commands that end with 1 where they find nothing, or a difference: an answer, no failure. */
const ASKS = new Set(
  'grep egrep fgrep zgrep rg ag ack diff cmp test [ [[ which pgrep type command'.split(' '),
);
const NOTHING_FOUND = /\bexit(?:ed)?(?: with)?(?:[ _]code| status)?"?[:=]? ?1\b/i;
/** What a file or a search holds is no outcome. */
const LOOKS =
  /"(?:command|cmd)"\s{0,3}:\s{0,3}"(?:cd \S{1,200} && )?(?:grep|rg|git (?:diff|show|log|grep|blame)|gh (?:pr|api|issue)|cat|sed|find|ls|head|tail|nl|jq|awk)\b/;
const SAMPLE = 3_000;
const EXIT_CHARS = 300;
const CALL_CHARS = 140;
/** What failed is known again by so much of its command. */
const KEY_CHARS = 600;
const ERROR_CHARS = 200;
const MOST_SUCCESSES = 30;
const MOST_FAILURES = 30;

/** How the calls of some messages ended, oldest first: errors with what became of them, and the newest that worked. */
export function outcomes(
  nodes: readonly Node[],
  survey: AnchorStatistics,
  before: readonly ToolOutcome[],
): readonly ToolOutcome[] {
  const ended: Ended[] = before.map((outcome) => ({ outcome, placed: undefined }));
  /** What was asked for and has not worked since: the places of its errors. */
  const failing = new Map<string, number[]>();
  const firstWords = new Set<string>();
  const fails = (what: string, place: number): void => {
    firstWords.add(what.split(' ', 1)[0] ?? '');
    failing.set(what, [...(failing.get(what) ?? []), place]);
  };
  before.forEach((outcome, i) => {
    if (outcome.error !== undefined && outcome.resolution === undefined)
      fails(carriedKey(outcome), i);
  });
  for (const { message, turn, index } of nodes) {
    const answered = survey.answeredAt(index);
    for (const [i, result] of resultsOf(message).entries()) {
      const trail = answered[i];
      const now = endOf(result, trail, survey, turn);
      const { error } = now.outcome;
      const mayEnd = error !== undefined || mayResolve(firstWords, now, trail);
      const what = mayEnd ? keyOf(now, trail) : '';
      if (error === undefined && mayEnd) {
        for (const [key, places] of failing) {
          if (!covers(what, key)) continue;
          for (const place of places)
            amend(ended, place, { resolution: `worked at m${index + 1}` });
          failing.delete(key);
        }
      }
      const same = failing.get(what)?.find((place) => ended[place]?.outcome.error === error);
      if (error !== undefined && same === undefined) fails(what, ended.length);
      if (same !== undefined) {
        amend(ended, same, { turn });
        continue;
      }
      ended.push(now);
    }
  }
  return bounded(ended).map(({ outcome, placed }) =>
    placed === undefined ? outcome : { ...outcome, call: lineOf(placed) },
  );
}

/** How a call ended. What was asked is read from its place in the end: most calls are not told of. */
interface Ended {
  readonly outcome: ToolOutcome;
  readonly placed: Placed | undefined;
}

function amend(ended: Ended[], place: number, change: Partial<ToolOutcome>): void {
  const { outcome, placed } = ended[place] as Ended;
  ended[place] = { outcome: { ...outcome, ...change }, placed };
}

function bounded(ended: readonly Ended[]): readonly Ended[] {
  let [failures, successes] = [0, 0];
  return ended
    .toReversed()
    .filter(({ outcome: { error } }) =>
      error === undefined ? successes++ < MOST_SUCCESSES : failures++ < MOST_FAILURES,
    )
    .toReversed();
}

function endOf(
  result: ResultPart,
  trail: CallTrail | undefined,
  survey: AnchorStatistics,
  turn: number,
): Ended {
  const placed = trail === undefined ? undefined : survey.placed[trail.segment];
  const isAnswer = findsNothing(result, placed);
  const error = isAnswer ? undefined : errorIn(result, trail, placed);
  const isTold = result.outcome !== undefined || (error !== undefined && exits(resultText(result)));
  const outcome: ToolOutcome = {
    tool: result.tool ?? placed?.segment.tool ?? 'tool',
    outcome: isAnswer
      ? 'success'
      : (result.outcome ?? (error === undefined ? 'success' : 'failure')),
    ...(isTold && !isAnswer ? {} : { guessed: true }),
    call: '',
    turn,
    ...(placed === undefined ? {} : { at: placed.index }),
    ...(result.keyFields === undefined ? {} : { keyFields: result.keyFields }),
    ...(error === undefined ? {} : { error }),
  };
  return { outcome, placed };
}

/** True where a command that asks whether something is there ended with no, and nothing else went wrong. */
function findsNothing(result: ResultPart, placed: Placed | undefined): boolean {
  if (placed === undefined || result.outcome === 'success') return false;
  const text = resultText(result);
  if (text.length > EXIT_CHARS || !NOTHING_FOUND.test(text)) return false;
  const rest = text.replace(/[^\n]*\bexit(?:ed)?\b[^\n]*/i, '');
  if (FAILED.test(rest)) return false;
  return shellCommands(lineOf(placed)).some(({ words: [first = '', second] }) =>
    first === 'git' ? second === 'grep' || second === 'diff' : ASKS.has(first),
  );
}

/** Commands that only prepare for another, or say how it went. */
const ASIDE = new Set(['cd', 'echo', 'export', 'set', 'sleep', 'true', 'date', 'pwd', 'source']);

/** How a run of tests, a build or a check is asked for. */
const RUN =
  /^(?:(?:test|build|lint|check|compile|typecheck|verify)s?(?:[:-][\w:-]+)?|pytest|jest|vitest|mocha|rspec|ctest|tox|phpunit|tsc|webpack|make|eslint|oxlint|ruff|clippy|vet)$/;
/** Flags that change how a run is told, not what is run. */
const MANNER = /^(?:\w+=.*|-v+|-q|-race|-count=\d+|--(?:verbose|quiet|silent|no-color|color=\w+))$/;

const isRun = ([first = '', ...rest]: readonly string[]): boolean =>
  first !== 'git' &&
  !ASKS.has(first) &&
  [first, ...rest.slice(0, 2)].some((word) => RUN.test(word));

/**
 * What a command line does, however its output is cut or kept: without pipes, redirections and asides. Beside a run of
 * tests or a build the other commands only prepare for it.
 */
function commandKey(line: string): string {
  if (line.startsWith('{')) return line;
  const commands = shellCommands(line)
    .filter(({ piped }) => !piped)
    .map(({ words }) => words.filter((word) => !MANNER.test(word)))
    .filter(([first]) => first !== undefined && !ASIDE.has(first));
  const runs = commands.filter(isRun);
  const told = runs.length > 0 ? runs : commands;
  return told.length === 0 ? line : told.map((words) => words.join(' ')).join(' && ');
}

/** So much of a command that was cut says which one it was. */
const LEAST_KEY = 40;

/** True where what worked is what failed, or more of the same: `npm test` is more than `npm test -- a.test.ts`. */
function covers(worked: string, failed: string): boolean {
  if (worked === failed) return true;
  if (failed.endsWith('…') && failed.length > LEAST_KEY)
    return worked.startsWith(failed.slice(0, -1));
  const all = worked.replace(/ (?:\.|\.\/\.\.\.|--all)$/, '');
  return isRun(all.split(' ')) && failed.startsWith(`${all} `) && !failed.includes(' && ');
}

/** What a call did, by which another one is known to do the same. */
function keyOf({ outcome: { tool }, placed }: Ended, trail: CallTrail | undefined): string {
  if (trail?.file !== undefined) return `${tool} ${trail.file.path}`;
  return placed === undefined ? '' : commandKey(lineOf(placed, KEY_CHARS));
}

/** True where a call may be known by a key with one of some first words. */
function mayResolve(
  firstWords: ReadonlySet<string>,
  { placed }: Ended,
  trail: CallTrail | undefined,
): boolean {
  if (trail?.file !== undefined || placed === undefined) return true;
  for (const word of firstWords)
    if (word.includes('"') || placed.segment.text.includes(word)) return true;
  return false;
}

/** The key of a call that an earlier summary tells of: a file's where it names one. */
function carriedKey({ tool, call }: ToolOutcome): string {
  const path = /"(?:file_?path|path|notebook_path)"\s{0,3}:\s{0,3}"([^"\\]{1,300})"/i.exec(
    call,
  )?.[1];
  return path === undefined ? commandKey(call) : `${tool} ${path}`;
}

/** What was asked of a tool, without its name. */
function lineOf({ segment: { tool, text } }: Placed, chars = CALL_CHARS): string {
  return callLine(tool, text.slice(tool.length + 1), chars).slice(tool.length + 1);
}

/** True where a call is known to have failed. */
export function hasFailed(survey: AnchorStatistics, trail: CallTrail): boolean {
  const call = survey.placed[trail.segment];
  const result = survey.placed[trail.result];
  return (
    call !== undefined &&
    result !== undefined &&
    failure(result.segment.text, trail, call) !== undefined
  );
}

function errorIn(
  result: ResultPart,
  trail: CallTrail | undefined,
  call: Placed | undefined,
): string | undefined {
  const text = resultText(result);
  if (result.outcome === 'failure')
    return failure(text, undefined, undefined) ?? oneLine(text, ERROR_CHARS);
  return result.outcome === undefined ? failure(text, trail, call) : undefined;
}

/** True where a text ends, or begins, with the exit code of a command that failed. */
function exits(text: string): boolean {
  return EXIT.test(text.slice(0, EXIT_CHARS)) || EXIT.test(text.slice(-EXIT_CHARS));
}

/** The line that tells of a failure: of a trace the one that says what was raised. */
function failure(
  text: string,
  trail: CallTrail | undefined,
  call: Placed | undefined,
): string | undefined {
  const holdsContent =
    call !== undefined &&
    ((trail?.file !== undefined && !trail.changes) ||
      searches(call.segment.tool) ||
      LOOKS.test(call.segment.text.slice(0, 300)));
  if (holdsContent && !REFUSED.test(text)) return undefined;
  const sample =
    text.length > 2 * SAMPLE ? `${headOf(text, SAMPLE)}\n${tailOf(text, SAMPLE)}` : text;
  const said = FAILED_HINT.test(sample) ? FAILED.exec(sample)?.index : undefined;
  const at = said ?? (exits(text) ? EXIT.exec(sample)?.index : undefined);
  if (at === undefined) return undefined;
  const line = lineAround(sample, at);
  const rest = sample.slice(line.end + 1);
  if (line.text.startsWith('Traceback'))
    return shortened(oneLine(RAISED.exec(rest)?.[0] ?? line.text), ERROR_CHARS);
  if (!BARE.test(line.text)) return shortened(line.text, ERROR_CHARS);
  const next = lineAround(rest, rest.search(/\S/));
  return shortened(
    [line.text.replace(/\W+$/, ''), next.text].filter(Boolean).join(': '),
    ERROR_CHARS,
  );
}

/** The line of a text that holds a place; a place in front of it is its beginning. */
function lineAround(text: string, at: number): { readonly text: string; readonly end: number } {
  const place = Math.max(0, at);
  const feed = text.indexOf('\n', place);
  const end = feed < 0 ? text.length : feed;
  const start = place === 0 ? 0 : text.lastIndexOf('\n', place - 1) + 1;
  return { text: oneLine(quoted(text.slice(start, end), VOICE.tool), ERROR_CHARS * 2), end };
}
