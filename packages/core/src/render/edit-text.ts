/** Fewer unchanged lines than this are shown: a mark would hardly be shorter. */
const LEAST_LEFT_OUT = 3;
/** A line of brackets alone may be anywhere. */
const HAS_WORD = /\w{3}/;

/** What an edit puts into a file, without the lines that it leaves as they were. */
export function withoutUnchangedLines(before: string, after: string): string {
  const old = before.split('\n');
  const shown: string[] = [];
  let unchanged: string[] = [];
  let next = 0;
  const endRun = (): void => {
    const isLong = unchanged.filter((line) => HAS_WORD.test(line)).length >= LEAST_LEFT_OUT;
    shown.push(...(isLong ? [`[… ${unchanged.length} unchanged lines …]`] : unchanged));
    unchanged = [];
  };
  for (const line of after.split('\n')) {
    const at = old[next] === line ? next : HAS_WORD.test(line) ? old.indexOf(line, next) : -1;
    if (at !== next) endRun();
    if (at < 0) shown.push(line);
    else {
      unchanged.push(line);
      next = at + 1;
    }
  }
  endRun();
  return shown.join('\n');
}
