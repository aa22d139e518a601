import type { CompactionEvent } from '../../events.ts';
import { isJsonObject } from '../../message/json.ts';
import { oneLine } from '../../message/text.ts';
import type { Clock } from '../../ports.ts';
import type { Counter } from '../../tokens/counter.ts';
import type { Tokenizer } from '../../tokens/models.ts';
import type { CompactionHooks } from './session-config.ts';

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
    `a new tool result was shortened by ${event.freed} tokens to fit the window; bobbin.tools let the model read all of it`,
  ];
}

/** The package with the tokenizers. It is optional: in a variable, so that no bundler looks for it. */
const TOKENIZERS = '@bobbin/models';

/** The exact counter of a model, if its tokenizer is public and installed. */
export async function installedCounter(tokenizer: Tokenizer): Promise<Counter | undefined> {
  const { encoding, provider } = tokenizer;
  if (encoding === undefined) return undefined;
  try {
    const { bpe } = (await import(TOKENIZERS)) as {
      readonly bpe: (encoding: string, provider?: string) => Promise<Counter>;
    };
    return await bpe(encoding, provider);
  } catch {
    return undefined;
  }
}
