import { baseOf } from './evidence.ts';

/** The path that a path of no message was probably meant to be; undefined if it is known, or nothing is certain. */
export function intendedPath(
  path: string,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  const base = baseOf(path);
  const same = known.get(base);
  if (same === undefined) return renamed(path, known);
  const [only, ...others] = foldersApart([...same].filter((one) => one.includes('/')));
  if (path === base || only === undefined || others.length > 0) return undefined;
  return isEndOf(path, only) || [...same].some((one) => isEndOf(one, path)) ? undefined : only;
}

const isEndOf = (end: string, path: string): boolean =>
  `/${path}`.endsWith(`/${end.replace(/^\//, '')}`);

/** Paths of one file in several forms, from the root or from a folder, count once: the longest. */
function foldersApart(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isEndOf(path, other)));
}

/** The file in the same folder whose name has one word more or less. */
function renamed(
  path: string,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  const folder = path.slice(0, -baseOf(path).length);
  const words = wordsOf(baseOf(path));
  const near = [...known].filter(([base]) => differsByOneWord(words, wordsOf(base)));
  const paths = near.flatMap(([base, all]) =>
    [...all].some((one) => isEndOf(folder, one.slice(0, -base.length)) || folder === '')
      ? [folder + base]
      : [],
  );
  return paths.length === 1 ? paths[0] : undefined;
}

const wordsOf = (name: string): readonly string[] => name.toLowerCase().split(/[^a-z0-9]+/);
/** A word that makes the name of another file. */
const VARIANT =
  /^(?:tests?|specs?|e2e|mocks?|types?|utils?|old|new|bak|impl|design|plan|v?\d+|min|d|config|index|main|[a-z])$/;

function differsByOneWord(words: readonly string[], others: readonly string[]): boolean {
  const [long, short] = words.length > others.length ? [words, others] : [others, words];
  if (long.length !== short.length + 1 || short.length < 2) return false;
  const at = long.findIndex((word, i) => word !== short[i]);
  if (VARIANT.test(long[at] as string)) return false;
  return long.slice(at + 1).every((word, i) => word === short[at + i]);
}
