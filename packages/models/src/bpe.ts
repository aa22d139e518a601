import { readFile } from 'node:fs/promises';
import { counterOf, type Counter } from '@bobbin/core';
import { didYouMean, mediaTokens, orInstall, type MediaProvider } from '@bobbin/core/internal';

/** A public tokenizer. */
export type Encoding = 'o200k' | 'cl100k';

const VOCABULARIES: Readonly<Record<Encoding, () => Promise<{ readonly vocabulary: URL }>>> = {
  o200k: () => import('@hypertok/vocab-o200k'),
  cl100k: () => import('@hypertok/vocab-cl100k'),
};

const ENCODINGS = Object.keys(VOCABULARIES);

/** Text that looks like a special token is only text: a user may write it, and it must not end a message. */
const PLAIN = { reserved: { match: [] } } as const;

/**
 * What OpenAI's chat format puts around a message in addition to the role's two tokens (its start, its end, a separator),
 * around a call (recipient, channel, format, as in the published format of its open-weight models) and around a result.
 */
const FORMATTING = { message: 2, call: 8, result: 6 } as const;
/** What primes the answer, once a request. */
const REPLY = 3;

/** A vocabulary is read once: it takes a third of a second and forty megabytes. */
const texts = new Map<Encoding, Promise<(text: string) => number>>();
const counters = new Map<string, Promise<Counter>>();

/**
 * Counts tokens exactly as a public tokenizer does, messages with the formatting that OpenAI's chat adds. All who ask
 * for the same counter share it: it remembers what each message costs.
 */
export async function bpe(
  encoding: Encoding,
  provider: MediaProvider = 'openai',
): Promise<Counter> {
  const name = `${encoding} ${provider}`;
  const counter = counters.get(name) ?? loadCounter(encoding, provider);
  counters.set(name, counter);
  return counter;
}

async function loadCounter(encoding: Encoding, provider: MediaProvider): Promise<Counter> {
  if (!Object.hasOwn(VOCABULARIES, encoding))
    throw new RangeError(
      `there is no encoding ${JSON.stringify(encoding)}${didYouMean(encoding, ENCODINGS)}; choose one of ${ENCODINGS.join(', ')}, or let counterFor(model) choose`,
    );
  const loading = texts.get(encoding) ?? loadText(encoding);
  texts.set(encoding, loading);
  const [text, media] = [await loading, mediaTokens(provider)];
  const counter = counterOf({ name: encoding, text, media, around: FORMATTING });
  return { ...counter, request: (request) => counter.request(request) + REPLY };
}

async function loadText(encoding: Encoding): Promise<(text: string) => number> {
  const [{ fromBytes }, { vocabulary }] = await Promise.all([
    import('hypertok'),
    VOCABULARIES[encoding](),
  ]).catch(orInstall(`the counter ${encoding}`, 'hypertok', `@hypertok/vocab-${encoding}`));
  const tokenizer = await fromBytes(await readFile(vocabulary), { tier: 'single' });
  return (text) => (text === '' ? 0 : tokenizer.encodeSync(text, PLAIN).length);
}
