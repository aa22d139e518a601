/** How many cases a test runs: few of them in `npm test`, all in `npm run soak`. */
export function volume(inTest: number, inSoak: number): number {
  return isSoak() ? inSoak : inTest;
}

/** True in `npm run soak`, or wherever `BOBBIN_SOAK=1` is set. */
export function isSoak(): boolean {
  return process.env['BOBBIN_SOAK'] === '1';
}
