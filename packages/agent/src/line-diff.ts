const CONTEXT_LINES = 2;
const MOST_LINES = 400;

/**
 * The change between two texts as lines with `+`, `-` or a blank before them and the line number. What both begin and
 * end with is left out but for a little of it: edits are local, so that one block is what there is to see.
 */
export function lineDiff(before: string, after: string): string {
  if (before === after) return '';
  const old = before === '' ? [] : before.split('\n');
  const now = after === '' ? [] : after.split('\n');
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail++;
  const from = Math.max(0, head - CONTEXT_LINES);
  const until = Math.min(now.length, now.length - tail + CONTEXT_LINES);
  const lines = [
    ...marked(' ', now.slice(from, head), from),
    ...marked('-', old.slice(head, old.length - tail), head),
    ...marked('+', now.slice(head, now.length - tail), head),
    ...marked(' ', now.slice(now.length - tail, until), now.length - tail),
  ];
  if (lines.length <= MOST_LINES) return lines.join('\n');
  return [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} more lines`].join('\n');
}

function marked(sign: string, lines: readonly string[], before: number): readonly string[] {
  return lines.map((line, i) => `${String(before + i + 1).padStart(4)} ${sign} ${line}`);
}
