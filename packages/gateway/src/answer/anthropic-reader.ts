import { isJsonObject, parseJson, type Json, type JsonObject } from '@bobbin/core/internal';
import { inOrder, type AnswerReader } from './answer-reader.ts';

type Block = Record<string, Json | undefined>;

/** The events of the Messages API. */
export class AnthropicReader implements AnswerReader {
  #message: JsonObject | undefined;
  /** By their index, which may be any number. */
  readonly #blocks = new Map<number, Block>();
  readonly #json = new Map<number, string>();

  event(event: JsonObject): void {
    const { type, message, index, content_block: block, delta, usage, ...rest } = event;
    if (type === 'message_start' && isJsonObject(message)) this.#message = message;
    if (typeof index === 'number' && isJsonObject(block)) this.#blocks.set(index, { ...block });
    if (type === 'content_block_delta' && typeof index === 'number' && isJsonObject(delta))
      this.#extend(index, delta);
    if (type === 'message_delta') this.#change({ ...rest, ...(delta as JsonObject) }, usage);
  }

  answer(): JsonObject | undefined {
    if (this.#message === undefined) return undefined;
    for (const [index, json] of this.#json) {
      const block = this.#blocks.get(index);
      if (block !== undefined) block['input'] = parseJson(json) ?? {};
    }
    return { ...this.#message, content: inOrder(this.#blocks) };
  }

  #change(fields: JsonObject, usage: Json | undefined): void {
    if (this.#message === undefined) return;
    const { usage: before } = this.#message;
    const counted = isJsonObject(before) ? before : {};
    const newer = isJsonObject(usage) ? usage : {};
    this.#message = { ...this.#message, ...fields, usage: { ...counted, ...known(newer) } };
  }

  #extend(index: number, delta: JsonObject): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    for (const [name, value] of Object.entries(delta)) {
      if (name === 'type') continue;
      if (name === 'partial_json' && typeof value === 'string')
        this.#json.set(index, (this.#json.get(index) ?? '') + value);
      else if (name === 'citation') block['citations'] = [...citations(block), value ?? null];
      else if (typeof value === 'string' && typeof block[name] === 'string' && name !== 'signature')
        block[name] += value;
      else block[name] = value;
    }
  }
}

function citations(block: Block): readonly Json[] {
  const { citations: cited } = block;
  return Array.isArray(cited) ? (cited as readonly Json[]) : [];
}

/** The last report leaves out or nulls what has not changed. */
function known(usage: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}
