import { contentWords } from '../message/text.ts';
import type { Detail, Evidence } from './evidence.ts';
import { nameOf } from '../summary/file-texts.ts';
import { codeNamesIn } from './located-names.ts';
import { pathsIn } from './paths.ts';
import { saysWhatToDo } from './wishes.ts';

/** A sentence with fewer words beside the file's name says too little to be compared. */
const LEAST_WORDS = 3;
/** A file that got another name, or is treated like another one, has what is said of that one. */
const LIKE_ANOTHER = /\b(?:renam|moved?\b|same\b|also\b|likewise|too\b)/i;

/**
 * Another file of the same kind that a statement about the same names, if nothing that is said about it is said near
 * the file of the sentence.
 */
export function otherFile(sentence: string, evidence: Evidence): Detail | undefined {
  const paths = pathsIn(sentence);
  const [name = '', ...more] = new Set(paths.map(nameOf));
  if (name === '' || more.length > 0 || !evidence.mentions(name)) return undefined;
  const rest = paths.reduce((text, path) => text.replace(path, ' '), sentence);
  if (contentWords(rest).length < LEAST_WORDS) return undefined;
  const lower = name.toLowerCase();
  const isNear = evidence
    .matches(sentence)
    .some(({ statement }) => evidence.isNear(lower, statement));
  if (isNear || evidence.linesWith(lower).some((line) => LIKE_ANOTHER.test(line))) return undefined;
  const ending = name.slice(name.lastIndexOf('.'));
  for (const statement of evidence.aboutTheSame(sentence)) {
    const said = pathsIn(statement.text).find((path) => path.endsWith(ending));
    if (said !== undefined && statement.isSaid) return { said, statement };
  }
  return undefined;
}

/**
 * The file in which the messages have the names of code that a sentence, or what is listed below it, has in another
 * file of the same kind: one that the messages show, without any of these names.
 */
export function otherPlace(
  sentence: string,
  below: string,
  evidence: Evidence,
): Detail | undefined {
  if (saysWhatToDo(sentence)) return undefined;
  const [file = '', ...more] = new Set(pathsIn(sentence).map(nameOf));
  const { located } = evidence;
  if (more.length > 0 || !located.shown.has(file)) return undefined;
  const names = [...codeNamesIn(`${sentence}\n${below}`)];
  if (names.some((name) => located.mayBeIn(name, file))) return undefined;
  const all = names.map((name) => located.filesOf(name)).filter(({ size }) => size > 0);
  // A single name that is in several files may be used in one more.
  if (all.length === 1 && all.some(({ size }) => size > 1)) return undefined;
  const ending = file.slice(file.lastIndexOf('.'));
  const counts = new Map<string, number>();
  let best: Detail | undefined;
  for (const [said, statement] of all.flatMap((files) => [...files])) {
    if (!said.endsWith(ending)) continue;
    const count = (counts.get(said) ?? 0) + 1;
    counts.set(said, count);
    if (count > (counts.get(best?.said ?? '') ?? 0) || best === undefined)
      best = { said, statement };
  }
  return best;
}
