import type { SeenChange } from '../../plan/summary.ts';
import type { Redact } from '../../summary/redact.ts';
import type { AnchorStatistics, Placed } from '../anchors/statistics.ts';
import { VOICE } from '../anchors/scan.ts';
import { FileChange } from '../work/changes.ts';
import { diffIn, patchIn, type DiffText, type FileDiff } from './unified-diff.ts';

const MOST_SEEN = 200;
const NOTE_CHARS = 360;
const LEAST_NOTE_CHARS = 60;
/** Data that programs write: its changed lines say little to a reader. */
const GENERATED = /(?:\.lock|\.sum|-lock\.(?:json|yaml)|\.snap|\.svg|\.min\.\w+|\.map)$/;

/** The changes that were looked at in diffs, and the diffs of the texts that hold one. */
export class SeenChanges {
  readonly #statistics: AnchorStatistics;
  readonly #diffs = new Map<number, DiffText>();
  readonly #seen = new Map<string, SeenChange>();
  readonly #changes = new Map<string, FileChange>();
  readonly #redact: Redact;

  constructor(statistics: AnchorStatistics, before: readonly SeenChange[], redact: Redact) {
    this.#statistics = statistics;
    this.#redact = redact;
    for (const change of before) this.#seen.set(change.path, change);
  }

  /** Takes the next text. */
  read(of: number): void {
    const { segment, index } = this.#statistics.placed[of] as Placed;
    const patch = segment.voice === VOICE.args ? patchIn(segment.text) : undefined;
    if (patch !== undefined) this.#diffs.set(of, patch);
    if (segment.voice !== VOICE.tool) return;
    const diff = diffIn(segment.text);
    if (diff === undefined) return;
    this.#diffs.set(of, diff);
    for (const file of diff.files) this.#diff(file, index);
  }

  diffOf(of: number): DiffText | undefined {
    return this.#diffs.get(of);
  }

  /** The changes of files that the agent did not change itself, each with what changed in it, in a number of characters. */
  all(spaceChars: number): readonly SeenChange[] {
    const own = new Set(
      this.#statistics.files
        .all()
        .filter(({ edits }) => edits > 0)
        .map(({ path }) => path),
    );
    const seen = [...this.#seen.values()]
      .filter(({ path }) => !own.has(this.#statistics.files.find(path)?.path ?? path))
      .slice(-MOST_SEEN);
    const noted = seen.filter(({ path }) => this.#changes.has(path));
    const paths = seen.reduce((sum, { path }) => sum + path.length + 24, 0);
    const noteChars = Math.min(NOTE_CHARS, (spaceChars - paths) / Math.max(1, noted.length));
    return seen.map((change) => {
      const text =
        this.#changes.get(change.path)?.text(Math.max(LEAST_NOTE_CHARS, noteChars)) ?? '';
      return text === '' ? change : { ...change, note: text };
    });
  }

  #diff({ path, from, does, plus, minus, replaced }: FileDiff, at: number): void {
    this.#seen.delete(path);
    this.#seen.set(path, { path, does, plus, minus, at, ...(from === undefined ? {} : { from }) });
    if (does === 'deleted' || GENERATED.test(path)) return;
    const change = new FileChange(this.#redact);
    for (const one of replaced) change.note(one, one.within);
    this.#changes.set(path, change);
  }
}
