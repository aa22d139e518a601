import { createBobbin } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import { openaiChat } from '@bobbin/codecs';
const at = (window: number) => () => {
  const b = createBobbin({ window, codec: openaiChat, counter: chars4() } as never);
  return async (history: readonly unknown[]) => (await b.fit(history as never)).messages;
};
export default { 'Bobbin 200k': at(200_000), 'Bobbin 32k': at(32_000) };
