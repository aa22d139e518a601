import { lastOf, reversed } from '../check/list.ts';
import { jsonText } from '../message/json.ts';
import { linesOf, oneLine } from '../message/text.ts';
import type { ArtifactReference, Problem, RepositoryEvent, ToolOutcome } from '../plan/summary.ts';

export function repositoryTexts(events: readonly RepositoryEvent[]): readonly string[] {
  const branch = lastOf(events, ({ kind }) => kind === 'branch');
  return events
    .filter((event) => event.kind !== 'in sync')
    .filter((event) => event.kind !== 'branch' || event === branch)
    .map(({ kind, text, at }) => quoteLines(`${kind} ${text} [m${at + 1}]`));
}

/** A hint that only repeats the description is not useful. */
export function artifactText({ description, hint }: ArtifactReference): string {
  return hint.includes(description) ? description : `${description} (${hint})`;
}

/** Commands whose results the list of commits shows, or that only show how things were. */
const SHOWN_ELSEWHERE =
  /^(?:(?:cd \S+|pwd) && )*git (?:-C \S+ )?(?:status|log|fetch|checkout|switch|ls-\w+|stash|add|commit|push)\b/;

/** The commands whose outcome is news to a reader. A failure that is over says so, with its first line only. */
export function tellingOutcomes(outcomes: readonly ToolOutcome[]): readonly ToolOutcome[] {
  return outcomes
    .filter(
      ({ call, outcome, guessed, result, error }) =>
        (outcome === 'failure' && guessed !== true) ||
        (!SHOWN_ELSEWHERE.test(call) && (result ?? error ?? '') !== ''),
    )
    .map((one) => {
      const later = hasPassed(one) ? undefined : outcomes.find((each) => settles(each, one));
      if (later === undefined) return one;
      const error = one.error === undefined ? {} : { error: linesOf(one.error)[0] ?? '' };
      return { ...one, ...error, resolution: `passed later, in m${(later.at ?? 0) + 1}` };
    });
}

/** False if a command failed, or if lines of its output say so. */
export const hasPassed = ({ outcome, error }: ToolOutcome): boolean =>
  outcome !== 'failure' && error === undefined;

const TESTS = /\b(?:tests?|pytest|jest|vitest)\b/i;
const LINTS = /\b(?:lint|clippy|ruff|mypy)\b/i;
const BUILDS = /\b(?:build|compile|make)\b/i;
/** The kinds of checks, as commands and people name them. */
export const CHECK_KINDS: readonly RegExp[] = [TESTS, LINTS, BUILDS];
/** What runs need not have passed these. */
const TYPES = /\b(?:tsc|vet|mypy|type-?check)\b/i;
/** Chooses some of the tests. */
const SOME_TESTS = /\s-(?:-?run|k|t|-grep|-filter)\b|[\w/]\.(?:test|spec)\.|_test\.|\btest_\w/;

/** The suites that a call names, such as "integration" in `test:integration` and in `-tags=integration`. */
const suitesOf = (call: string): readonly string[] =>
  [...call.matchAll(/\btests?:(?!:)([\w:-]{1,40})|-tags[= ](\w{1,40})/g)].map(
    ([, task, tag]) => task ?? tag ?? '',
  );

/** The files and folders that a call is about: "./..." is all of them. */
const targetsOf = (call: string): readonly string[] =>
  call.split(/\s+/).filter((word) => /^[\w.@-]*\/[\w./@-]+$/.test(word) && !word.includes('...'));

/** True if a later run shows that a failure is over: the same kind of check passed, or what failed to build runs. */
export function settles(later: ToolOutcome, failed: ToolOutcome): boolean {
  if ((later.at ?? 0) <= (failed.at ?? 0)) return false;
  if (ranAfter(later, failed)) return true;
  if (!hasPassed(later)) return false;
  if (TYPES.test(failed.call)) return TYPES.test(later.call);
  if (TESTS.test(failed.call))
    return (
      TESTS.test(later.call) &&
      ((!SOME_TESTS.test(later.call) && targetsOf(later.call).length === 0) ||
        later.call === failed.call) &&
      (suitesOf(later.call).some((suite) => /^(?:all|ci)$/.test(suite)) ||
        suitesOf(failed.call).every((suite) => suitesOf(later.call).includes(suite)))
    );
  if (LINTS.test(failed.call)) return LINTS.test(later.call);
  if (!BUILDS.test(failed.call)) return false;
  return CHECK_KINDS.some((kind) => kind.test(later.call)) || checksTypesOf(later, failed);
}

/** True if a later run checks the types of all that another one builds. */
const checksTypesOf = (later: ToolOutcome, built: ToolOutcome): boolean =>
  TYPES.test(later.call) && argumentsOf(built).every((word) => argumentsOf(later).includes(word));

const argumentsOf = ({ call }: ToolOutcome): readonly string[] =>
  call.split(/\s+/).filter((word) => /^-|[/.]/.test(word));

const RAN_TESTS =
  /--- FAIL|^FAIL\b|^not ok|^\s{0,8}[✗✕✖×]|\b\d+ (?:tests? )?(?:failed|passed|failing|passing)\b/m;

/** True for "a && b" after a failure of "a" alone, if the tests of "b" ran: they run only if "a" passes. */
function ranAfter({ call, error = '', result = '' }: ToolOutcome, failed: ToolOutcome): boolean {
  const chain = call.split('&&').map((part) => part.trim());
  const last = chain.pop() ?? '';
  return (
    chain.includes(failed.call.trim()) && TESTS.test(last) && RAN_TESTS.test(`${error}\n${result}`)
  );
}

/** A command line says by itself that a shell ran it. */
const SHELL =
  /^(?:bash|sh|zsh|shell|local_shell|terminal|exec(?:ute)?(?:_\w+)?|run_\w*(?:command|cmd|shell)\w*)$/i;

export const isShell = ({ tool }: ToolOutcome): boolean => SHELL.test(tool);

/** Commands whose outcome the next edit may change: the last word of a name or a path says so. */
const CHECKS =
  /(?:^|[\s;&|("'])[\w./@:-]{0,120}?\b(?:tests?|pytest|jest|vitest|lint|build|check|tsc|vet|clippy|mypy|ruff|compile|make)\b(?!-)[\w:]{0,40}(?:\.\w{1,4})?(?=$|[\s;&|)"'])/i;
/** Says how a check ended. */
const VERDICT =
  /\b(?:ok|pass\w*|succe\w+|clean|finished|compiled|built|done|up to date|no \w+ (?:found|to run)|\d+ (?:tests?|issues?|errors?|problems?|warnings?|failures?))\b/i;

/** True for the run of a check that says how it ended. */
export function isCheck(one: ToolOutcome): boolean {
  return CHECKS.test(one.call) && (!hasPassed(one) || VERDICT.test(one.result ?? ''));
}

const PASSES =
  /\b(?:ok|pass\w*|succe\w+|clean|(?:0|no) (?:\w+ )?(?:issues?|errors?|problems?|warnings?|failures?)|built|up to date)\b/i;

/** True for a run of which the host or its own words say that it passed. */
export const saysPassed = ({ guessed, result = '' }: ToolOutcome): boolean =>
  guessed !== true || PASSES.test(result);

const MOST_FAILING = 3;
const CALL_CHARS = 120;

/** The checks whose last run failed, and whether files were changed since: what a list of items says is done may not be. */
export function failingTexts(
  outcomes: readonly ToolOutcome[],
  lastEdit: number,
): readonly string[] {
  return tellingOutcomes(outcomes)
    .filter((one) => isCheck(one) && !hasPassed(one) && one.resolution === undefined)
    .slice(-MOST_FAILING)
    .map(({ call, at }) => {
      const where = at === undefined ? '' : ` [m${at + 1}]`;
      const since = at !== undefined && at < lastEdit ? ', before the last edits' : '';
      return `- Failed when last run${where}${since}: ${oneLine(call, CALL_CHARS)}`;
    });
}

/** A command with its status if that is certain, and the lines that decide how it ended. */
export function outcomeText(o: ToolOutcome, errorLines: number, lastEdit: number): string {
  const isOld = (o.at ?? lastEdit) < lastEdit;
  const since =
    !CHECKS.test(o.call) || o.resolution !== undefined
      ? ''
      : isOld
        ? ' (before the last edits)'
        : o.outdated === true
          ? ' (before the last checkout or merge)'
          : '';
  const where = o.at === undefined ? '' : `[m${o.at + 1}] `;
  const status = o.guessed === true ? '' : o.outcome === 'failure' ? ' → failed' : ' → ok';
  const fields = o.keyFields === undefined ? '' : ` ${jsonText(o.keyFields)}`;
  const tool = SHELL.test(o.tool) ? '' : `${o.tool} `;
  const head = `- ${where}${tool}${o.call}${status}${since}${fields}${because(o.resolution)}`;
  const errors = o.error === undefined ? [] : linesOf(o.error);
  const more = errors.length > errorLines ? [`(${errors.length - errorLines} more)`] : [];
  const result = o.result === undefined ? [] : [o.result];
  const returned = [...errors.slice(0, errorLines), ...more, ...result];
  return returned.length === 0 ? head : `${head}\n${quoteLines(returned.join('\n'))}`;
}

/** The commands that the prompt does not show, each with as many lines of what failed as leave space for older ones; one line at least. */
export function outcomeTexts(
  outcomes: readonly ToolOutcome[],
  lastEdit: number,
  { mostLines, mostChars }: { readonly mostLines: number; readonly mostChars: number },
): readonly string[] {
  let left = mostChars;
  const unseen = tellingOutcomes(outcomes).filter(({ isShown }) => isShown !== true);
  const newestFirst = reversed(unseen).map((outcome) => {
    let lines = mostLines;
    let text = outcomeText(outcome, lines, lastEdit);
    const least = isCheck(outcome) && !hasPassed(outcome) ? LEAST_ERROR_LINES : 1;
    while (
      lines > 1 &&
      (text.length > left || (text.length > left * NEWEST_SHARE && lines > least))
    ) {
      lines--;
      text = outcomeText(outcome, lines, lastEdit);
    }
    left -= text.length + 1;
    return text;
  });
  return reversed(newestFirst);
}

/** What a check says that still fails is what the work goes on with. */
const LEAST_ERROR_LINES = 5;
/** How much of what is left for commands the newest of them may take for lines after the first. */
const NEWEST_SHARE = 0.7;

/** What failed and works since, with its cause in the agent's words and the error as the tool returned it. */
export function solvedProblemText(problem: Problem): string {
  const { at, call, error, said, files, solvedAt, solvedBy } = problem;
  const changed = files.length === 0 ? '' : ` after changes in ${files.join(', ')}`;
  const by = solvedBy === undefined ? '' : `${oneLine(solvedBy, CALL_CHARS)} `;
  const head = `- [m${at + 1}] ${oneLine(call, CALL_CHARS)} failed, ${by}passed in m${solvedAt + 1}${changed}: ${said}`;
  return `${head}\n${quoteLines(error)}`;
}

/** Every line of a tool's text is marked, so that it cannot be mistaken for someone else's words. */
export function quoteLines(text: string): string {
  return `· ${linesOf(text).join('\n· ')}`;
}

export const indented = (text: string): string => linesOf(text).join('\n  ');

export const because = (reason: string | undefined): string =>
  reason === undefined ? '' : ` — ${reason}`;
