import { groupedBy } from '../../check/list.ts';
import {
  callsOf,
  resultsOf,
  resultText,
  type CallPart,
  type Outcome,
  type ResultPart,
} from '../../message/message.ts';
import { callLine } from '../anchors/call-line.ts';
import { headOf, oneLine, tailOf } from '../../message/text.ts';
import type { ToolOutcome } from '../../plan/summary.ts';
import { isCheck } from '../../summary/entry-texts.ts';
import type { Node } from '../../thread/thread.ts';
import { commandIn, shellCommands } from '../anchors/shell.ts';
import { searches, touchedBy } from '../anchors/tool-effects.ts';
import { isRefused } from '../story/user-words.ts';

/** Programs that look at things or prepare for others: how they end is not a result of the work. */
const LOOKS = new Set(
  `cat head tail nl less sed awk jq grep egrep rg ag find ls tree wc sort uniq cut diff stat file which type pwd cd echo printf
  export set source sleep true test [ [[ date env mkdir touch cp mv rm chmod tee xargs read for while if do done then fi`.split(
    /\s+/,
  ),
);
const GIT_LOOKS = new Set(
  'diff show log status grep blame branch rev-parse ls-files remote config fetch add'.split(' '),
);
const GH_LOOKS = new Set(['view', 'list', 'status', 'diff', 'checks', 'api']);
const RUNNERS = new Set(['run', 'exec', '-m', 'x', 'dlx', 'compose']);

/**
 * The kind of a shell command, by which its runs are the same: "go test", "npm run lint". Undefined if it only looks.
 */
export function kindOfCommand(line: string): string | undefined {
  let kind: string | undefined;
  for (const { words, piped } of shellCommands(line)) {
    const first = words.findIndex(
      (word) => !/^(?:sudo|time|timeout|env|command|\d+s?|[A-Za-z_]\w*=.*)$/s.test(word),
    );
    const [program = '', ...rest] = first < 0 ? [] : words.slice(first);
    const name = program.slice(program.lastIndexOf('/') + 1);
    if (piped || name === '' || LOOKS.has(name)) continue;
    if (name === 'git' && GIT_LOOKS.has(rest.find((word) => !word.startsWith('-')) ?? '')) continue;
    if (name === 'gh' && (rest[0] === 'api' || GH_LOOKS.has(rest[1] ?? ''))) continue;
    kind = [name, ...subcommands(rest)].join(' ');
  }
  return kind;
}

/** The words that choose what a program does: not its flags, paths and values. */
function subcommands(words: readonly string[]): readonly string[] {
  const chosen: string[] = [];
  for (const word of words) {
    const isRunner = RUNNERS.has(word);
    if (!isRunner && !/^[a-z][\w:-]*$/.test(word)) break;
    chosen.push(word);
    if (!isRunner) break;
  }
  return chosen;
}

const EXIT = /\bexit(?:ed)?(?: with)?(?:[ _]code| status)?"?[:=]? ?(\d{1,3})\b/i;
const EXIT_CHARS = 300;
const LONGEST_LINE = 220;
const MOST_ERRORS = 12;
const MOST_TOTALS = 3;
const HEAD_CHARS = 30_000;
const TAIL_CHARS = 50_000;

/** A place in a file with what is wrong there; a test or a check that failed; an exception. */
const FAILURE =
  /^(?:\s{0,8}(?:\S{1,200}\.\w{1,8}[:(]\d+(?:[:,]\d+)?\)?:? .{0,300}|--- FAIL.{0,200}|FAIL(?:ED|URE)?\b(?!\W{0,3}0\b).{0,200}|not ok .{0,200}|[✗✕×●✖] .{0,200}|(?:[\w.]{1,80})?(?:Error|Exception|error(?:\[\w+\])?|ERROR|fatal|panic)[:!].{0,300}|E {2,}.{0,200}|npm ERR!.{0,200}|Traceback .{0,80}|.{0,160}: (?:command not found|No such file or directory|[Pp]ermission denied)\b.{0,80}|CONFLICT .{0,200}|.{0,120}\b(?:expected|want|got)\b[ :=].{0,200}))$/;
/** What a program logs, with a place in a file before it. */
const LOGGED = /^\s{0,8}\S{1,200}:\d+: .{0,200}?\b(?:INFO|DEBUG|TRACE|[Oo]utput:)/;
/** What a test expected, and what it got. */
const ASSERTS = /\b(?:expected|want|got)\b/i;
/** A place in a file, and one at which something is not as it should be. */
const PLACE = /^\S+\.\w{1,8}[:(]\d+/;
const WRONG =
  /\b(?:expected|want|got|should|must|cannot|can't|not?|undefined|unknown|missing|unused|invalid|fail\w*|errors?)\b/i;
/** A test that failed: its runner's mark and its name. */
const FAILED_TEST =
  /^(--- FAIL:|FAILED|not ok(?= \d)|[✗✕×●✖])\s+(?:\d+ - )?(.{1,160}?)(?:\s+\(\d[\d.]* ?m?s\))?$/;
const MOST_TESTS = 20;
const TESTS_CHARS = 400;
/** Says that something failed, not what. */
const BARE = /^FAIL(?:ED|URE)?\W*$/;
/** Counts failures. */
const COUNTED =
  /\b[1-9]\d* (?:[a-z]+ )?(?:failed|failing|failures?|errors?)\b(?! fixed|[:=])|\bfail(?:ed|ures?|ing)?[:=\s]\s*[1-9]/i;
const TOTAL =
  /\b\d+ (?:tests? |checks? |specs? |files? )?(?:passed|failed|failing|passing|pass|fail|errors?|warnings?|issues?|problems?|skipped|tests|insertions?|changed)\b|^\W{0,3}(?:tests?|pass|fail|passed|failed|total)[:=\s]\s*\d+|\[no tests to run\]|\b(?:Successfully|succeeded|up to date|All checks passed|BUILD (?:SUCCESS|FAILED))\b|^(?:ok|PASS|OK)\b/i;

interface Ending {
  readonly outcome: Outcome;
  readonly guessed: boolean;
  /** The lines that say what failed. */
  readonly errors: readonly string[];
  /** The lines that say how much passed or failed, or the last line. */
  readonly totals: readonly string[];
}

/**
 * How a command ended, by the lines that decide it. The status is certain only if the host or an exit code gives it.
 */
function endingOf(result: ResultPart, command: string): Ending {
  const text = withoutColours(resultText(result));
  const sample =
    text.length > HEAD_CHARS + TAIL_CHARS
      ? `${headOf(text, HEAD_CHARS)}\n${tailOf(text, TAIL_CHARS)}`
      : text;
  const errors = new Set<string>();
  const totals: string[] = [];
  let [passed, last] = [0, ''];
  for (const line of sample.split('\n')) {
    if (line.length < 2 || line.length > 2_000) continue;
    if (/^(?:ok|PASS)\s+\S/.test(line)) passed++;
    else if (isLogged(line)) continue;
    else if (isFailure(line)) errors.add(clean(line));
    else if (TOTAL.test(line)) totals.push(clean(line));
    if (/\w/.test(line) && !SAYS_NOTHING.test(line)) last = line;
  }
  if (hasOnlyGoLogs([...errors], sample) && result.outcome !== 'failure') errors.clear();
  if (passed > 0) totals.push(`${passed} × ok${errors.size === 0 ? ', all passed' : ''}`);
  const ended =
    EXIT.exec(text.slice(0, EXIT_CHARS))?.[1] ?? EXIT.exec(text.slice(-EXIT_CHARS))?.[1];
  // The success of a pipe is that of its last command.
  const isPiped = PIPED.test(command) && !command.includes('pipefail');
  const code = isPiped && ended === '0' ? undefined : ended;
  const reported = isPiped && result.outcome === 'success' ? undefined : result.outcome;
  const failed =
    reported === 'failure' || (code !== undefined && code !== '0') || text.startsWith('[error]');
  const certain = reported !== undefined || code !== undefined || failed;
  const shown = decisive([...errors]);
  if (shown.length === 0 && totals.length === 0 && last !== '') totals.push(clean(last));
  return {
    outcome:
      reported ?? (failed || (errors.size > 0 && code === undefined) ? 'failure' : 'success'),
    guessed: !certain,
    errors: shown,
    totals: totals.slice(-MOST_TOTALS),
  };
}

const GO_LOG = /^[\w./-]{0,200}_test\.go:\d+: /;
const GO_PASSED = /^(?:[ \t]{0,40}--- PASS: |PASS$)/m;

/**
 * True if lines only look like failures: Go's tests log in the form in which they say what failed. Without the line of a
 * test that passed, none of them may say that something is wrong.
 */
function hasOnlyGoLogs(errors: readonly string[], output: string): boolean {
  if (/^exit status [1-9]/m.test(output) || !errors.every((line) => GO_LOG.test(line)))
    return false;
  return (
    GO_PASSED.test(output) || (/^ok[ \t]/m.test(output) && !errors.some((line) => WRONG.test(line)))
  );
}

const isLogged = (line: string): boolean => LOGGED.test(line) && !ASSERTS.test(line);
const isFailure = (line: string): boolean => FAILURE.test(line) || COUNTED.test(line);

/** True for a line that says what failed, not for what a program logs. */
export function saysWhatFailed(given: string): boolean {
  const line = withoutColours(given).trimEnd();
  return !BARE.test(line) && !isLogged(line) && isFailure(line);
}

const isTest = (line: string): boolean => FAILED_TEST.test(line) && !COUNTED.test(line);

/** The tests that failed, in one line; then the places at which something is wrong; then the rest. */
function decisive(errors: readonly string[]): readonly string[] {
  const places = errors.filter((line) => PLACE.test(line));
  const wrong = places.filter((line) => WRONG.test(line));
  const rest = errors.filter((line) => !isTest(line) && !BARE.test(line));
  const tests = failedTests(errors.filter(isTest));
  const lines = [...new Set([...wrong, ...places, ...rest])];
  return [...tests, ...samePlacesTogether(lines)].slice(0, MOST_ERRORS);
}

/** A place in a file, and what is wrong there. */
const PLACED = /^(\S+\.\w{1,8}:)(\d+(?::\d+)?): (.+)$/;
const MOST_PLACES = 8;

/** What is wrong in several places of a file, in one line with all of them. */
function samePlacesTogether(lines: readonly string[]): readonly string[] {
  const groups = groupedBy(lines, (line) => {
    const [, file, , wrong] = PLACED.exec(line) ?? [];
    return file === undefined ? line : `${file} ${wrong}`;
  });
  return [...groups.values()].map((own) => {
    const [, file, , wrong] = PLACED.exec(own[0] ?? '') ?? [];
    if (own.length === 1 || file === undefined) return own[0] ?? '';
    const at = own.slice(0, MOST_PLACES).map((line) => PLACED.exec(line)?.[2]);
    const more = own.length > MOST_PLACES ? ` and ${own.length - MOST_PLACES} more` : '';
    return clean(`${file}${at.join(', ')}${more}: ${wrong}`);
  });
}

/** The names of tests after the mark that their runner puts before each; a group of tests is named by those in it. */
function failedTests(lines: readonly string[]): readonly string[] {
  const found = lines.map((line) => FAILED_TEST.exec(line) ?? []);
  const all = new Set(found.map(([, , name = '']) => name));
  const groups = new Set([...all].flatMap(groupsOf));
  const names = [...all].filter((name) => !groups.has(name));
  let left = TESTS_CHARS;
  const shown = names.slice(0, MOST_TESTS).filter((name) => (left -= name.length + 2) >= 0);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return names.length === 0 ? [] : [`${found[0]?.[1] ?? ''} ${shown.join(', ')}${more}`];
}

/** The tests that a test is in: "a/b" is in "a". */
function groupsOf(name: string): readonly string[] {
  return [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index));
}

/** What a host or a shell puts around an output, or in the place of one. */
const SAYS_NOTHING =
  /\bexit(?:ed)?(?: with)?(?:[ _]code| status)?"?[:=]? ?\d|\[no test files\]$|completed with no output|^\(?no output\)?$|^<\/?\w+>$|^Shell cwd was reset|^(?:<usage>)?(?:total_tokens|tool_uses|duration_ms|agentId): |^\[[\w:-]{1,30}\] \$ |^Warning: \d+ uncommitted|^(?:Chunk ID|Wall time|Original token count|Output|Command|Total output lines):/i;

const clean = (line: string): string => oneLine(line, LONGEST_LINE);

export function withoutColours(text: string): string {
  // eslint-disable-next-line no-control-regex -- the escape character is what is looked for
  return text.includes('\u001b') ? text.replace(/\u001b\[[\d;?]{0,20}[A-Za-z]/g, '') : text;
}

const COMMAND_CHARS = 160;
const MOST_KINDS = 40;

/** A run of a command: its kind, how it ended, and the message with its result. */
export interface Run {
  readonly kind: string;
  readonly callId: string;
  readonly outcome: ToolOutcome;
  readonly endedAt: number;
  /** The command put another state of a repository into the working tree, or began to. */
  readonly moves: boolean;
}

/** The runs of commands that do something, oldest first, with how they ended. */
export function runsIn(nodes: readonly Node[]): readonly Run[] {
  const open = new Map<string, { readonly call: CallPart; readonly node: Node }>();
  const runs: Run[] = [];
  for (const node of nodes) {
    for (const call of callsOf(node.message)) open.set(call.callId, { call, node });
    for (const result of resultsOf(node.message)) {
      const asked = open.get(result.callId);
      open.delete(result.callId);
      const run = asked === undefined ? undefined : runOf(asked.call);
      if (asked === undefined || run === undefined || isRefused(resultText(result))) continue;
      const outcome = outcomeOf(asked.call.tool, run.line, result, asked.node);
      const hasMoved =
        outcome.outcome === 'success' || outcome.error?.includes('CONFLICT') === true;
      const moves = hasMoved && MOVES.test(run.line);
      const { callId } = result;
      runs.push({ kind: run.kind, callId, outcome, endedAt: node.index, moves });
    }
  }
  return runs;
}

/** The last run of every kind of command, oldest first. */
export function lastRunsByKind(
  runs: readonly Run[],
  before: readonly ToolOutcome[],
): readonly ToolOutcome[] {
  const last = new Map<string, ToolOutcome>();
  const keep = (kind: string, outcome: ToolOutcome): void => {
    last.delete(kind);
    last.set(kind, outcome);
  };
  for (const outcome of before)
    keep(kindOfCommand(outcome.call) ?? `${outcome.tool} ${outcome.call}`, outcome);
  for (const { kind, outcome, moves } of runs) {
    if (moves) for (const [each, one] of last) last.set(each, { ...one, outdated: true });
    keep(kind, outcome);
  }
  return [...last.values()].slice(-MOST_KINDS);
}

/** The messages with results of checks, of which the summary shows how they ended, and of commands that ran again later. */
export function resultsShownElsewhere(runs: readonly Run[]): ReadonlySet<number> {
  const last = new Map(runs.map((run) => [run.kind, run]));
  const shown = runs.filter((run) => last.get(run.kind) !== run || isCheck(run.outcome));
  return new Set(shown.map(({ endedAt }) => endedAt));
}

/** Puts another state of a repository into the working tree. */
const MOVES =
  /(?:^|[;&|(]\s{0,4})git (?:-C \S+ )?(?:checkout (?!-- |-b )|switch (?!-c )|(?:merge|rebase|pull|cherry-pick)(?![-\w])(?! --help)|reset --hard|stash(?![-\w])(?! (?:list|show)))/;

function outcomeOf(
  tool: string,
  line: string,
  result: ResultPart,
  { turn, index }: Node,
): ToolOutcome {
  const { outcome, guessed, errors, totals } = endingOf(result, line);
  const error = errors.join('\n');
  return {
    tool,
    outcome,
    ...(guessed ? { guessed } : {}),
    call: oneLine(line.replace(VIEWERS, ''), COMMAND_CHARS),
    ...(result.keyFields === undefined ? {} : { keyFields: result.keyFields }),
    ...(error === '' ? {} : { error }),
    ...(totals.length === 0 ? {} : { result: totals.join('; ') }),
    turn,
    at: index,
  };
}

const PIPED = /\|\s*(?:tail|head|cat|grep|sed|less|more)\b/;
/** What only shortens or joins the output. */
const VIEWERS =
  /(?:\s{0,20}2>&1|\s{0,20}\|\s{0,20}(?:tail|head|cat)(?:\s{1,20}-[\w=]{1,20}(?:\s{1,20}\d{1,9})?){0,9}){1,9}\s{0,20}$/;

/** What a call runs. Undefined for calls that read, search, edit files or keep a task list. */
function runOf(call: CallPart): { readonly kind: string; readonly line: string } | undefined {
  const command = commandIn(call);
  if (command !== undefined) {
    const kind = kindOfCommand(command);
    return kind === undefined ? undefined : { kind, line: command };
  }
  if (searches(call.tool) || /todo|task|plan|read|view|skill/i.test(call.tool)) return undefined;
  if (touchedBy(call).touches.length > 0) return undefined;
  const { tool, args } = call;
  // Long arguments would be cut in the first of them.
  const isLong = args.length > COMMAND_CHARS;
  const line = isLong ? callLine(tool, args, COMMAND_CHARS).slice(tool.length + 1) : args;
  return { kind: `${tool} ${args}`, line };
}
