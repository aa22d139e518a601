import { keptAt, markName, type Kept } from './artifact-place.ts';
import type { Blobs } from './blobs.ts';

const MARK_FOR_MS = 3_600_000;

/**
 * Removes an artifact that no thread claims any more. It may die anywhere, and others may put the same content
 * meanwhile. The mark is written before claims are looked at for the last time, and a put writes its claim before it
 * looks for marks. So either the sweep sees the claim and stops, or the put sees the mark (or that the content is gone)
 * and writes content under a name that the sweep does not know.
 */
export async function sweepPlace(
  blobs: Blobs,
  place: string,
  seen: Kept,
  now: number,
  isOver: () => Promise<boolean>,
): Promise<boolean> {
  await removeOldMarks(blobs, seen, now);
  if (!(await isOver())) return false;
  const mark = markName(place);
  await blobs.write(mark, Buffer.from(String(now)));
  const known = new Set(seen.claims.map(({ name }) => name));
  const { claims } = await keptAt(blobs, place);
  const isClaimed = claims.some(({ name }) => !known.has(name));
  if (!isClaimed)
    for (const { name } of [...seen.claims, ...seen.contents]) await blobs.remove(name);
  await blobs.remove(mark);
  return !isClaimed;
}

/** A sweep that died left its mark; one that lives takes no such time for one artifact. */
async function removeOldMarks(blobs: Blobs, { marks }: Kept, now: number): Promise<void> {
  for (const mark of marks) {
    const time = Number(Buffer.from((await blobs.read(mark)) ?? []).toString());
    if (!(now - time <= MARK_FOR_MS)) await blobs.remove(mark);
  }
}
