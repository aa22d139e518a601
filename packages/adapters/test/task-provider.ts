import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, parseJson, type Json, type JsonObject } from '@bobbin/core/internal';
import type { Task } from './task.ts';
import { objectsIn, SPEECHES, type Dialect, type Speech } from './task-speech.ts';

export type { Dialect } from './task-speech.ts';

export interface TaskProvider {
  readonly url: string;
  /** The size of every request that was answered, in order. */
  readonly sizes: readonly number[];
  /** How many cache markers each of them held. */
  readonly markers: readonly number[];
  /** How many thoughts of the model each of them held. */
  readonly thoughts: readonly number[];
  /** How many of them name a tool of Bobbin's in their messages, and how many asked the model to think. */
  readonly naming: number;
  readonly thinking: number;
  /** Why requests were refused. */
  readonly faults: readonly string[];
  /** How often a request was smaller than the one before: the prompt was compacted. */
  readonly shrunk: number;
  readonly close: () => Promise<void>;
}

/** A request that was answered. */
interface Asked {
  readonly messages: readonly string[];
  readonly thoughts: number;
}

/**
 * A provider on loopback whose model works at a task: it reads nothing but the request. It refuses whatever the real
 * one would: separated pairs, wrong order, thinking that was signed for another conversation or is missing from one
 * that goes on, and prompts larger than its window by its own tokenizer, which no client knows. It also refuses a
 * prompt that names a tool which the request does not offer.
 */
export async function taskProvider(
  dialect: Dialect,
  task: Task,
  windowTokens: number = 16_000,
): Promise<TaskProvider> {
  const speech = SPEECHES[dialect];
  const [sizes, markers, thoughts]: [number[], number[], number[]] = [[], [], []];
  const faults: string[] = [];
  let [naming, thinking] = [0, 0];
  const memory = new Memory(speech);
  const answer = (sent: JsonObject): [status: number, JsonObject] => {
    const body = memory.resolved(sent);
    const tokens = tokensIn(body);
    const fault =
      speech.problems(body)[0] ??
      memory.problem(body) ??
      unofferedTool(speech, body) ??
      (tokens > windowTokens ? speech.tooLong(tokens, windowTokens) : undefined);
    if (fault !== undefined) {
      faults.push(`request ${sizes.length + faults.length + 1}: ${fault}`);
      return [400, speech.error(fault)];
    }
    sizes.push(tokens);
    naming += namedTools(speech, body).length > 0 ? 1 : 0;
    thinking += isJsonObject(body['thinking']) && body['thinking']['type'] === 'enabled' ? 1 : 0;
    markers.push(JSON.stringify(body).split('"cache_control"').length - 1);
    thoughts.push(speech.thoughts(speech.messages(body)));
    const asked = textsIn(body).join('\n');
    // Without tools, a host wants a summary.
    const next = body['tools'] === undefined ? task.summary(asked) : task.next(asked);
    const [calls, text] = typeof next === 'string' ? [[], next] : [next, ''];
    const id = `${sizes.length}`;
    const said = speech.answer({ id, thought: `request ${id} is next`, calls, text }, body);
    memory.keep(body, said);
    const model = body['model'] ?? 'scripted';
    return [200, { ...said, id: `answer_${id}`, model, ...speech.usage(tokens) }];
  };
  const server = createServer((incoming, outgoing) => {
    void read(incoming).then((body) => {
      const [path] = (incoming.url ?? '').split('?');
      const isKnown = path === speech.path && isJsonObject(body);
      const [status, reply] = isKnown ? answer(body) : [404, speech.error(`no ${incoming.url}`)];
      if (status === 200 && isKnown && body['stream'] === true)
        return outgoing
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(streamed(speech.events(reply)));
      outgoing.writeHead(status, { 'content-type': 'application/json' });
      return outgoing.end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    sizes,
    markers,
    thoughts,
    faults,
    get naming() {
      return naming;
    },
    get thinking() {
      return thinking;
    },
    get shrunk() {
      return sizes.filter((size, i) => size < (sizes[i - 1] ?? 0)).length;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const MEMORY_TOOLS = ['read_artifact', 'recall'] as const;

/** The tools of Bobbin's that the conversation names; a host's own instructions may say what they like. */
function namedTools(speech: Speech, body: JsonObject): readonly string[] {
  const said = speech
    .messages(body)
    .filter(({ role }) => role !== 'system' && role !== 'developer');
  const text = textsIn(said).join('\n');
  return MEMORY_TOOLS.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
}

/** A request without tools wants a summary: it may quote anything. */
function unofferedTool(speech: Speech, body: JsonObject): string | undefined {
  if (body['tools'] === undefined) return undefined;
  const offered = new Set(
    objectsIn(body['tools']).map(({ name, function: own }) =>
      isJsonObject(own) ? own['name'] : name,
    ),
  );
  const missing = namedTools(speech, body).find((name) => !offered.has(name));
  return missing === undefined ? undefined : `the prompt names ${missing}, which is not offered`;
}

/** What a provider remembers: the items that it made, and what it was asked before each of its calls. */
class Memory {
  readonly #speech: Speech;
  readonly #items = new Map<Json | undefined, JsonObject>();
  readonly #asked = new Map<Json | undefined, Asked>();

  constructor(speech: Speech) {
    this.#speech = speech;
  }

  /** A request of the Responses API may name items instead of sending them. */
  resolved(body: JsonObject): JsonObject {
    if (!Array.isArray(body['input'])) return body;
    const input = objectsIn(body['input']).map((item) =>
      item['type'] === 'item_reference' ? (this.#items.get(item['id']) ?? item) : item,
    );
    return { ...body, input };
  }

  /** A conversation that goes on as it was holds all that the model thought. */
  problem(body: JsonObject): string | undefined {
    const messages = this.#speech.messages(body);
    const before = this.#asked.get(this.#speech.calls(messages).at(-1));
    const goesOn = before?.messages.every((message, i) => message === bare(messages[i])) ?? false;
    if (before === undefined || !goesOn) return undefined;
    const [due, sent] = [before.thoughts, this.#speech.thoughts(messages)];
    return sent === due ? undefined : `${sent} thoughts in a conversation with ${due}`;
  }

  keep(body: JsonObject, said: JsonObject): void {
    for (const item of objectsIn(said['output'])) this.#items.set(item['id'], item);
    const output = said['output'] === undefined ? [said] : objectsIn(said['output']);
    const asked = this.#speech.messages(body);
    const thoughts = this.#speech.thoughts([...asked, ...output]);
    for (const id of this.#speech.calls(output))
      this.#asked.set(id, { messages: asked.map(bare), thoughts });
  }
}

/** A message without the cache markers, which move from request to request. */
function bare(message: JsonObject | undefined): string {
  return JSON.stringify(message, (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  );
}

async function read(incoming: IncomingMessage): Promise<Json | undefined> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return parseJson(Buffer.concat(pieces).toString('utf8'));
}

/** The provider's own tokens: everything in the request counts, tools and field names included. */
function tokensIn(body: JsonObject): number {
  const { messages, input, system, instructions, tools } = body;
  const counted = JSON.stringify([messages, input, system, instructions, tools]);
  return Math.ceil(Buffer.byteLength(counted) / 3.1);
}

function streamed(events: readonly JsonObject[]): string {
  const lines = events.map((event) => {
    const { type } = event;
    const name = typeof type === 'string' ? `event: ${type}\n` : '';
    return `${name}data: ${JSON.stringify(event)}`;
  });
  return [...lines, 'data: [DONE]', ''].join('\n\n');
}

function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  return (Array.isArray(value) ? value : Object.values(value as JsonObject)).flatMap(textsIn);
}
