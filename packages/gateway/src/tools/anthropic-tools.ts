import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { objectsIn } from '../protocol/protocol.ts';
import {
  addedUp,
  forcesCall,
  isOwnTool,
  type MergedEvents,
  type ModelCall,
  type ToolShape,
} from './tool-shape.ts';

/** Tools in Anthropic's Messages. */
export const anthropicTools: ToolShape = {
  define: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  nameOf: ({ name }) => name,
  allows: (body) => !forcesCall(body),
  noCalls: { type: 'none' },
  waits: ({ stop_reason: reason }) => reason === 'tool_use',
  asMessages: ({ content }) => [{ role: 'assistant', content: content ?? [] }],
  callsIn: (messages) => messages.flatMap(({ content }) => objectsIn(content).flatMap(callOf)),
  withoutOwnCalls: (messages) =>
    messages
      .map((message) => ({ ...message, content: objectsIn(message['content']).filter(isShown) }))
      .filter(({ content }) => content.some(isSaid)),
  results: (results) => [
    {
      role: 'user',
      content: results.map(({ id, text }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: text,
      })),
    },
  ],
  answerLength: ([first]) => (first?.['role'] === 'assistant' ? 1 : 0),
  // All results of one answer are in one message.
  withResults(results, [next, ...after]) {
    if (next === undefined || next['role'] !== 'user')
      return [...results, ...(next === undefined ? [] : [next]), ...after];
    const blocks = [...results, next].flatMap(({ content }) => blocksOf(content));
    return [{ ...next, content: blocks }, ...after];
  },
  merged(answers) {
    const content = answers.flatMap((answer) => objectsIn(answer['content'])).filter(isShown);
    const usages = answers.map(({ usage }) => (isJsonObject(usage) ? usage : {}));
    const last = answers.at(-1) ?? {};
    return {
      ...last,
      id: answers[0]?.['id'],
      content,
      ...shownStop(last, content.some(isCall)),
      usage: addedUp(usages),
    };
  },
  newStream: () => new AnthropicMergedEvents(),
};

function isCall({ type }: JsonObject): boolean {
  return type === 'tool_use';
}

/** A message of nothing but thinking is refused. */
function isSaid({ type }: JsonObject): boolean {
  return type !== 'thinking' && type !== 'redacted_thinking';
}

function isShown(block: JsonObject): boolean {
  return !isCall(block) || !isOwnTool(block['name']);
}

function callOf(block: JsonObject): readonly ModelCall[] {
  const { id, name, input } = block;
  if (!isCall(block) || typeof id !== 'string' || typeof name !== 'string') return [];
  return [{ id, name, args: input }];
}

function blocksOf(content: JsonObject[string]): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content);
}

/** A client that sees no call must not wait for one. */
function shownStop({ stop_reason: reason }: JsonObject, hasCalls: boolean): JsonObject {
  return { stop_reason: reason === 'tool_use' && !hasCalls ? 'end_turn' : reason };
}

class AnthropicMergedEvents implements MergedEvents {
  /** The index that the client sees for each index of the present answer; own calls have none. */
  #shown = new Map<unknown, number>();
  #count = 0;
  #round = 0;
  #hasCalls = false;
  readonly #usages: JsonObject[] = [];
  #startUsage: JsonObject = {};
  #delta: JsonObject | undefined;
  #stop: JsonObject | undefined;

  event(data: JsonObject): readonly JsonObject[] {
    const { type } = data;
    switch (typeof type === 'string' ? type : '') {
      case 'message_start':
        return this.#started(data);
      case 'content_block_start':
        return this.#blockStarted(data);
      case 'content_block_delta':
      case 'content_block_stop': {
        const index = this.#shown.get(data['index']);
        return index === undefined ? [] : [{ ...data, index }];
      }
      case 'message_delta':
        this.#delta = data;
        return [];
      case 'message_stop':
        this.#stop = data;
        return [];
      default:
        return [data];
    }
  }

  next(): void {
    this.#usages.push(this.#usage());
    this.#shown = new Map();
    this.#round++;
    [this.#delta, this.#stop, this.#startUsage] = [undefined, undefined, {}];
  }

  end(): readonly JsonObject[] {
    const delta = this.#delta?.['delta'];
    if (this.#delta === undefined || !isJsonObject(delta)) return [];
    const shown = {
      ...this.#delta,
      delta: { ...delta, ...shownStop(delta, this.#hasCalls) },
      usage: addedUp([...this.#usages, this.#usage()]),
    };
    return this.#stop === undefined ? [shown] : [shown, this.#stop];
  }

  error: (body: JsonObject) => JsonObject = (body) => body;

  #started(data: JsonObject): readonly JsonObject[] {
    const { message } = data;
    const usage = isJsonObject(message) ? message['usage'] : undefined;
    this.#startUsage = isJsonObject(usage) ? usage : {};
    return this.#round === 0 ? [data] : [];
  }

  /** What the present answer used: its end repeats or completes what its start said. */
  #usage(): JsonObject {
    const usage = this.#delta?.['usage'];
    const last = isJsonObject(usage) ? usage : {};
    const known = Object.entries(last).filter(([, value]) => value !== null);
    return { ...this.#startUsage, ...Object.fromEntries(known) };
  }

  #blockStarted(data: JsonObject): readonly JsonObject[] {
    const { content_block: block } = data;
    if (isJsonObject(block) && !isShown(block)) return [];
    this.#hasCalls ||= isJsonObject(block) && isCall(block);
    this.#shown.set(data['index'], this.#count);
    return [{ ...data, index: this.#count++ }];
  }
}
