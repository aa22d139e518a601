import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';
import { objectsIn } from '../protocol/protocol.ts';
import { inOrder, type AnswerReader } from './answer-reader.ts';

type Fields = Record<string, Json | undefined>;

/** The chunks of Chat Completions. Only the first choice is read. */
export class ChatReader implements AnswerReader {
  #head: JsonObject | undefined;
  #usage: Json | undefined;
  #finish: Json = null;
  readonly #message: Fields = { role: 'assistant', content: null };
  /** By their index, which may be any number. */
  readonly #calls = new Map<number, Fields>();

  event(chunk: JsonObject): void {
    const { choices, usage } = chunk;
    this.#head ??= withoutAnswer(chunk);
    if (isJsonObject(usage)) this.#usage = usage;
    const choice = firstChoice(choices);
    if (choice === undefined) return;
    this.#finish = choice['finish_reason'] ?? this.#finish;
    if (isJsonObject(choice['delta'])) this.#extend(choice['delta']);
  }

  answer(): JsonObject | undefined {
    if (this.#head === undefined) return undefined;
    const calls = inOrder(this.#calls);
    const message = { ...this.#message, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    return {
      ...this.#head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: this.#finish }],
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
    };
  }

  #extend(delta: JsonObject): void {
    join(this.#message, delta, NOT_JOINED);
    const { tool_calls: calls } = delta;
    if (calls === undefined || calls === null) return;
    for (const { index, ...call } of objectsIn(calls)) {
      const at = typeof index === 'number' ? index : this.#calls.size;
      const { function: called, ...fields } = call;
      const known = this.#calls.get(at) ?? {};
      this.#calls.set(at, known);
      for (const [name, value] of Object.entries(fields)) if (value !== null) known[name] = value;
      if (isJsonObject(called)) join((known['function'] ??= {}) as Fields, called);
    }
  }
}

/** Fields of a delta that do not grow by joining. */
const NOT_JOINED: ReadonlySet<string> = new Set(['role', 'tool_calls']);

function withoutAnswer(chunk: JsonObject): JsonObject {
  return { ...chunk, choices: undefined, usage: undefined };
}

function firstChoice(choices: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  return (choices as readonly Json[])
    .filter(isJsonObject)
    .find(({ index }) => index === 0 || index === undefined);
}

/** Texts grow; anything else takes its newest value. */
function join(target: Fields, delta: JsonObject, except: ReadonlySet<string> = new Set()): void {
  for (const name in delta) {
    const value = delta[name];
    if (value === null || except.has(name)) continue;
    const before = target[name];
    target[name] = typeof before === 'string' && typeof value === 'string' ? before + value : value;
  }
}
