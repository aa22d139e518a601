import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { contextLimitOf } from '@bobbin/core';
import { isJsonObject, parseJson, type ContextLimit } from '@bobbin/core/internal';

/** What is done with the beginning of a stream: the client gets it, it does not, or more must come first. */
export type Verdict = 'relay' | 'hold' | 'wait';

/** Events that come before a provider has read the prompt. */
const PREAMBLE: ReadonlySet<unknown> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'ping',
]);

/** Looks at the beginning of a stream: a provider may refuse a prompt as too long with an event. */
export class StreamOpening {
  readonly #decoder = new StringDecoder('utf8');
  #parser: EventSourceParser | undefined;
  #verdict: Verdict = 'wait';
  #refusal: ContextLimit | undefined;

  data(chunk: Buffer): Verdict {
    this.#parser ??= createParser({ onEvent: (event) => this.#event(event.data) });
    this.#parser.feed(this.#decoder.write(chunk));
    return this.#verdict;
  }

  /** What the provider said of the sizes, if it refused. */
  get refusal(): ContextLimit | undefined {
    return this.#refusal;
  }

  #event(data: string): void {
    if (this.#verdict !== 'wait') return;
    const event = parseJson(data);
    if (!isJsonObject(event)) {
      this.#verdict = 'relay';
      return;
    }
    const { type, error, response } = event;
    const failed = isJsonObject(response) ? response['error'] : undefined;
    const isError = type === 'error' || isJsonObject(error) || isJsonObject(failed);
    this.#refusal = isError ? contextLimitOf(failed ?? error ?? event) : undefined;
    if (this.#refusal !== undefined) this.#verdict = 'hold';
    else if (isError || !PREAMBLE.has(type)) this.#verdict = 'relay';
  }
}
