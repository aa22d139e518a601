import { reversed } from '../check/list.ts';
import { nameOf } from '../summary/file-texts.ts';

/** A word, a number or a path of a text. */
export interface Token {
  readonly text: string;
  /** What it is compared by. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** A file's name with its folders, or a word. */
const TOKEN =
  /[\p{L}\p{N}_][\p{L}\p{N}_./-]*\.[a-z]{1,5}(?![\p{L}\p{N}_-])|[\p{L}\p{N}_]+(?:[./][\p{L}\p{N}_]+)*(?:['’]\p{L}+)?/gu;

/** The name of a file without its folders; "582/627" is no file. */
const keyOf = (token: string): string => (/^\d/.test(token) ? token : nameOf(token));

export function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: token, index }) => ({
    text: token,
    key: keyOf(token.toLowerCase().replace('’', "'")),
    start: index,
    end: index + token.length,
  }));
}

/** A step of an alignment: a word of either text, or one of each. */
export interface Step {
  readonly own: number | undefined;
  readonly other: number | undefined;
  readonly isEqual: boolean;
}

const [EQUAL, OTHER] = [2, -1];

/** The passage in which two texts are most alike, word by word (a local alignment). */
export function repeatedPassage(own: readonly Token[], other: readonly Token[]): readonly Step[] {
  const width = other.length + 1;
  const scores = new Int16Array((own.length + 1) * width);
  let [best, at] = [0, 0];
  for (let i = 1; i <= own.length; i++)
    for (let j = 1; j <= other.length; j++) {
      const cell = i * width + j;
      const isEqual = own[i - 1]?.key === other[j - 1]?.key;
      const score = Math.max(
        0,
        (scores[cell - width - 1] as number) + (isEqual ? EQUAL : OTHER),
        (scores[cell - width] as number) + OTHER,
        (scores[cell - 1] as number) + OTHER,
      );
      scores[cell] = score;
      if (score > best) [best, at] = [score, cell];
    }
  return stepsTo(at, scores, own, other);
}

function stepsTo(
  end: number,
  scores: Int16Array,
  own: readonly Token[],
  other: readonly Token[],
): readonly Step[] {
  const width = other.length + 1;
  const steps: Step[] = [];
  let cell = end;
  while ((scores[cell] as number) > 0) {
    const [i, j] = [Math.floor(cell / width) - 1, (cell % width) - 1];
    const score = scores[cell] as number;
    const isEqual = own[i]?.key === other[j]?.key;
    if (score === (scores[cell - width - 1] as number) + (isEqual ? EQUAL : OTHER)) {
      steps.push({ own: i, other: j, isEqual });
      cell -= width + 1;
    } else if (score === (scores[cell - width] as number) + OTHER) {
      steps.push({ own: i, other: undefined, isEqual: false });
      cell -= width;
    } else {
      steps.push({ own: undefined, other: j, isEqual: false });
      cell -= 1;
    }
  }
  return reversed(steps);
}
