/**
 * The stem of an English word, so that "rotates" finds "rotation" (Porter, "An algorithm for suffix stripping", 1980).
 * A stem need not be a word: it only has to be the same one for a word's inflections. Words of other alphabets and
 * words with digits are their own stems.
 */
export function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return STEPS.reduce((stem, step) => step(stem), word);
}

type Step = (word: string) => string;

const CONSONANT = '(?:[^aeiouy]|(?<![^aeiou])y)';
const VOWEL = '(?:[aeiou]|(?<=[^aeiou])y)';
const MEASURE = new RegExp(`${VOWEL}+${CONSONANT}+`, 'g');
const HAS_VOWEL = new RegExp(VOWEL);
const DOUBLE = /([^aeiouylsz])\1$/;
const SHORT_END = new RegExp(`^${CONSONANT}*${VOWEL}[^aeiouywx]$`);
const CVC = new RegExp(`${CONSONANT}${VOWEL}[^aeiouywx]$`);

/** How many times a vowel is followed by a consonant. */
function measure(stem: string): number {
  return stem.match(MEASURE)?.length ?? 0;
}

/** Replaces the first ending that fits, if what is left is long enough. */
function replaceEnding(
  endings: readonly (readonly [from: string, to: string])[],
  above: number,
): Step {
  return (word) => {
    const ending = endings.find(([from]) => word.endsWith(from));
    if (ending === undefined) return word;
    const stem = word.slice(0, -ending[0].length);
    return measure(stem) > above ? stem + ending[1] : word;
  };
}

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function pastAndProgressive(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const [ending] = /(?:ed|ing)$/.exec(word) ?? [];
  const stem = ending === undefined ? word : word.slice(0, -ending.length);
  if (ending === undefined || !HAS_VOWEL.test(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (DOUBLE.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && (SHORT_END.test(stem) || CVC.test(stem)) ? `${stem}e` : stem;
}

function finalY(word: string): string {
  return word.endsWith('y') && HAS_VOWEL.test(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

function longSuffix(word: string): string {
  const [ending] =
    /(?:ement|ance|ence|able|ible|ment|(?<=[st])ion|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic|ou)$/.exec(
      word,
    ) ?? [];
  const stem = ending === undefined ? word : word.slice(0, -ending.length);
  return measure(stem) > 1 ? stem : word;
}

function finalE(word: string): string {
  const stem = word.slice(0, -1);
  if (word.endsWith('e') && (measure(stem) > 1 || (measure(stem) === 1 && !CVC.test(stem))))
    return stem;
  return word.endsWith('ll') && measure(stem) > 1 ? stem : word;
}

function pairs(text: string): readonly (readonly [string, string])[] {
  return text.split(' ').map((pair) => pair.split(':') as [string, string]);
}

const STEPS: readonly Step[] = [
  plural,
  pastAndProgressive,
  finalY,
  replaceEnding(
    pairs(
      'ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ' +
        'ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log',
    ),
    0,
  ),
  replaceEnding(pairs('icate:ic ative: alize:al iciti:ic ical:ic ful: ness:'), 0),
  longSuffix,
  finalE,
];
