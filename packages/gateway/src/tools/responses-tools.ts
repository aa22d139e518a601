import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { objectsIn } from '../protocol/protocol.ts';
import {
  addedUp,
  argsIn,
  forcesCall,
  isOwnTool,
  type MergedEvents,
  type ModelCall,
  type ToolShape,
} from './tool-shape.ts';

/** Tools in OpenAI's Responses. */
export const responsesTools: ToolShape = {
  define: ({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    strict: false,
  }),
  nameOf: ({ name }) => name,
  // What the provider keeps has the hidden rounds under ids that the client does not get.
  allows: (body) => body['store'] === false && !forcesCall(body),
  noCalls: 'none',
  waits: ({ status }) => status === 'completed',
  asMessages: ({ output }) => objectsIn(output).flatMap(asInput),
  callsIn: (messages) => messages.flatMap(callOf),
  // Reasoning that nothing follows is refused.
  withoutOwnCalls(messages) {
    const shown = messages.filter(isShown);
    return shown.every(({ type }) => type === 'reasoning') ? [] : shown;
  },
  results: (results) =>
    results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text })),
  answerLength(messages) {
    const end = messages.findIndex((item) => !isOutput(item));
    return end < 0 ? messages.length : end;
  },
  withResults: (results, after) => [...results, ...after],
  merged(answers) {
    const last = answers.at(-1) ?? {};
    const output = answers.flatMap((answer) => objectsIn(answer['output'])).filter(isShown);
    const usages = answers.map(({ usage }) => usage).filter(isJsonObject);
    return {
      ...last,
      id: answers[0]?.['id'],
      created_at: answers[0]?.['created_at'],
      output,
      ...(usages.length === 0 ? {} : { usage: addedUp(usages) }),
    };
  },
  newStream: () => new ResponsesMergedEvents(),
};

/** An item that a model made. */
function isOutput({ type = 'message', role }: JsonObject): boolean {
  if (type === 'message') return role === 'assistant';
  return type === 'reasoning' || (typeof type === 'string' && type.endsWith('_call'));
}

/** An item of an answer as one of a request that nothing was stored for: reasoning only if it is in the item itself. */
function asInput(item: JsonObject): readonly JsonObject[] {
  const { id: _, status: __, ...kept } = item;
  if (item['type'] !== 'reasoning') return [kept];
  return typeof item['encrypted_content'] === 'string' ? [item] : [];
}

function isShown({ type, name }: JsonObject): boolean {
  return type !== 'function_call' || !isOwnTool(name);
}

function callOf({ type, call_id: id, name, arguments: args }: JsonObject): readonly ModelCall[] {
  if (type !== 'function_call' || typeof id !== 'string' || typeof name !== 'string') return [];
  return [{ id, name, args: argsIn(args) }];
}

const BEGINNINGS: ReadonlySet<unknown> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
]);
const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);

class ResponsesMergedEvents implements MergedEvents {
  #round = 0;
  #sequence = 0;
  #id: JsonObject[string];
  /** The index that the client sees for each item of the present answer; own calls have none. */
  #shown = new Map<unknown, number | undefined>();
  #count = 0;
  #answers: JsonObject[] = [];
  #items: JsonObject[] = [];
  #end: JsonObject | undefined;

  event(data: JsonObject): readonly JsonObject[] {
    const { type, response, output_index: index, item } = data;
    if (isJsonObject(response)) this.#id ??= response['id'];
    if (BEGINNINGS.has(type)) return this.#round === 0 ? [this.#numbered(data)] : [];
    if (ENDS.has(type)) {
      this.#end = data;
      return [];
    }
    if (type === 'response.output_item.added' && isJsonObject(item))
      this.#shown.set(index, isShown(item) ? this.#count++ : undefined);
    if (type === 'response.output_item.done' && isJsonObject(item)) this.#items.push(item);
    if (index === undefined) return [this.#numbered(this.#withId(data))];
    const shown = this.#shown.get(index);
    return shown === undefined ? [] : [this.#numbered({ ...data, output_index: shown })];
  }

  next(): void {
    this.#answers.push(this.#answer());
    this.#round++;
    this.#shown = new Map();
    this.#items = [];
    this.#end = undefined;
  }

  end(): readonly JsonObject[] {
    if (this.#end === undefined) return [];
    const response = responsesTools.merged([...this.#answers, this.#answer()]);
    return [this.#numbered(this.#withId({ ...this.#end, response }))];
  }

  error(body: JsonObject): JsonObject {
    const { error } = body;
    const { code = null, message = '', param = null } = isJsonObject(error) ? error : {};
    return this.#numbered({ type: 'error', code, message, param });
  }

  /** The present answer; a stream may leave its items out of its last event. */
  #answer(): JsonObject {
    const response = this.#end?.['response'];
    const answer = isJsonObject(response) ? response : {};
    return objectsIn(answer['output']).length > 0 ? answer : { ...answer, output: this.#items };
  }

  #withId(data: JsonObject): JsonObject {
    const { response } = data;
    return isJsonObject(response) ? { ...data, response: { ...response, id: this.#id } } : data;
  }

  #numbered(data: JsonObject): JsonObject {
    const sequence = this.#sequence++;
    return data['sequence_number'] === undefined ? data : { ...data, sequence_number: sequence };
  }
}
