import { resultsOf, resultText, type ResultPart } from '../thread/message.ts';
import { oneLine } from '../thread/text.ts';
import type { Node } from '../thread/thread.ts';
import { callLine, quoted, shortened } from './quote.ts';
import { VOICE } from './scan.ts';
import { shellCommands } from './shell.ts';
import type { ToolOutcome } from './summary.ts';
import type { CallTrail, Placed, Survey } from './survey.ts';
import { searches } from './touch.ts';

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
    String.raw`^[^\n]{0,100}\bnot found in\b`,
    String.raw`\b[1-9]\d* (?:[a-z]+ )?(?:fail(?:ed|ures?|ing)|errors?)\b(?! fixed)`,
    String.raw`\b(?:fail(?:ed|ures?|ing)?|errors?)(?:[:=] ?| )[1-9]`,
  ].join('|'),
  'm',
);
/** How a shell says that a command failed: this is no guess. */
const EXIT = /\bexit(?:ed)?(?: with)?(?:[ _]code| status)?"?[:=]? ?([1-9]\d*)\b/i;
/** Says only that something failed; what it was, the next line says. */
const BARE = /^\W*(?:error|failed|exit(?:ed)?(?: with)?(?: code| status)?)?[\s:=\d]*$/i;
const RAISED = /^[\w.]+(?:Error|Exception|Exit|Interrupt)\b[^\n]*/m;
const REFUSED = /^\s*(?:\[error\]|<tool_use_error>|Error)/;
/** What a file or a search holds is no outcome. */
const LOOKS =
  /"(?:command|cmd)"\s{0,3}:\s{0,3}"(?:cd \S{1,200} && )?(?:grep|rg|git (?:diff|show|log|grep|blame)|gh (?:pr|api|issue)|cat|sed|find|ls|head|tail|nl|jq|awk)\b/;
const SAMPLE = 3_000;
const EXIT_CHARS = 300;
const CALL_CHARS = 140;
const ERROR_CHARS = 200;
const MOST_SUCCESSES = 30;
const MOST_FAILURES = 30;

interface Ended extends ToolOutcome {
  readonly what: string;
}

/** How the calls of some messages ended, oldest first: errors with what became of them, and the newest that worked. */
export function outcomes(
  nodes: readonly Node[],
  survey: Survey,
  before: readonly ToolOutcome[],
): readonly ToolOutcome[] {
  const ended: Ended[] = before.map((outcome) => ({ ...outcome, what: carriedKey(outcome) }));
  /** What was asked for and has not worked since: the places of its errors. */
  const failing = new Map<string, number[]>();
  const fails = (what: string, place: number): void => {
    failing.set(what, [...(failing.get(what) ?? []), place]);
  };
  ended.forEach(({ what, error, resolution }, i) => {
    if (error !== undefined && resolution === undefined) fails(what, i);
  });
  for (const { message, turn, index } of nodes) {
    const answered = survey.answeredAt(index);
    for (const [i, result] of resultsOf(message).entries()) {
      const now = endOf(result, answered[i], survey, turn);
      const errors = failing.get(now.what) ?? [];
      const same = errors.find((place) => ended[place]?.error === now.error);
      if (now.error === undefined) {
        const resolution = `worked at m${index + 1}`;
        for (const place of errors) ended[place] = { ...(ended[place] as Ended), resolution };
        failing.delete(now.what);
      } else if (same === undefined) fails(now.what, ended.length);
      else {
        ended[same] = { ...(ended[same] as Ended), turn };
        continue;
      }
      ended.push(now);
    }
  }
  return bounded(ended).map((one) => {
    const { what: _, ...outcome } = one;
    return outcome;
  });
}

function bounded(ended: readonly Ended[]): readonly Ended[] {
  let [failures, successes] = [0, 0];
  return ended
    .toReversed()
    .filter(({ error }) =>
      error === undefined ? successes++ < MOST_SUCCESSES : failures++ < MOST_FAILURES,
    )
    .toReversed();
}

function endOf(
  result: ResultPart,
  trail: CallTrail | undefined,
  survey: Survey,
  turn: number,
): Ended {
  const call = trail === undefined ? undefined : survey.placed[trail.segment];
  const tool = result.tool ?? call?.segment.tool ?? 'tool';
  const line = call === undefined ? '' : lineOf(call);
  const error = errorIn(result, trail, call);
  const isTold = result.outcome !== undefined || (error !== undefined && exits(resultText(result)));
  return {
    tool,
    outcome: result.outcome ?? (error === undefined ? 'success' : 'failure'),
    ...(isTold ? {} : { guessed: true }),
    call: line,
    turn,
    ...(call === undefined ? {} : { at: call.index }),
    what: trail?.file === undefined ? commandKey(line) : `${tool} ${trail.file.path}`,
    ...(result.keyFields === undefined ? {} : { keyFields: result.keyFields }),
    ...(error === undefined ? {} : { error }),
  };
}

/** Commands that only prepare for another, or say how it went. */
const ASIDE = new Set(['cd', 'echo', 'export', 'set', 'sleep', 'true', 'date', 'pwd', 'source']);

/** What a command line does, however its output is cut or kept: without pipes, redirections and asides. */
function commandKey(line: string): string {
  if (line.startsWith('{')) return line;
  const commands = shellCommands(line)
    .filter(({ piped }) => !piped)
    .map(({ words }) => words.filter((word) => !/^\w+=/.test(word)))
    .filter(([first]) => first !== undefined && !ASIDE.has(first));
  return commands.length === 0 ? line : commands.map((words) => words.join(' ')).join(' && ');
}

/** The key of a call that an earlier summary tells of: a file's where it names one. */
function carriedKey({ tool, call }: ToolOutcome): string {
  const path = /"(?:file_?path|path|notebook_path)"\s{0,3}:\s{0,3}"([^"\\]{1,300})"/i.exec(
    call,
  )?.[1];
  return path === undefined ? commandKey(call) : `${tool} ${path}`;
}

/** What was asked of a tool, without its name. */
function lineOf({ segment: { tool, text } }: Placed): string {
  return callLine(tool, text.slice(tool.length + 1), CALL_CHARS).slice(tool.length + 1);
}

/** True where a call is known to have failed. */
export function hasFailed(survey: Survey, trail: CallTrail): boolean {
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
    text.length > 2 * SAMPLE ? `${text.slice(0, SAMPLE)}\n${text.slice(-SAMPLE)}` : text;
  const at = FAILED.exec(sample)?.index ?? (exits(text) ? EXIT.exec(sample)?.index : undefined);
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
