import { nameOf } from '../summary/file-texts.ts';

/** Names that files in many folders have: the folder says which one is meant. */
const COMMON =
  /^(?:index|main|mod|lib|app|config|settings|types?|utils?|helpers?|common|constants|test|tests|setup|package|tsconfig|readme|changelog|license|makefile|dockerfile|__init__)\b/i;
const LEAST_STEM = 5;
const LEAST_AFTER_WORD = 4;

/**
 * The path that was meant by one that no message has: the only known file of that name, in another folder. Undefined if
 * that is not certain.
 */
export function intendedPath(
  path: string,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  const base = nameOf(path);
  const same = known.get(base);
  if (same === undefined || path === base || isUsual(base)) return undefined;
  const [only, ...others] = apart([...same]);
  if (only === undefined || others.length > 0) return undefined;
  const isKnown = [...same].some((one) => isSameFile(one, path));
  return isKnown || isTest(path) !== isTest(only) ? undefined : only;
}

const isUsual = (base: string): boolean =>
  COMMON.test(base) || base.slice(0, base.indexOf('.')).length < LEAST_STEM;

const isTest = (path: string): boolean =>
  /(?:^|[/_.-])(?:tests?|specs?|e2e|mocks?)(?:[/_.-]|$)/i.test(path);

/**
 * True if one of some files has a name that is a part of this one, or the other way round, and not much shorter, or if
 * this one is such a name with another word before it.
 */
export function overlapsKnownName(name: string, known: ReadonlySet<string>): boolean {
  const [stem, ending] = stemAndEnding(name);
  return [...known].some((one) => {
    const [other, otherEnding] = stemAndEnding(one);
    const [short, long] = stem.length < other.length ? [stem, other] : [other, stem];
    const isMuch = short.length >= LEAST_STEM && short.length * 2 >= long.length;
    const isAfterWord = stem.endsWith(`_${other}`) || stem.endsWith(`-${other}`);
    if (otherEnding !== ending) return false;
    return (isMuch && long.includes(short)) || (isAfterWord && other.length >= LEAST_AFTER_WORD);
  });
}

function stemAndEnding(name: string): readonly [string, string] {
  const at = name.lastIndexOf('.');
  return [name.slice(0, at).toLowerCase(), name.slice(at)];
}

/** True if one of two paths is the end of the other. */
export const isSameFile = (a: string, b: string): boolean => isEndOf(a, b) || isEndOf(b, a);

const isEndOf = (end: string, path: string): boolean =>
  `/${path}`.endsWith(`/${end.replace(/^\//, '')}`);

/** Paths of one file in several forms, from the root or from a folder, count once: the longest. */
function apart(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isEndOf(path, other)));
}
