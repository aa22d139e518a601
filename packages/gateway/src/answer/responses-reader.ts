import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import type { AnswerReader } from './answer-reader.ts';

/** The last event of a stream holds the whole response; before it, each item that is done. */
export class ResponsesReader implements AnswerReader {
  #response: JsonObject | undefined;
  readonly #items: JsonObject[] = [];

  event({ type, response, item }: JsonObject): void {
    if (isJsonObject(response)) this.#response = response;
    if (type === 'response.output_item.done' && isJsonObject(item)) this.#items.push(item);
  }

  answer(): JsonObject | undefined {
    if (this.#response === undefined) return undefined;
    const { output } = this.#response;
    const isEmpty = !Array.isArray(output) || output.length === 0;
    return isEmpty ? { ...this.#response, output: this.#items } : this.#response;
  }
}
