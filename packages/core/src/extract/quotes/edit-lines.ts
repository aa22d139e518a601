import { VOICE } from '../anchors/scan.ts';
import type { AnchorStatistics, Placed } from '../anchors/statistics.ts';

type Range = readonly [from: number, to: number];

/** Which lines of edits and of files that were read still hold. */
export class EditLines {
  readonly #statistics: AnchorStatistics;
  readonly #taken = new Map<number, readonly Range[]>();
  readonly #context = new Map<number, ReadonlySet<string>>();

  constructor(statistics: AnchorStatistics) {
    this.#statistics = statistics;
  }

  /** True if a line is new in its edit. */
  isNew(of: number, at: number): boolean {
    const isTaken = this.takenAway(of).some(([from, to]) => at >= from && at < to);
    return !isTaken && !this.#isContext(of, at);
  }

  /** True for what was read of a file before it was changed, and for calls that only keep a task list. */
  isOutdated(of: number): boolean {
    const { segment, file, index } = this.#statistics.placed[of] as Placed;
    if (KEEPS_TASKS.test(segment.tool)) return true;
    return segment.voice === VOICE.tool && file !== undefined && index < file.editedAt;
  }

  /** True for a line of an edit that it leaves as it was. */
  #isContext(of: number, at: number): boolean {
    const ranges = this.takenAway(of);
    if (ranges.length === 0) return false;
    let lines = this.#context.get(of);
    const { text } = (this.#statistics.placed[of] as Placed).segment;
    if (lines === undefined) {
      const old = ranges.flatMap(([from, to]) => argumentLines(text.slice(from, to)));
      this.#context.set(of, (lines = new Set(old)));
    }
    return argumentLines(text.slice(at, at + CONTEXT_CHARS))
      .slice(0, 1)
      .some((line) => lines.has(line));
  }

  /** Where an edit holds what it takes away. */
  takenAway(of: number): readonly Range[] {
    const { segment } = this.#statistics.placed[of] as Placed;
    if (segment.voice !== VOICE.args) return [];
    let ranges = this.#taken.get(of);
    if (ranges === undefined) this.#taken.set(of, (ranges = takenAway(segment.text)));
    return ranges;
  }
}

const KEEPS_TASKS =
  /(?:^|[._])(?:todo|task)_?(?:s|write|read|list|create|update|get)?$|update_plan/i;
const CONTEXT_CHARS = 400;

/** The lines of a string in JSON, without indentation. */
function argumentLines(json: string): readonly string[] {
  return json
    .replace(/^[\s,{]*"\w+"\s{0,2}:\s{0,2}"/, '')
    .split(/\\n|"/)
    .map((line) => line.replace(/^(?:\\t|\s)+|\\+$/g, '').trim())
    .filter((line) => line !== '');
}

const OLD = /"old_?(?:string|str|text)"\s{0,2}:\s{0,2}"/gi;

/** Where the arguments of an edit hold what it takes away. */
function takenAway(args: string): readonly Range[] {
  return Array.from(args.matchAll(OLD), ({ index, 0: { length } }): Range => {
    let end = index + length;
    while (end < args.length && args[end] !== '"') end += args[end] === '\\' ? 2 : 1;
    return [index, end + 1];
  });
}
