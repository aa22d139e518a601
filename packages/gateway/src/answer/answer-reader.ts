import { createParser } from 'eventsource-parser';
import { responseUsage, type ResponseUsage } from '@bobbin/codecs';
import { isJsonObject, parseJson, type JsonObject } from '@bobbin/core/internal';

/** What a provider answered. */
export interface RecordedAnswer {
  /** The answer in the provider's own form; absent if there was none. */
  readonly answer?: JsonObject;
  readonly usage?: ResponseUsage;
}

/** Puts an answer together from the events of a stream. */
export interface AnswerReader {
  event(data: JsonObject): void;
  /** What the events so far come to, in the form of an answer that is not streamed. */
  answer(): JsonObject | undefined;
}

/** The longest answer that is recorded; a longer one is relayed all the same. */
const MOST_BYTES = 33_554_432;

/** Records an answer while its bytes are relayed. It never fails: what it cannot read is not recorded. */
export class AnswerRecorder {
  readonly #reader: AnswerReader;
  readonly #decoder = new TextDecoder();
  #isStream = false;
  #feed: ((text: string) => void) | undefined;
  #pieces: string[] = [];
  #bytes = 0;

  constructor(reader: AnswerReader) {
    this.#reader = reader;
  }

  start(contentType: string): void {
    this.#isStream = contentType.startsWith('text/event-stream');
    const parser = createParser({
      onEvent: ({ data }) => {
        const event = data.startsWith('{') ? parseJson(data) : undefined;
        if (isJsonObject(event)) this.#reader.event(event);
      },
    });
    this.#feed = this.#isStream
      ? (text) => parser.feed(text)
      : (text) => void this.#pieces.push(text);
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MOST_BYTES) return this.#giveUp();
    try {
      this.#feed?.(this.#decoder.decode(chunk, { stream: true }));
    } catch {
      this.#giveUp();
    }
  }

  get isStream(): boolean {
    return this.#isStream;
  }

  recorded(): RecordedAnswer {
    const answer = this.#isStream ? this.#reader.answer() : this.#whole();
    if (answer === undefined) return {};
    const usage = responseUsage(answer);
    return { answer, ...(usage === undefined ? {} : { usage }) };
  }

  #whole(): JsonObject | undefined {
    const answer = this.#pieces.length === 0 ? undefined : parseJson(this.#pieces.join(''));
    return isJsonObject(answer) ? answer : undefined;
  }

  #giveUp(): void {
    this.#feed = undefined;
    this.#pieces = [];
  }
}
