const CONTEXT_LINES = 2;
const MOST_LINES = 400;
/** Beyond so many changed lines a diff takes long to find and says nothing: the old and the new text replace it. */
const MOST_EDITS = 1_000;

/**
 * The change between two texts, as lines with their number and `+`, `-` or a blank, a little around each change, and
 * `⋯` between changes that are apart.
 */
export async function lineDiff(before: string, after: string): Promise<string> {
  if (before === after) return '';
  // Loaded when something changes, so that the start does not wait for it.
  const { structuredPatch } = await import('diff');
  const patch = structuredPatch('', '', before, after, '', '', {
    context: CONTEXT_LINES,
    maxEditLength: MOST_EDITS,
  });
  const hunks = patch?.hunks ?? [
    { oldStart: 1, newStart: 1, lines: [...signed('-', before), ...signed('+', after)] },
  ];
  const lines = hunks.flatMap((hunk, i) =>
    i === 0 ? numbered(hunk) : ['   ⋯', ...numbered(hunk)],
  );
  if (lines.length <= MOST_LINES) return lines.join('\n');
  return [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} more lines`].join('\n');
}

interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** Each with its sign before it. */
  readonly lines: readonly string[];
}

function signed(sign: '-' | '+', text: string): readonly string[] {
  return text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => sign + line);
}

function numbered({ oldStart, newStart, lines }: Hunk): readonly string[] {
  let [old, now] = [oldStart, newStart];
  return lines.map((line) => {
    const [sign, text] = [line.charAt(0), line.slice(1)];
    // The library's word for a last line without its line break.
    if (sign === '\\') return `      \\ ${text.trim()}`;
    const number = sign === '-' ? old : now;
    if (sign !== '+') old += 1;
    if (sign !== '-') now += 1;
    return `${String(number).padStart(4)} ${sign} ${text}`;
  });
}
