import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';
import { objectsIn } from '../protocol/protocol.ts';
import type { AnswerReader } from './answer-reader.ts';

type Fields = Record<string, Json | undefined>;

/** The chunks of Chat Completions. Only the first choice is read. */
export class ChatReader implements AnswerReader {
  #head: JsonObject | undefined;
  #usage: Json | undefined;
  #finish: Json = null;
  readonly #message: Fields = { role: 'assistant', content: null };
  readonly #calls: Fields[] = [];

  event({ choices, usage, ...head }: JsonObject): void {
    this.#head ??= head;
    if (isJsonObject(usage)) this.#usage = usage;
    const choice = objectsIn(choices).find(({ index }) => index === 0 || index === undefined);
    if (choice === undefined) return;
    this.#finish = choice['finish_reason'] ?? this.#finish;
    if (isJsonObject(choice['delta'])) this.#extend(choice['delta']);
  }

  answer(): JsonObject | undefined {
    if (this.#head === undefined) return undefined;
    const calls = this.#calls.filter(Boolean);
    const message = { ...this.#message, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    return {
      ...this.#head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: this.#finish }],
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
    };
  }

  #extend({ tool_calls: calls, ...delta }: JsonObject): void {
    join(this.#message, { ...delta, role: null });
    for (const { index, ...call } of objectsIn(calls)) {
      const at = typeof index === 'number' ? index : this.#calls.length;
      const { function: called, ...fields } = call;
      const known = (this.#calls[at] ??= {});
      for (const [name, value] of Object.entries(fields)) if (value !== null) known[name] = value;
      if (isJsonObject(called)) join((known['function'] ??= {}) as Fields, called);
    }
  }
}

/** Texts grow; anything else takes its newest value. */
function join(target: Fields, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null) continue;
    const before = target[name];
    target[name] = typeof before === 'string' && typeof value === 'string' ? before + value : value;
  }
}
