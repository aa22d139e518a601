import { contentWords } from '../message/text.ts';
import type { Detail, Evidence } from './evidence.ts';
import { nameOf } from '../summary/file-texts.ts';
import { pathsIn } from './paths.ts';

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
