import { DecodeError } from '@bobbin/codecs';
import { optionFor } from './formats.ts';
import { jsonText } from '@bobbin/core/internal';
import { InputError, positionOf } from '../failure.ts';
import {
  entries,
  JsonProblem,
  offsetOf,
  TEXT_AFTER,
  wholeValue,
  type JsonRange,
} from './json-text.ts';

/**
 * A conversation in a file: a list of messages, or an object that holds one among other fields. What is kept of it is
 * written with the very characters that were read.
 */
export class Transcript {
  readonly messages: readonly unknown[];
  /** The other fields next to the messages, as they were parsed; none if the text is a list. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly #text: string;
  readonly #source: string;
  readonly #line: number | undefined;
  readonly #list: JsonRange;
  readonly #slices: ReadonlyMap<unknown, string>;

  /**
   * A text that is all of its source, or one line of it.
   * @throws InputError if the text is not a transcript.
   */
  constructor(text: string, source: string, line?: number) {
    this.#text = text;
    this.#source = source;
    this.#line = line;
    const whole = this.#wholeValue();
    const value = JSON.parse(text.slice(whole.start, whole.end)) as unknown;
    this.fields = isFields(value) ? value : {};
    const field = LISTS.find((name) => Array.isArray(this.fields[name])) ?? 'messages';
    const messages: unknown = Array.isArray(value) ? value : this.fields[field];
    this.messages = Array.isArray(messages) ? messages : this.#refuse(whole.start);
    this.#list = Array.isArray(value) ? whole : lastField(text, whole.start, field);
    const ranges = [...entries(text, this.#list.start)];
    this.#slices = new Map(
      ranges.map(({ start, end }, i) => [this.messages[i], text.slice(start, end)]),
    );
  }

  /** Runs what decodes the messages, and adds to a problem its place in the text. */
  located<T>(decode: () => T): T {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const offset = offsetOf(this.#text, this.#list.start, keysOf(error.path));
      // A library names a codec; the command has an option for it.
      const option = optionFor(this.messages);
      const hint = option === undefined ? '$&' : `: use ${option}`;
      return this.#fail(offset, error.message.replace(/: use `\w+` of bobbin\/[\w-]+$/, hint));
    }
  }

  /** The text of the list alone, with other messages in it. */
  list(messages: readonly unknown[]): string {
    const same =
      messages.length === this.messages.length &&
      messages.every((message, i) => message === this.messages[i]);
    return same ? this.#text.slice(this.#list.start, this.#list.end) : this.#layOut(messages);
  }

  /** The whole text, with other messages in it and everything else as it was. */
  text(messages: readonly unknown[]): string {
    const before = this.#text.slice(0, this.#list.start);
    return before + this.list(messages) + this.#text.slice(this.#list.end);
  }

  /** @throws InputError that names the place of a field. */
  failAt(field: string, problem: string): never {
    const { start } = wholeValue(this.#text);
    return this.#fail(offsetOf(this.#text, start, [field]), `${field}: ${problem}`);
  }

  /** Lists are laid out as the one that was read: on one line, or one item a line with its indentation. */
  #layOut(messages: readonly unknown[]): string {
    const inner = this.#text.slice(this.#list.start + 1, this.#list.end - 1);
    const before = inner.slice(0, inner.length - inner.trimStart().length);
    const after = inner === before ? '' : inner.slice(inner.trimEnd().length);
    const unit = before.includes('\n') ? (/\n([ \t]+)/.exec(this.#text)?.[1] ?? '') : '';
    const indent = before.slice(before.lastIndexOf('\n') + 1);
    const write = (message: unknown): string =>
      this.#slices.get(message) ?? indented(message, unit).replaceAll('\n', `\n${indent}`);
    return `[${before}${messages.map(write).join(`,${before === '' ? this.#gap() : before}`)}${after}]`;
  }

  /** What separates two items on one line: nothing, or a space. */
  #gap(): string {
    const [first, second] = entries(this.#text, this.#list.start);
    if (first === undefined || second === undefined) return '';
    return this.#text.slice(first.end, second.start).replace(',', '');
  }

  #wholeValue(): JsonRange {
    const byteOrderMark = this.#text.startsWith('\uFEFF') ? 1 : 0;
    try {
      return wholeValue(this.#text, byteOrderMark);
    } catch (error) {
      if (error instanceof JsonProblem)
        return this.#fail(error.offset, error.message + this.#otherwise(error));
      throw error;
    }
  }

  /** What to do if several lines were read as one text, or one text as several lines. */
  #otherwise({ offset, message }: JsonProblem): string {
    if (this.#line !== undefined)
      return offset === this.#text.length
        ? '; --jsonl reads one whole conversation a line, a file that is one is read without'
        : '';
    const isAnother = message === TEXT_AFTER && '[{'.includes(this.#text.charAt(offset));
    return isAnother ? '; compact --jsonl reads one conversation a line' : '';
  }

  #refuse(offset: number): never {
    const session = this.#line === 1 ? '; a session file is read without --jsonl' : '';
    return this.#fail(
      offset,
      `must be a list of messages, or an object that holds one as "messages"${session}`,
    );
  }

  #fail(offset: number, problem: string): never {
    throw new InputError(this.#source, positionOf(this.#text, offset, this.#line), problem);
  }
}

/** What is nested deeper than the stack is written on one line. */
function indented(message: unknown, unit: string): string {
  try {
    return JSON.stringify(message, null, unit);
  } catch (error) {
    if (error instanceof RangeError) return jsonText(message);
    throw error;
  }
}

/** What a request calls its list of messages. */
const LISTS = ['messages', 'input', 'contents'];

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As the parser does, the last field of a name counts. */
function lastField(text: string, start: number, name: string): JsonRange {
  const field = [...entries(text, start)].findLast(({ key }) => key === name);
  if (field === undefined) throw new RangeError(`the object has no field ${name}`);
  return field;
}

/** The keys of a codec's path: `messages[3].content` is `3`, `content`. */
function keysOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\.([^.[]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? '') : Number(index),
  );
}
