import { createBobbin } from '@bobbin/core';
import { chars4, ladder } from '@bobbin/core/internal';
import { openaiChat } from '@bobbin/codecs';
const of = (window: number, trim: object) => () => {
  const limits = { ...ladder.trim!, ...trim } as never;
  const preset = { ...ladder, trim: limits };
  const b = createBobbin({ window, codec: openaiChat, counter: chars4(), preset } as never);
  return async (history: readonly unknown[]) => (await b.fit(history as never)).messages;
};
const out: Record<string, unknown> = {};
const runs = JSON.parse(process.env['RUNS'] ?? '[]') as (number | undefined)[][];
for (const [k, s, a, p, w, f, win = 200_000] of runs)
  out[`${win/1000}k ${k} ${s} ${a} p${p} w${w} f${f}`] = of(win, { keepResults: k, standInChars: s, argsChars: a, patience: p, ...(w == null ? {} : { leastWorth: w }), ...(f == null ? {} : { roomFactor: f }) });
export default out;
