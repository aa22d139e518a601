import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { objectsIn, textIn } from '../protocol/protocol.ts';
import {
  addedUp,
  argsIn,
  DONE,
  forcesCall,
  isOwnTool,
  type MergedEvents,
  type ModelCall,
  type ToolShape,
} from './tool-shape.ts';

/** What separates the texts of two answers. */
const SEPARATOR = '\n\n';

/** Tools in OpenAI's Chat Completions. */
export const chatTools: ToolShape = {
  define: ({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }),
  nameOf: nameIn,
  allows: (body) => (body['n'] ?? 1) === 1 && body['functions'] === undefined && !forcesCall(body),
  noCalls: 'none',
  waits: (answer) => !CUT_OFF.has(choiceOf(answer)['finish_reason']),
  asMessages: (answer) => [asInput(messageOf(answer))],
  callsIn: (messages) =>
    messages.flatMap(({ tool_calls: calls }) => objectsIn(calls).flatMap(callOf)),
  withoutOwnCalls: (messages) =>
    messages
      .map(({ tool_calls: calls, ...message }) => {
        const shown = objectsIn(calls).filter(isShown);
        return shown.length === 0 ? message : { ...message, tool_calls: shown };
      })
      .filter((message) => 'tool_calls' in message || textIn(message['content']) !== ''),
  results: (results) =>
    results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
  answerLength: ([first]) => (first?.['role'] === 'assistant' ? 1 : 0),
  withResults: (results, after) => [...results, ...after],
  merged(answers) {
    const messages = answers.map(messageOf);
    const texts = messages.map(({ content }) => textIn(content)).filter((text) => text !== '');
    const last = answers.at(-1) ?? {};
    const calls = messages.flatMap((each) => objectsIn(each['tool_calls'])).filter(isShown);
    const { tool_calls: _, ...message } = messages.at(-1) ?? {};
    const usages = answers.map(({ usage }) => usage).filter(isJsonObject);
    const choice = choiceOf(last);
    return {
      ...last,
      id: answers[0]?.['id'],
      choices: [
        {
          ...choice,
          message: {
            ...message,
            content: texts.length === 0 ? null : texts.join(SEPARATOR),
            ...(calls.length === 0 ? {} : { tool_calls: calls }),
          },
          finish_reason: shownFinish(choice['finish_reason'], calls.length > 0),
        },
      ],
      ...(usages.length === 0 ? {} : { usage: addedUp(usages) }),
    };
  },
  newStream: () => new ChatMergedEvents(),
};

const CUT_OFF: ReadonlySet<unknown> = new Set(['length', 'content_filter', null]);

function choiceOf({ choices }: JsonObject): JsonObject {
  return objectsIn(choices)[0] ?? {};
}

function messageOf(answer: JsonObject): JsonObject {
  const { message } = choiceOf(answer);
  return isJsonObject(message) ? message : {};
}

/** A message without the fields that only answers have. */
function asInput(message: JsonObject): JsonObject {
  const kept = Object.entries(message).filter(
    ([name, value]) => name === 'content' || (value !== null && !isEmptyList(value)),
  );
  return Object.fromEntries(kept);
}

function isEmptyList(value: JsonObject[string]): boolean {
  return Array.isArray(value) && value.length === 0;
}

function nameIn({ function: called }: JsonObject): unknown {
  return isJsonObject(called) ? called['name'] : undefined;
}

function isShown(call: JsonObject): boolean {
  return !isOwnTool(nameIn(call));
}

function callOf(call: JsonObject): readonly ModelCall[] {
  const { id, function: called } = call;
  const name = nameIn(call);
  if (typeof id !== 'string' || typeof name !== 'string' || !isJsonObject(called)) return [];
  return [{ id, name, args: argsIn(called['arguments']) }];
}

function shownFinish(reason: JsonObject[string], hasCalls: boolean): JsonObject[string] {
  return reason === 'tool_calls' && !hasCalls ? 'stop' : reason;
}

class ChatMergedEvents implements MergedEvents {
  #head: JsonObject = {};
  #round = 0;
  /** The index that the client sees for each call of the present answer; own calls have none. */
  #shown = new Map<unknown, number | undefined>();
  /** Pieces of calls whose names have not come yet. */
  #nameless = new Map<unknown, JsonObject[]>();
  #calls = 0;
  #finish: JsonObject | undefined;
  /** What earlier answers used, and what the present one has reported so far. */
  readonly #usages: JsonObject[] = [];
  #usage: JsonObject | undefined;
  #usageChunk: JsonObject | undefined;
  #hasText = false;
  #isSeparated = true;

  event(data: JsonObject): readonly JsonObject[] {
    const { choices, usage, id, created, model } = data;
    if (id !== undefined && this.#head['id'] === undefined) this.#head = { id, created, model };
    if (isJsonObject(usage)) this.#usage = usage;
    const choice = objectsIn(choices)[0];
    if (choice === undefined) {
      if (!isJsonObject(usage)) return [data];
      this.#usageChunk = data;
      return [];
    }
    const { delta, finish_reason: finish } = choice;
    const shown = isJsonObject(delta) ? this.#delta(delta) : undefined;
    if (finish !== undefined && finish !== null) this.#finish = data;
    return shown === undefined
      ? []
      : [this.#chunk(data, { ...choice, delta: shown, finish_reason: null })];
  }

  next(): void {
    this.#round++;
    if (this.#usage !== undefined) this.#usages.push(this.#usage);
    this.#usage = undefined;
    this.#shown = new Map();
    this.#nameless = new Map();
    this.#finish = undefined;
    this.#isSeparated = !this.#hasText;
  }

  end(): readonly (JsonObject | typeof DONE)[] {
    const choice = objectsIn(this.#finish?.['choices'])[0];
    if (this.#finish === undefined || choice === undefined) return [];
    const usage = addedUp([...this.#usages, ...(this.#usage === undefined ? [] : [this.#usage])]);
    const finish_reason = shownFinish(choice['finish_reason'], this.#calls > 0);
    const { usage: own, ...chunk } = this.#finish;
    const finish = {
      ...this.#chunk(chunk, { ...choice, delta: {}, finish_reason }),
      ...(own === undefined ? {} : { usage: isJsonObject(own) ? usage : own }),
    };
    return this.#usageChunk === undefined
      ? [finish, DONE]
      : [finish, { ...this.#usageChunk, ...this.#head, usage }, DONE];
  }

  error: (body: JsonObject) => JsonObject = (body) => body;

  #chunk(data: JsonObject, choice: JsonObject): JsonObject {
    return { ...data, ...this.#head, choices: [choice] };
  }

  /** What the client sees of a piece of an answer; undefined if that is nothing. */
  #delta({ tool_calls: calls, ...rest }: JsonObject): JsonObject | undefined {
    const { role, ...said } = rest;
    const text = this.#separated(said);
    const shown = objectsIn(calls).flatMap((call) => this.#call(call));
    const delta = {
      ...(this.#round === 0 && role !== undefined ? { role } : {}),
      ...text,
      ...(shown.length === 0 ? {} : { tool_calls: shown }),
    };
    return Object.values(delta).every((value) => value === null || value === undefined)
      ? undefined
      : delta;
  }

  #separated(said: JsonObject): JsonObject {
    const { content } = said;
    if (typeof content !== 'string' || content === '') return said;
    this.#hasText = true;
    if (this.#isSeparated) return said;
    this.#isSeparated = true;
    return { ...said, content: SEPARATOR + content };
  }

  #call(call: JsonObject): readonly JsonObject[] {
    const { index } = call;
    if (this.#shown.has(index)) {
      const shown = this.#shown.get(index);
      return shown === undefined ? [] : [{ ...call, index: shown }];
    }
    const pieces = [...(this.#nameless.get(index) ?? []), call];
    const name = pieces.map(nameIn).find((each) => typeof each === 'string' && each !== '');
    if (name === undefined) {
      this.#nameless.set(index, pieces);
      return [];
    }
    const shown = isOwnTool(name) ? undefined : this.#calls++;
    this.#shown.set(index, shown);
    return shown === undefined ? [] : pieces.map((piece) => ({ ...piece, index: shown }));
  }
}
