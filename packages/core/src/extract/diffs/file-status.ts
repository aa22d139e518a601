import { headOf } from '../../message/text.ts';
import type { SeenChange } from '../../plan/summary.ts';

/** `M src/a.ts`, `?? notes.md`, `R100 old.ts new.ts`, as git lists files that differ. */
const STATUS =
  /^(?:([MADRCTU?!])([MADRCTU?! ]?)|[ ]([MADRCTU])|R\d{3})[ \t]+(\S[^\t]*?)(?:(?:\t| -> )(\S.*))?$/;
/** ` src/a.ts | 12 ++--` */
const STAT = /^ (\S.*?)\s+[|] +(\d+) ([+-]*)$/;
/** ` create mode 100644 src/a.ts`, as git says after a commit or a merge. */
const MODE = /^ (create|delete) mode \d{6} (\S.*)$/;
const MOVED = /^(.*)\{(.*) => (.*)\}(.*)$/;
const LONGEST = 40_000;
const LISTS = /\bstatus\b|--name-status|--porcelain|--short\b/;
const PATHLIKE = /[./]|^[\w-]+$/;

type Status = Omit<SeenChange, 'at'>;

/** The files that git lists as changed in a result, by what it was asked: `git status --short`, `--name-status`, `--stat`. */
export function fileStatuses(asked: string, text: string): readonly Status[] {
  if (!/\bgit\b/.test(asked)) return [];
  const lists = LISTS.test(asked);
  return headOf(text, LONGEST)
    .split('\n')
    .flatMap((line) =>
      line.length > 400 ? [] : (countIn(line) ?? (lists ? statusIn(line) : undefined) ?? []),
    );
}

function countIn(line: string): Status | undefined {
  const stat = STAT.exec(line);
  if (stat !== null) return { ...renamed(stat[1] ?? ''), lines: Number(stat[2]) };
  const mode = MODE.exec(line);
  if (mode !== null)
    return { path: mode[2] ?? '', does: mode[1] === 'create' ? 'added' : 'deleted' };
  return undefined;
}

function statusIn(line: string): Status | undefined {
  const status = STATUS.exec(line);
  if (status === null) return undefined;
  const [, first = 'R', second = '', third, path = '', to] = status;
  if (!PATHLIKE.test(path) || (/\s/.test(path) && to === undefined)) return undefined;
  const letter = third ?? (first === ' ' || first === '' ? second : first);
  const does = DOES[letter] ?? 'modified';
  return to === undefined ? { path, does } : { path: to, from: path, does: 'renamed' };
}

const DOES: Readonly<Record<string, NonNullable<Status['does']>>> = {
  A: 'added',
  C: 'added',
  '?': 'added',
  D: 'deleted',
  R: 'renamed',
};

/** `src/{old => new}/a.ts`, `old.ts => new.ts` */
function renamed(path: string): Status {
  const [, head = '', old = '', now = '', tail = ''] = MOVED.exec(path) ?? [];
  const joined = (middle: string): string => `${head}${middle}${tail}`.replaceAll('//', '/');
  if (old !== '' || now !== '') return { path: joined(now), from: joined(old), does: 'renamed' };
  const [from = '', to] = path.split(' => ');
  return to === undefined ? { path } : { path: to, from, does: 'renamed' };
}
