import { sorted } from '../../check/list.ts';
import { VOICE, type Piece } from '../anchors/scan.ts';
import type { AnchorStatistics, Placed } from '../anchors/statistics.ts';
import type { Selection } from './select.ts';

/** How many pieces are considered for each anchor, and how many anchors for a number of characters. */
const PIECES_PER_ANCHOR = 4;
const CHARS_PER_ANCHOR = 12;

/** A piece that may be quoted for an anchor in it: how much it holds for its length. */
interface Candidate {
  readonly of: number;
  readonly piece: Piece;
  readonly density: number;
}

/** For each anchor the few pieces that hold most for their length, the newest of equal lines; the newest text first. */
export function bestPieces(
  { placed }: AnchorStatistics,
  { need, shown, spaceChars }: Selection,
  isQuotable: (of: number, at?: number) => boolean,
): readonly Candidate[] {
  const least = nthLargest(need, Math.ceil(Math.max(spaceChars, 0) / CHARS_PER_ANCHOR));
  const best = new Map<number, Candidate[]>();
  for (let of = placed.length - 1; of >= 0; of--) {
    const { segment, ids, file, changes } = placed[of] as Placed;
    // The call that reads a file says nothing more than the file's name.
    const onlyReads = segment.voice === VOICE.args && file !== undefined && !changes;
    if (onlyReads || !isQuotable(of)) continue;
    for (let k = segment.pieces.length - 1; k >= 0; k--) {
      const piece = segment.pieces[k] as Piece;
      let value = 0;
      let isNeeded = false;
      for (const at of piece.mentions) {
        const id = ids[at] as number;
        value += need[id] as number;
        isNeeded ||= (need[id] as number) >= least && shown[id] !== 1;
      }
      if (!isNeeded || !isQuotable(of, piece.start)) continue;
      const candidate = { of, piece, density: value / (piece.end - piece.start + 12) };
      for (const at of piece.mentions) {
        const id = ids[at] as number;
        if ((need[id] as number) < least || shown[id] === 1) continue;
        const list = best.get(id);
        if (list === undefined) best.set(id, [candidate]);
        else place(list, candidate);
      }
    }
  }
  const chosen = new Map([...best.values()].flat().map((one) => [one.piece, one]));
  return sorted([...chosen.values()], (a, b) => b.of - a.of || b.piece.start - a.piece.start);
}

/** Puts a candidate among the best few, unless an equal line is there. */
function place(best: Candidate[], candidate: Candidate): void {
  const { piece, density } = candidate;
  const isFull = best.length === PIECES_PER_ANCHOR;
  if (isFull && (best[PIECES_PER_ANCHOR - 1] as Candidate).density >= density) return;
  for (const other of best) if (other.piece.hash === piece.hash) return;
  let at = isFull ? best.length - 1 : best.length;
  for (; at > 0 && (best[at - 1] as Candidate).density < density; at--)
    best[at] = best[at - 1] as Candidate;
  best[at] = candidate;
}

function nthLargest(values: Float64Array, n: number): number {
  return n >= values.length ? 0 : (sorted([...values], (a, b) => a - b)[values.length - n] ?? 0);
}
