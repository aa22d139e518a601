import type { FileAccess } from '../anchors/files.ts';
import { VOICE } from '../anchors/scan.ts';
import type { AnchorStatistics, Placed } from '../anchors/statistics.ts';
import { declaredBefore } from './changes.ts';

/** So many of the texts that show a file are kept, the newest. */
const MOST_TEXTS = 3;
const LEAST_LINE_CHARS = 8;

/** What was read of files, to find in which function an edit was made. */
export class Surroundings {
  readonly #statistics: AnchorStatistics;
  readonly #texts = new Map<FileAccess, string[]>();
  #next = 0;

  constructor(statistics: AnchorStatistics) {
    this.#statistics = statistics;
  }

  /** Takes the results before a message. */
  readUpTo(index: number): void {
    const { placed } = this.#statistics;
    for (; this.#next < placed.length; this.#next++) {
      const { segment, file, index: at } = placed[this.#next] as Placed;
      if (at >= index) return;
      if (file === undefined || segment.voice !== VOICE.tool) continue;
      const texts = this.#texts.get(file) ?? [];
      this.#texts.set(file, [segment.text, ...texts].slice(0, MOST_TEXTS));
    }
  }

  /** The name of what some lines of a file were part of. */
  of(file: FileAccess, lines: string): string | undefined {
    const line = lines
      .split('\n')
      .map((one) => one.trim())
      .find((one) => one.length >= LEAST_LINE_CHARS);
    if (line === undefined) return undefined;
    for (const text of this.#texts.get(file) ?? []) {
      const at = text.indexOf(line);
      if (at >= 0) return declaredBefore(text, at + line.length);
    }
    return undefined;
  }
}
