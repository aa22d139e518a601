const OFTEN = 3;
const LEAST_CHARS = 8;

/** True where the sentence or line that a text has just ended stood in it twice before: there is nothing new to come. */
export function repeatsItself(text: string): boolean {
  const pieces = text
    .split(/(?<=[.!?])\s|\n/)
    .slice(0, -1)
    .map((piece) => piece.trim())
    .filter((piece) => piece.length >= LEAST_CHARS);
  const last = pieces.at(-1);
  return pieces.filter((piece) => piece === last).length >= OFTEN;
}
