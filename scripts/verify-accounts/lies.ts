// Lies made from true sentences: another number, another file, done instead of not done, allowed instead of forbidden.
import { nameOf, pathsIn } from '@bobbin/core/internal';

export type LieKind = 'number' | 'file' | 'done' | 'allowed';

export interface Lie {
  readonly kind: LieKind;
  readonly truth: string;
  readonly text: string;
}

const NUMBER = /(?<![\w./#:@-])(\d(?:[\d,]*\d)?(?:\.\d+)?)(?![\w/]|[.:,-]\d)/g;
const DONE: readonly (readonly [RegExp, string])[] = [
  [/\bnot yet (\w+ed)\b/i, '$1'],
  [/\bnot (implemented|committed|pushed|run|done|complete|started|merged|tested|updated)\b/i, '$1'],
  [/\bstill needs? to be (\w+)/i, 'was $1'],
  [/\bpending\b/i, 'completed'],
  [/\bincomplete\b/i, 'complete'],
  [/\bfailing\b/i, 'passing'],
  [/\bfails\b/i, 'passes'],
  [/\bfailed\b/i, 'passed'],
  [/\bin progress\b/i, 'completed'],
];
const ALLOWED: readonly (readonly [RegExp, string])[] = [
  [/\bmust not\b/i, 'may'],
  [/\bshould not\b|\bshouldn't\b/i, 'should'],
  [/\bdo not\b|\bdon't\b/i, 'do'],
  [/\bnever\b/i, 'always'],
  [/\bforbidden\b/i, 'allowed'],
  [/\bcannot\b/i, 'can'],
];

/** Numbers from 0 to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

/** The lies that can be made from a sentence. `files` are names of files in the same conversation. */
export function liesFrom(
  sentence: string,
  said: string,
  files: readonly string[],
  random: () => number,
): readonly Lie[] {
  if (sentence.length < 25 || sentence.endsWith(':')) return [];
  const lie = (kind: LieKind, text: string | undefined): readonly Lie[] =>
    text === undefined || text === sentence ? [] : [{ kind, truth: sentence, text }];
  return [
    ...lie('number', otherNumber(sentence, said, random)),
    ...lie('file', otherFile(sentence, said, files, random)),
    ...lie('done', turned(sentence, DONE)),
    ...lie('allowed', turned(sentence, ALLOWED)),
  ];
}

function otherNumber(sentence: string, said: string, random: () => number): string | undefined {
  const found = [...sentence.matchAll(NUMBER)].find(
    ({ 1: value = '', index }) => index > 3 && value.length >= 2 && said.includes(value),
  );
  if (found === undefined) return undefined;
  const [, value = ''] = found;
  const other = Math.floor(Number(value.replaceAll(',', '')) * (0.3 + 2 * random())) + 1;
  return (
    sentence.slice(0, found.index) + String(other) + sentence.slice(found.index + value.length)
  );
}

function otherFile(
  sentence: string,
  said: string,
  files: readonly string[],
  random: () => number,
): string | undefined {
  const names = [...new Set(pathsIn(sentence).map(nameOf))];
  const [name = ''] = names;
  if (names.length !== 1 || !said.includes(name)) return undefined;
  const extension = name.slice(name.lastIndexOf('.'));
  const others = files.filter((file) => file !== name && file.endsWith(extension));
  const other = others[Math.floor(random() * others.length)];
  if (other === undefined) return undefined;
  return sentence.replaceAll(name, random() < 0.5 ? other : `renamed_${name}`);
}

function turned(
  sentence: string,
  turns: readonly (readonly [RegExp, string])[],
): string | undefined {
  const turn = turns.find(([pattern]) => pattern.test(sentence));
  return turn === undefined ? undefined : sentence.replace(turn[0], turn[1]);
}
