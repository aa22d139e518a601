import { FIRST_IDEOGRAPH, rareIdeographs } from './ideographs.ts';

/**
 * What a text costs in tokens by what its characters are, in one pass: runs of letters, digits, signs and blanks, and every
 * other character by how well the public vocabularies know its script. Prices are o200k's, on the safe side.
 */
export function weighRuns(text: string): number {
  let sum = 0;
  let state = START;
  for (let i = 0; i < text.length; i++) {
    state = NEXT[(state << 5) | (KINDS[text.charCodeAt(i)] as number)] as number;
    sum += PRICES[state] as number;
  }
  return sum;
}

const LOWER = 0;
const UPPER = 1;
const DIGIT = 2;
const BLANK = 3;
const TAB = 4;
const BREAK = 5;
/** A letter with an accent: the word goes on after it. */
const LATIN = 6;
const SIGN = 7;
/** Signs that come in rows have a kind each. */
const ROWS = '-=.#*_';
/** Kinds from here on have one price each, at any place. */
const FLAT = SIGN + 1 + ROWS.length;
/** Runs beyond the kinds of characters: letters and digits after a digit … */
const LATER = 32;
/** … and after another: no words, but base64, an id, a hash. */
const MIXED = LATER + 3;

const LATIN_LETTER = 0.95;
const CONTROL = 1.2;
const RARE_SYLLABLE = 2.8;
const RARE_IDEOGRAPH = 2.1;

/** Characters beyond ASCII, from the first code of a range on. Those that o200k knows only by their bytes cost most. */
const RANGES: readonly (readonly [from: number, price: number])[] = [
  [0x80, 1.3], // signs of Latin-1
  [0xc0, LATIN_LETTER],
  [0x180, 1.9], // rare Latin letters, phonetic ones, combining marks
  [0x370, 0.6], // Greek, Cyrillic, Armenian, Hebrew, Arabic
  [0x700, 3],
  [0x900, 0.6], // Devanagari, Bengali
  [0xa00, 0.8], // Gurmukhi
  [0xa80, 0.6], // Gujarati
  [0xb00, 1.3], // Odia
  [0xb80, 0.6], // Tamil, Telugu, Kannada, Malayalam
  [0xd80, 0.75], // Sinhala
  [0xe00, 0.6], // Thai
  [0xe80, 1.9], // Lao
  [0xf00, 1.75], // Tibetan
  [0x1000, 0.75], // Burmese
  [0x10a0, 0.6], // Georgian
  [0x1100, 3],
  [0x1200, 2.8], // Ethiopic
  [0x1380, 3.3], // Cherokee, Canadian syllabics
  [0x1780, 0.75], // Khmer
  [0x1800, 3.3],
  [0x1e00, LATIN_LETTER],
  [0x1f00, 1.75], // ancient Greek
  [0x2000, 1.2], // dashes, quotes
  [0x2070, 1.75], // currencies, letter-like signs
  [0x2190, 1.9], // arrows, mathematics
  [0x2500, 1.3], // boxes
  [0x2580, 1.75], // shapes, pictographs
  [0x2800, 3],
  [0x3000, 0.9], // kana
  [0x3100, 3],
  [FIRST_IDEOGRAPH, 1], // ideographs; see `rareIdeographs`
  [0xa000, 3],
  [0xac00, 0.9], // Hangul; see `isRareSyllable`
  [0xd7a4, 3], // and the first halves of rare ideographs and others
  [0xd83c, 1.2], // the first halves of emoji
  [0xd840, 3],
  [0xdc00, 1.2], // second halves
  [0xe000, 3],
  [0xfe00, 1.2], // variation selectors
  [0xfe10, 3],
  [0xff00, 1.3], // full-width signs, digits and capitals
  [0xff40, 1.9],
  [0x10000, 0],
];

const FLAT_PRICES: readonly number[] = [
  ...new Set([CONTROL, RARE_SYLLABLE, RARE_IDEOGRAPH, ...RANGES.map(([, price]) => price)]),
];

function kindsOfCharacters(): Uint8Array {
  const kinds = new Uint8Array(0x1_0000);
  for (let code = 0; code < 0x80; code++) kinds[code] = asciiKind(code);
  RANGES.slice(0, -1).forEach(([from, price], i) =>
    kinds.fill(flatKind(price), from, RANGES[i + 1]?.[0]),
  );
  const syllables = kinds.slice(HANGUL, HANGUL + FINALS * VOWELS);
  for (let at = 0; at < syllables.length; at++)
    if (isRareSyllable(at)) syllables[at] = flatKind(RARE_SYLLABLE);
  for (let initial = 0; initial < INITIALS; initial++)
    kinds.set(syllables, HANGUL + initial * syllables.length);
  rareIdeographs().forEach((isRare, at) => {
    if (isRare) kinds[FIRST_IDEOGRAPH + at] = flatKind(RARE_IDEOGRAPH);
  });
  return kinds;
}

function asciiKind(code: number): number {
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 48 && code <= 57) return DIGIT;
  if (code === 32) return BLANK;
  if (code === 9) return TAB;
  if (code === 10 || code === 13) return BREAK;
  return code < 32 || code === 127
    ? flatKind(CONTROL)
    : SIGN + 1 + ROWS.indexOf(String.fromCharCode(code));
}

function flatKind(price: number): number {
  return price === LATIN_LETTER ? LATIN : FLAT + FLAT_PRICES.indexOf(price);
}

const HANGUL = 0xac00;
const INITIALS = 19;
const VOWELS = 21;
const FINALS = 28;
const RARE_VOWELS = new Set([2, 3, 7, 10, 14, 15, 16]);
const RARE_FINALS = new Set([2, 3, 5, 7, 9, 10, 11, 12, 13, 14, 15, 18, 22, 23, 24, 25, 26, 27]);

/** Syllables are ordered by initial, vowel and final; with some of these hardly any is a token by itself. */
function isRareSyllable(at: number): boolean {
  return RARE_FINALS.has(at % FINALS) || RARE_VOWELS.has(Math.floor(at / FINALS));
}

/** A word is one token; after a letter or a digit it shares less with the vocabulary, after an accent it goes on. */
const WORD = 1.03;
const GLUED = 1.15;
const JOINED = 0.6;
const LETTER_FROM_6 = 0.15;
const LETTER_FROM_9 = 0.2;
/** No word is so long: a sequence of letters without sense. */
const LETTER_FROM_14 = 0.64;
const CAPITAL = 0.12;
const CAPITAL_FROM_6 = 0.62;
const MIXED_LETTER = 0.68;
/** Digits come by threes. A blank before them is a separate token. */
const DIGITS = 1.25;
const GLUED_DIGITS = 1.4;
const SPACED_DIGITS = 2.2;
const NEXT_DIGITS = 1.05;
const FIRST_SIGN = 0.7;
const NEXT_SIGN = 0.44;
const SIGN_FROM_4 = 0.85;
const SIGN_AGAIN = 0.45;
const GAP = 0.6;
const LONG_GAP = 0.2;
const FIRST_TAB = 0.85;
const NEXT_TAB = 0.3;
const LINE = 0.95;
const NEXT_LINE = 0.07;

/** Places of letters: how a word begins, then its second letter on. */
const FREE = 0;
const AFTER_LETTER = 1;
const AFTER_ACCENT = 2;
const SECOND = 3;
/** Places of digits: how they begin, then the second and third of a group and the first of the next. */
const AFTER_BLANK = 3;
const SECOND_DIGIT = 4;
const NEXT_GROUP = 6;
/** Places of signs: the first four that differ, then those that are the same as before. */
const IN_ROW = 4;

/** The kind of the run that a character belongs to, after a run. */
function runAfter(kind: number, before: number): number {
  if (kind > DIGIT || (before > DIGIT && before < LATER)) return kind;
  const level = before < LATER ? 0 : before < MIXED ? LATER : MIXED;
  const follows = kind < DIGIT && before - level === DIGIT;
  return kind + (follows ? (level === 0 ? LATER : MIXED) : level);
}

function placeAfter(kind: number, run: number, place: number): number {
  const before = run < LATER ? run : (run - LATER) % 3;
  const goesOn = kind === before;
  switch (kind) {
    case LOWER:
    case UPPER:
      if (goesOn || (kind === LOWER && before === UPPER && place < SECOND))
        return Math.min(15, Math.max(SECOND, place + 1));
      return before <= DIGIT ? AFTER_LETTER : before === LATIN ? AFTER_ACCENT : FREE;
    case DIGIT:
      if (goesOn) return place < SECOND_DIGIT || place === NEXT_GROUP ? SECOND_DIGIT : place + 1;
      return before <= UPPER ? AFTER_LETTER : before === BLANK ? AFTER_BLANK : FREE;
    case BLANK:
      return goesOn ? (place === 15 ? 2 : place + 1) : 0;
    case TAB:
    case BREAK:
      return goesOn ? 1 : 0;
    default:
      if (kind < SIGN || kind >= FLAT) return 0;
      if (kind !== SIGN && goesOn) return place === 15 ? IN_ROW + 3 : Math.max(IN_ROW, place + 1);
      return before < SIGN || before >= FLAT ? 0 : place < IN_ROW ? Math.min(3, place + 1) : 1;
  }
}

function priceOf(run: number, place: number): number {
  if (run >= MIXED && run < MIXED + DIGIT) return MIXED_LETTER;
  const kind = run < LATER ? run : (run - LATER) % 3;
  switch (kind) {
    case LOWER:
    case UPPER:
      return letterPrice(kind, place);
    case DIGIT:
      if (place >= SECOND_DIGIT) return place === NEXT_GROUP ? NEXT_DIGITS : 0;
      return place === FREE ? DIGITS : place === AFTER_LETTER ? GLUED_DIGITS : SPACED_DIGITS;
    case BLANK:
      return place === 1 ? GAP : place === 15 ? LONG_GAP : 0;
    case TAB:
      return place === 0 ? FIRST_TAB : NEXT_TAB;
    case BREAK:
      return place === 0 ? LINE : NEXT_LINE;
    case LATIN:
      return LATIN_LETTER;
    default:
      return kind < FLAT ? signPrice(place) : (FLAT_PRICES[kind - FLAT] ?? 0);
  }
}

function signPrice(place: number): number {
  if (place >= IN_ROW) return place < IN_ROW + 3 ? SIGN_AGAIN : place === 15 ? LONG_GAP : 0;
  return place === 0 ? FIRST_SIGN : place < 3 ? NEXT_SIGN : SIGN_FROM_4;
}

/**
 * The second letter of a word is at place 3, the sixth at 7, the ninth at 10, the fourteenth and all after it at 15.
 */
function letterPrice(kind: number, place: number): number {
  if (place === FREE) return WORD;
  if (place === AFTER_LETTER) return GLUED;
  if (place === AFTER_ACCENT) return JOINED;
  if (kind === UPPER) return place < 7 ? CAPITAL : CAPITAL_FROM_6;
  if (place < 7) return 0;
  return place < 10 ? LETTER_FROM_6 : place < 15 ? LETTER_FROM_9 : LETTER_FROM_14;
}

/**
 * Every character is looked up, because branches on the kinds of a text's characters are mostly guessed wrong. A state
 * is the kind of a run and the place of its newest character, four bits of it; if a run is longer than what prices
 * distinguish, its places repeat.
 */
const KINDS: Uint8Array = kindsOfCharacters();
const RUNS = MIXED + 3;
const START = FLAT << 4;
const PRICES: Float64Array = new Float64Array(RUNS << 4);
const NEXT: Uint16Array = new Uint16Array(RUNS << 9);
for (let run = 0; run < RUNS; run++) {
  const places = run >= FLAT && run < LATER ? 1 : 16;
  for (let place = 0; place < places; place++) {
    const state = (run << 4) | place;
    PRICES[state] = priceOf(run, place);
    for (let kind = 0; kind < LATER; kind++)
      NEXT[(state << 5) | kind] = (runAfter(kind, run) << 4) | placeAfter(kind, run, place);
  }
}
