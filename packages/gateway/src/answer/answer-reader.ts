import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
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

/** The parts of an answer by the order of their indexes. */
export function inOrder<T>(parts: ReadonlyMap<number, T>): readonly T[] {
  return [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part);
}

/** The longest answer that is recorded; a longer one is relayed all the same. */
const MOST_BYTES = 33_554_432;

/** How much of a stream is gathered before it is read: many events at once cost less than one by one. */
const READ_BYTES = 16_384;

/** Records an answer whose bytes are relayed. It never fails: what it cannot read is not recorded. */
export class AnswerRecorder {
  readonly #reader: AnswerReader;
  #stream: StreamReader | undefined;
  #chunks: Buffer[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #recorded: RecordedAnswer | undefined;

  constructor(reader: AnswerReader) {
    this.#reader = reader;
  }

  start(contentType: string): void {
    if (contentType.startsWith('text/event-stream')) this.#stream = new StreamReader(this.#reader);
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#waitingBytes += chunk.length;
    if (this.#bytes > MOST_BYTES) this.#chunks = [];
    else this.#chunks.push(chunk);
    if (this.#stream !== undefined && this.#waitingBytes >= READ_BYTES) this.#read(this.#stream);
  }

  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  /** What was recorded, once all bytes have come. */
  recorded(): RecordedAnswer {
    return (this.#recorded ??= this.#summedUp());
  }

  #summedUp(): RecordedAnswer {
    const answer = this.#answer();
    this.#chunks = [];
    const usage = answer && responseUsage(answer);
    return { ...(answer && { answer }), ...(usage && { usage }) };
  }

  #answer(): JsonObject | undefined {
    if (this.#stream !== undefined) {
      this.#read(this.#stream);
      return this.#reader.answer();
    }
    const whole = parseJson(joined(this.#chunks).toString('utf8'));
    return isJsonObject(whole) ? whole : undefined;
  }

  #read(stream: StreamReader): void {
    if (this.#chunks.length > 0) stream.read(joined(this.#chunks));
    this.#chunks = [];
    this.#waitingBytes = 0;
  }
}

/** Hands the events of a stream to a reader, until one of them cannot be read. */
class StreamReader {
  readonly #decoder = new StringDecoder('utf8');
  readonly #parser: EventSourceParser;
  #isBroken = false;

  constructor(reader: AnswerReader) {
    this.#parser = createParser({
      onEvent: ({ data }) => {
        const event = data.startsWith('{') ? parseJson(data) : undefined;
        if (isJsonObject(event)) reader.event(event);
      },
    });
  }

  read(bytes: Buffer): void {
    if (this.#isBroken) return;
    try {
      this.#parser.feed(this.#decoder.write(bytes));
    } catch {
      this.#isBroken = true;
    }
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}
