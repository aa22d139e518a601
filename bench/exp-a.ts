import { createBobbin } from '@bobbin/core';
import { chars4, ladder } from '@bobbin/core/internal';
import { openaiChat } from '@bobbin/codecs';
const of = (window: number, trim: object) => () => {
  const limits = { ...ladder.trim!, ...trim } as never;
  const preset = { ...ladder, trim: limits };
  const b = createBobbin({ window, codec: openaiChat, counter: chars4(), preset } as never);
  return async (history: readonly unknown[]) => (await b.fit(history as never)).messages;
};
export default {
  '200k 6 300 800': of(200_000, {}),
  '200k 8 400 800': of(200_000, { keepResults: 8, standInChars: 400, argsChars: 800 }),
  '200k 3 200 400': of(200_000, { keepResults: 3, standInChars: 200, argsChars: 400 }),
};
