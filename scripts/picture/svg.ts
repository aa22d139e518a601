import type { Run } from './terminal-text.ts';

/** The colours of a picture: those of a terminal by number, and the rest. */
export interface Theme {
  readonly colours: readonly string[];
  readonly text: string;
  readonly dim: string;
  readonly paper: string;
  readonly border: string;
}

export const LIGHT: Theme = {
  colours: ['#1f2328', '#cf222e', '#1a7f37', '#9a6700', '#0969da', '#8250df', '#1b7c83', '#6e7781'],
  text: '#1f2328',
  dim: '#6e7781',
  paper: '#ffffff',
  border: '#d0d7de',
};

export const DARK: Theme = {
  colours: ['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  text: '#e6edf3',
  dim: '#8b949e',
  paper: '#0d1117',
  border: '#30363d',
};

const CELL = 8.4;
const LINE = 20;
const MARGIN = 20;
const COLUMNS = 80;
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** How much of a cell a block character covers: fonts draw them with gaps, a picture need not. */
const SHADES = new Map([
  ['█', 1],
  ['▓', 0.85],
  ['▒', 0.6],
  ['░', 0.4],
]);

/** A picture of lines as a terminal shows them. */
export function svgOf(lines: readonly (readonly Run[])[], theme: Theme): string {
  const width = Math.ceil(COLUMNS * CELL + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  const body = lines.flatMap((runs, i) => runs.flatMap((run) => drawn(run, i, theme)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>What npm start prints: a long session before and after compaction</title>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${theme.paper}" stroke="${theme.border}"/>`,
    `<g font-family='${FONT}' font-size="14" fill="${theme.text}">`,
    ...body,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** A run as blocks, which are drawn, and as texts, which have no gap: a browser would close it. */
function drawn(run: Run, line: number, theme: Theme): string[] {
  let { column } = run;
  return [...run.text.matchAll(/█+|▓+|▒+|░+|(?:[^█▓▒░ ]| (?! ))+| +/g)].flatMap(([piece]) => {
    const at = column;
    const cells = piece.length;
    column += cells;
    const shade = SHADES.get(piece[0] ?? '');
    if (shade !== undefined) return [block(at, cells, line, colourOf(run, theme), shade)];
    return piece.trim() === '' ? [] : [text({ ...run, text: piece, column: at }, line, theme)];
  });
}

function block(column: number, cells: number, line: number, fill: string, shade: number): string {
  const [x, y] = [MARGIN + column * CELL, MARGIN + line * LINE + 3];
  return `<rect x="${round(x)}" y="${y}" width="${round(cells * CELL)}" height="${LINE - 6}" fill="${fill}" fill-opacity="${shade}"/>`;
}

function text(run: Run, line: number, theme: Theme): string {
  const indent = run.text.length - run.text.trimStart().length;
  const words = run.text.trim();
  const x = round(MARGIN + (run.column + indent) * CELL);
  const y = MARGIN + line * LINE + 15;
  const weight = run.weight === 'bold' ? ' font-weight="bold"' : '';
  const fill = colourOf(run, theme) === theme.text ? '' : ` fill="${colourOf(run, theme)}"`;
  // The length keeps columns below each other in any font.
  const length = `textLength="${round(words.length * CELL)}" lengthAdjust="spacingAndGlyphs"`;
  return `<text x="${x}" y="${y}" ${length}${weight}${fill}>${escaped(words)}</text>`;
}

function colourOf({ colour, weight }: Run, { colours, dim, text: plain }: Theme): string {
  if (colour !== undefined) return colours[colour] ?? plain;
  return weight === 'dim' ? dim : plain;
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
