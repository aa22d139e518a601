import { callsOf, resultsOf, resultText } from '../../message/message.ts';
import { headOf, oneLine } from '../../message/text.ts';
import type { RepositoryEvent } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';
import { commandIn, shellCommands } from '../anchors/shell.ts';
import { isRefused } from '../story/user-words.ts';

const COMMIT = /^\[([\w./-]{1,120})(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.{1,200})$/m;
const SWITCHED = /^(?:Switched to (?:a new )?branch '([^'\n]{1,120})'|On branch (\S{1,120}))/m;
const PUSHED =
  /^\s{0,4}(?:[+*] )?(?:\[new branch\]|[0-9a-f]{7,}\.{2,3}([0-9a-f]{7,}))\s+(\S{1,120}) -> (\S{1,120})/m;
/** What a status says of a branch that was pushed. */
const UP_TO_DATE = /^Your branch is up to date with '[\w.-]{1,60}\/([^'\n]{1,120})'/m;
const PULL_REQUEST = /https:\/\/[\w.-]{1,60}\/[\w.-]{1,60}\/[\w.-]{1,80}\/pull\/\d+/;
/** Other commands show the pull requests of other people too. */
const OPENS_PULL_REQUEST = /\bgh pr (?:create|edit|ready|merge|reopen)\b/;
/** A repository that was made for a trial. */
const ELSEWHERE =
  /\bcd (?:\/private)?\/(?:tmp|var\/folders)\/|\bcd (?:\/private)?\/tmp\b|\bmktemp\b|\bgit init\b/;
const ASKS_BRANCH =
  /^(?:cd \S+ && )?git (?:branch --show-current|rev-parse --abbrev-ref HEAD)\s*(?:$|2>|&&|;)/;
const READ_CHARS = 6_000;
const MOST_EVENTS = 40;

/** Commits, branches, pushes and pull requests, oldest first, each once. */
export function repositoryEvents(
  nodes: readonly Node[],
  before: readonly RepositoryEvent[],
): readonly RepositoryEvent[] {
  const events = new Map(before.map((event) => [keyOf(event), event]));
  const lines = new Map<string, string>();
  let staged: Staged = NOTHING_STAGED;
  for (const { message, index } of nodes) {
    for (const call of callsOf(message)) {
      const line = /\b(?:git|gh)\b/.test(call.args) ? commandIn(call) : undefined;
      if (line !== undefined) lines.set(call.callId, line);
    }
    for (const result of resultsOf(message)) {
      const line = lines.get(result.callId);
      if (line === undefined || ELSEWHERE.test(line)) continue;
      lines.delete(result.callId);
      const text = headOf(resultText(result), READ_CHARS);
      if (isRefused(text)) continue;
      if (result.outcome !== 'failure') removeCommits(events, commitsUndone(line, text));
      if (REBASED.test(text)) markRebased(events);
      staged = withStaged(staged, line);
      for (const event of eventsIn(line, text)) {
        const isCommit = event.kind === 'commit';
        const paths = isCommit ? pathsOf(staged, event.text) : undefined;
        events.delete(keyOf(event));
        events.set(keyOf(event), {
          ...event,
          at: index,
          ...(paths === undefined ? {} : { paths }),
        });
        if (isCommit) staged = NOTHING_STAGED;
      }
    }
  }
  return [...events.values()].slice(-MOST_EVENTS);
}

/** Of several pushes of a branch the last one counts. */
const keyOf = ({ kind, text }: Pick<RepositoryEvent, 'kind' | 'text'>): string =>
  `${kind} ${kind === 'push' ? text.replace(/ at [0-9a-f]+$/, '').replace(/^(\S+) → \1$/, '$1') : text}`;

/** What was staged since the last commit, as far as commands say so. */
interface Staged {
  readonly paths: readonly string[];
  /** All changes may be staged. */
  readonly isAll: boolean;
}

const NOTHING_STAGED: Staged = { paths: [], isAll: false };
const MOST_STAGED = 60;

function withStaged(staged: Staged, line: string): Staged {
  return shellCommands(line).reduce(({ paths, isAll }: Staged, { words }): Staged => {
    const [program, name, ...rest] = words;
    if (program !== 'git' || (name !== 'add' && name !== 'commit')) return { paths, isAll };
    const flags = rest.filter((word) => word.startsWith('-'));
    const named = name === 'add' ? rest.filter((word) => !word.startsWith('-')) : [];
    const takesAll =
      name === 'add'
        ? flags.length > 0 || named.some((path) => /^\.{0,2}\/?$|[*$]/.test(path))
        : flags.some((flag) => /^-\w*a|^--all$/.test(flag));
    return { paths: [...paths, ...named].slice(-MOST_STAGED), isAll: isAll || takesAll };
  }, staged);
}

/** What a commit holds: nothing of the agent's own if it merges, and undefined if that is not known. */
function pathsOf({ paths, isAll }: Staged, subject: string): readonly string[] | undefined {
  if (/^[0-9a-f]+ Merge\b/.test(subject)) return [];
  return isAll || paths.length === 0 ? undefined : paths;
}

const AMENDS = /(?:^|[|;&]\s*)git (?:-C \S+ )?commit\b[^|;&\n]{0,400}\s--amend\b/m;
const RESETS =
  /(?:^|[|;&]\s*)git (?:-C \S+ )?reset(?: (?:-q|--quiet|--soft|--mixed|--hard|--keep)){0,3} HEAD(?:~(\d{0,2})|(\^+))(?=[ \t]*(?:$|[|;&]|2>))/m;
/** What a command quotes may name another one. */
const QUOTED = /"[^"\n]*\s[^"\n]*"|'[^'\n]*\s[^'\n]*'/g;

/** How many of the newest commits a command takes back or replaces, by what it returned. */
function commitsUndone(line: string, text: string): number {
  const bare = line.replace(QUOTED, ' ');
  const reset = /^(?:fatal|error): /m.test(text) ? null : RESETS.exec(bare);
  const back = reset === null ? 0 : Number(reset[1] || reset[2]?.length || 1);
  return back + (AMENDS.test(bare) && COMMIT.test(text) ? 1 : 0);
}

function removeCommits(events: Map<string, RepositoryEvent>, count: number): void {
  const commits = [...events].filter(([, { kind }]) => kind === 'commit').map(([key]) => key);
  for (const key of count === 0 ? [] : commits.slice(-count)) events.delete(key);
}

const REBASED = /^Successfully rebased and updated /m;
const BEFORE_REBASE = ' (hash before a rebase)';

/** A rebase gives other hashes to the commits that it moves: they are among those that were not pushed. */
function markRebased(events: Map<string, RepositoryEvent>): void {
  const pushedAt = Math.max(
    ...[...events.values()].map(({ kind, at }) =>
      kind === 'push' || kind === 'in sync' ? at : -1,
    ),
  );
  for (const [key, event] of events)
    if (event.kind === 'commit' && event.at > pushedAt && !event.text.endsWith(BEFORE_REBASE))
      events.set(key, { ...event, text: event.text + BEFORE_REBASE });
}

function* eventsIn(line: string, text: string): Iterable<Omit<RepositoryEvent, 'at'>> {
  const branch = SWITCHED.exec(text);
  if (branch !== null && /\bgit\b/.test(line))
    yield { kind: 'branch', text: branch[1] ?? branch[2] ?? '' };
  const asked = ASKS_BRANCH.test(line) ? /^[\w./-]{1,120}/.exec(text.trim())?.[0] : undefined;
  if (asked !== undefined) yield { kind: 'branch', text: asked };
  const commit = COMMIT.exec(text);
  if (commit !== null) {
    const [, on = '', hash = '', subject = ''] = commit;
    yield { kind: 'commit', text: `${hash} ${oneLine(subject, 120)}` };
    if (!on.startsWith('detached')) yield { kind: 'branch', text: on };
  }
  const pushed = PUSHED.exec(text);
  if (pushed !== null && /\bpush\b/.test(line)) {
    const [, head, from = '', to = ''] = pushed;
    const names = from === to ? to : `${from} → ${to}`;
    yield { kind: 'push', text: head === undefined ? names : `${names} at ${head}` };
  }
  const upToDate = UP_TO_DATE.exec(text)?.[1];
  if (upToDate !== undefined) yield { kind: 'in sync', text: upToDate };
  const pull = OPENS_PULL_REQUEST.test(line) ? PULL_REQUEST.exec(text)?.[0] : undefined;
  if (pull !== undefined) yield { kind: 'pull request', text: pull };
}
