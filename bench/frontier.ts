// The default preset as methods of a replay: request by request, what does a session cost, and what does its reader still
// know? `--read` and `--write` are the prices that the replay charges; they are given to Bobbin as facts of the model.
import { openaiChat } from '@bobbin/codecs';
import { createBobbin, type BobbinOptions } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';

type ChatMessage = Parameters<typeof openaiChat.decode>[0][number];
type Method = () => (history: readonly ChatMessage[]) => Promise<readonly ChatMessage[]>;

const READ_PRICE = numberAfter('--read') ?? 0.1;
const WRITE_PRICE = numberAfter('--write') ?? 1.25;

function numberAfter(option: string): number | undefined {
  const at = process.argv.indexOf(option);
  return at < 0 ? undefined : Number(process.argv[at + 1]);
}

/** A method with a memory of its own for each session. Four characters are a token, as the replay counts. */
function bobbin(window: number, thrift: BobbinOptions['thrift'] = 'careful'): Method {
  const cache = {
    writePrice: WRITE_PRICE,
    readPrice: READ_PRICE,
    ttlMs: 300_000,
    minimumTokens: 1024,
    markers: 4,
  };
  return () => {
    const engine = createBobbin({
      codec: openaiChat,
      counter: chars4(),
      model: 'replayed',
      models: { replayed: { windowTokens: window, cache } },
      thrift,
    });
    return async (history) => (await engine.fit(history)).messages;
  };
}

const methods: Readonly<Record<string, Method>> = {
  'Bobbin 200k': bobbin(200_000),
  'Bobbin 200k balanced': bobbin(200_000, 'balanced'),
  'Bobbin 200k frugal': bobbin(200_000, 'frugal'),
  'Bobbin 64k': bobbin(64_000),
  'Bobbin 32k': bobbin(32_000),
  'Bobbin 20k': bobbin(20_000),
};

// oxlint-disable-next-line import/no-default-export -- the replay takes the default export
export default methods;
