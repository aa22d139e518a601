import { nameOf } from '../summary/file-texts.ts';

/** The name of a file, with or without folders. */
export const PATH: RegExp = /(?<![\w@~+/-])(?:[\w@.~+-]*\/)*[\w@+-][\w@.+-]*\.[A-Za-z]{1,5}\b/g;

/** The names of files in a text. */
export function pathsIn(text: string): readonly string[] {
  return (text.match(PATH) ?? []).filter((path) => /[A-Za-z_-]{2}.*\.[A-Za-z]/.test(path));
}

const LONGEST_PATH = 300;
const WHOLE_PATH = /^[\w@.~+/-]*\/[\w@+-][\w@.+-]*\.[A-Za-z]{1,5}$/;

/** What may be a path: a long run of other characters is skipped at once. */
const pathTokens = (text: string): readonly string[] =>
  text
    .split(/[^\w@.~+/-]+/)
    .map((token) => (token.length > LONGEST_PATH ? '' : token.replace(/[.]+$/, '')));

/** The paths of files in folders. */
export const foldedPaths = (text: string): readonly string[] =>
  pathTokens(text).filter(
    (token) => token.includes('/') && !token.includes('//') && WHOLE_PATH.test(token),
  );

/** The names of files, with and without folders. */
export const fileNamesIn = (text: string): readonly string[] =>
  pathTokens(text)
    .map(nameOf)
    .filter((name) => FILE_NAME.test(name));

const FILE_NAME = /^[\w@+-][\w@.+-]*\.[A-Za-z]{1,5}$/;
