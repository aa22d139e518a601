import { resultsOf, resultText, type ResultPart } from '../thread/message.ts';
import { oneLine } from '../thread/text.ts';
import type { Node } from '../thread/thread.ts';
import { callLine, quoted, shortened } from './quote.ts';
import { VOICE } from './scan.ts';
import type { ToolOutcome } from './summary.ts';
import type { CallTrail, Placed, Survey } from './survey.ts';
import { searches } from './touch.ts';

const FAILED =
  /^\[error\]|\b(?:exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]\d*|FAIL(?:ED|URE)?\b|Traceback|panic:|fatal:|[Ee]rror:|ERROR|command not found|[Nn]o such file|not found in|SyntaxError|TypeError|undefined:|[Pp]ermission denied)/m;
const REFUSED = /^\s*(?:\[error\]|<tool_use_error>|Error)/;
/** What a file or a search holds is no outcome. */
const LOOKS =
  /"(?:command|cmd)"\s{0,3}:\s{0,3}"(?:cd \S{1,200} && )?(?:grep|rg|git (?:diff|show|log|grep|blame)|gh (?:pr|api|issue)|cat|sed|find|ls|head|tail|nl|jq|awk)\b/;
const SAMPLE = 3_000;
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
  const ended: Ended[] = before.map((outcome) => ({ ...outcome, what: outcome.call }));
  const failing = new Map<string, number>();
  ended.forEach(({ what, error, resolution }, i) => {
    if (error !== undefined && resolution === undefined) failing.set(what, i);
  });
  for (const { message, turn, index } of nodes) {
    const answered = survey.answeredAt(index);
    for (const [i, result] of resultsOf(message).entries()) {
      const now = endOf(result, answered[i], survey, turn);
      const known = failing.get(now.what);
      const earlier = known === undefined ? undefined : ended[known];
      if (known !== undefined && earlier !== undefined) {
        if (now.error === undefined)
          ended[known] = { ...earlier, resolution: `worked at m${index + 1}` };
        else if (now.error === earlier.error) ended[known] = { ...earlier, turn };
        if (now.error === undefined || now.error === earlier.error) failing.delete(now.what);
      }
      if (now.error !== undefined) {
        const same = earlier !== undefined && now.error === earlier.error;
        failing.set(now.what, same && known !== undefined ? known : ended.length);
        if (same) continue;
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
  return {
    tool,
    outcome: result.outcome ?? (error === undefined ? 'success' : 'failure'),
    call: line,
    turn,
    ...(call === undefined ? {} : { at: call.index }),
    what: trail?.file === undefined ? line : `${tool} ${trail.file.path}`,
    ...(result.keyFields === undefined ? {} : { keyFields: result.keyFields }),
    ...(error === undefined ? {} : { error }),
  };
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

/** The line that tells of a failure. "Exit code 1" alone says nothing: the next telling line stands beside it. */
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
  const found = FAILED.exec(sample);
  if (found === null) return undefined;
  const line = lineAround(sample, found.index);
  if (line.text.length >= 28 || line.end >= sample.length) return shortened(line.text, ERROR_CHARS);
  const rest = sample.slice(line.end + 1);
  const next = lineAround(rest, FAILED.exec(rest)?.index ?? rest.search(/\S/));
  return shortened(`${line.text} ${next.text}`.trim(), ERROR_CHARS);
}

function lineAround(text: string, at: number): { readonly text: string; readonly end: number } {
  const place = Math.max(0, at);
  const feed = text.indexOf('\n', place);
  const end = feed < 0 ? text.length : feed;
  const start = place === 0 ? 0 : text.lastIndexOf('\n', place - 1) + 1;
  return { text: oneLine(quoted(text.slice(start, end), VOICE.tool), ERROR_CHARS * 2), end };
}
