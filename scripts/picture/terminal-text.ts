/** Text that looks the same throughout. */
export interface Run {
  readonly text: string;
  /** The column that it begins at. */
  readonly column: number;
  /** The number of a terminal's colour, 0 to 7, if it has one. */
  readonly colour?: number;
  readonly weight: 'normal' | 'bold' | 'dim';
}

type Look = Pick<Run, 'colour' | 'weight'>;

const PLAIN: Look = { weight: 'normal' };

/** The lines of a program's output, in runs; neighbours that look the same are one. */
export function linesOf(output: string): Run[][] {
  return output.split('\n').map(runsOf);
}

function runsOf(line: string): Run[] {
  const runs: Run[] = [];
  let look = PLAIN;
  let column = 0;
  // oxlint-disable-next-line no-control-regex -- colours begin with a control character
  for (const [, code, text = ''] of line.matchAll(/(?:\u001B\[(\d+)m)?([^\u001B]*)/g)) {
    if (code !== undefined) look = changed(look, Number(code));
    if (text === '') continue;
    const last = runs.at(-1);
    if (last !== undefined && last.colour === look.colour && last.weight === look.weight)
      runs[runs.length - 1] = { ...last, text: last.text + text };
    else runs.push({ ...look, text, column });
    column += text.length;
  }
  return runs;
}

/** How text looks after a code (ECMA-48, SGR). */
function changed(look: Look, code: number): Look {
  if (code === 1) return { ...look, weight: 'bold' };
  if (code === 2) return { ...look, weight: 'dim' };
  if (code === 22) return { ...look, weight: 'normal' };
  if (code >= 30 && code <= 37) return { ...look, colour: code - 30 };
  return { weight: look.weight };
}
