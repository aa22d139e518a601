import type { CompactionEvent } from '../../events.ts';
import { isJsonObject } from '../../message/json.ts';
import { oneLine } from '../../message/text.ts';
import type { Clock } from '../../ports.ts';
import { EXACT } from '../../tokens/calibration.ts';
import type { Counter } from '../../tokens/counter.ts';
import type { CompactionHooks, SessionConfig } from './session-config.ts';

// The one file of core that reads a clock or a source of randomness, or writes to the console: the defaults that a host
// can replace.

export const systemClock: Clock = {
  now: () => Date.now(),
  deadline(ms) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), ms);
    return { signal: controller.signal, clear: () => clearTimeout(timer) };
  },
  pause: () => new Promise((resolve) => setTimeout(resolve, 0)),
};

/** A name that no other conversation has. */
export function randomName(): string {
  return crypto.randomUUID();
}

const LONGEST_LINE = 500;

/** Hooks that write each warning to the console, once; the host's own `onEvent` replaces that. */
export function withVisibleWarnings<Hooks extends CompactionHooks>(hooks: Hooks): Hooks {
  // A value that is not an options object is refused when options are checked.
  if (!isJsonObject(hooks) || hooks.onEvent !== undefined) return hooks;
  const written = new Set<string>();
  const onEvent = (event: CompactionEvent): void => {
    const [subject, line] = warningOf(event);
    if (line === undefined || written.has(subject)) return;
    written.add(subject);
    console.warn(`bobbin: ${oneLine(line, LONGEST_LINE)}`);
  };
  return { ...hooks, onEvent };
}

/** What an event warns of, in a line; events of one subject are written once. */
function warningOf(event: CompactionEvent): readonly [subject: string, line?: string] {
  if (event.kind === 'warning') return [event.message, event.message];
  if (event.kind !== 'externalized' || event.strategy !== 'first-sight') return [event.kind];
  return [
    event.strategy,
    `a new tool result was shortened by ${event.freed} tokens to fit the window; with bobbin.tools the model could read all of it`,
  ];
}

/** The package with the tokenizers. It is optional: in a variable, so that no bundler looks for it. */
const TOKENIZERS = '@bobbin/models';

type Counting = Pick<SessionConfig<unknown>, 'counter' | 'unscaled' | 'calibration' | 'tokenizer'>;

/** Loads the exact counter of a configuration on the first call, and returns the configuration with it. */
export function counterLoader<Config extends Counting>(config: Config): () => Promise<Config> {
  let loaded: Promise<Config> | undefined;
  return () => (loaded ??= withExactCounter(config));
}

/** The configuration as it is if no tokenizer is public or installed: tokens are estimated. */
async function withExactCounter<Config extends Counting>(config: Config): Promise<Config> {
  const { encoding, provider } = config.tokenizer ?? {};
  if (encoding === undefined) return config;
  try {
    const { bpe } = (await import(TOKENIZERS)) as {
      readonly bpe: (encoding: string, provider?: string) => Promise<Counter>;
    };
    const counter = await bpe(encoding, provider);
    return { ...config, counter, unscaled: counter, calibration: EXACT };
  } catch {
    return config;
  }
}
