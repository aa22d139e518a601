import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, parseJson, type Json, type JsonObject } from '@bobbin/core/internal';
import { anthropicDialect } from './anthropic.ts';
import { bedrockDialect } from './bedrock.ts';
import { chatDialect } from './chat.ts';
import { geminiDialect } from './gemini.ts';
import { responsesDialect } from './responses.ts';

/** Why an answer ends. */
export type Finish = 'stop' | 'length' | 'refusal';

export interface ProviderUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
}

export interface ScriptedCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/** How one provider speaks: its path, what it takes, and how it answers. */
export interface Dialect {
  readonly path: string | RegExp;
  /** True if a request asks for a stream; if absent, its body says so. */
  isStream?(url: string): boolean;
  /** What the model reads of a request: a provider that compacts drops what came before. The whole if absent. */
  reads?(body: JsonObject): JsonObject;
  /** Why the provider would not take a request, or undefined if it would. */
  problem(body: JsonObject, headers: Readonly<Record<string, string>>): string | undefined;
  answer(text: string, finish: Finish, usage: ProviderUsage, body: JsonObject): JsonObject;
  /** `index` is the number of the request, for an id that is not used twice. */
  call(
    tool: string,
    args: JsonObject,
    usage: ProviderUsage,
    body: JsonObject,
    index: number,
  ): JsonObject;
  /** Several calls of one answer, after a text if that is not empty. */
  calls?(
    text: string,
    calls: readonly ScriptedCall[],
    usage: ProviderUsage,
    body: JsonObject,
    index: number,
  ): JsonObject;
  /** An answer that begins with the provider's own compaction, if it has one. */
  compaction?(summary: string, text: string, usage: ProviderUsage, body: JsonObject): JsonObject;
  /** The same in the events of a stream. */
  stream(answer: JsonObject): string;
  error(status: number, message: string): JsonObject;
  /** The words in which the provider says that a prompt is too long. */
  readonly overflow: { readonly status: number; readonly message: string };
}

/** What a step reports, or what it makes of the request. */
type StepUsage = Partial<ProviderUsage> | ((request: ProviderRequest) => Partial<ProviderUsage>);

/** What the server does with one request. */
export type ProviderStep =
  | {
      readonly kind: 'answer';
      /** What the model says, or what it makes of the request. */
      readonly text: string | ((request: ProviderRequest) => string);
      readonly finish?: Finish;
      readonly usage?: StepUsage;
    }
  /** A call of a tool. */
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly args: JsonObject;
      readonly usage?: StepUsage;
    }
  /** Calls of several tools in one answer, after a text. */
  | {
      readonly kind: 'calls';
      readonly text?: string;
      /** What the model calls, or what it makes of the request. */
      readonly calls:
        | readonly ScriptedCall[]
        | ((request: ProviderRequest) => readonly ScriptedCall[]);
      readonly usage?: StepUsage;
    }
  /** The provider compacts the conversation itself, and then answers. */
  | { readonly kind: 'compact'; readonly summary: string; readonly text: string }
  /** An error in the provider's own form. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'overflow' }
  /** Bytes that are not an answer. */
  | { readonly kind: 'garbage'; readonly body: string }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' };

export interface ProviderRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
  readonly body: JsonObject;
  /** Every text that the model reads of the request, in order. */
  readonly text: string;
}

export interface ProviderServer {
  /** What a client is given as its base URL. */
  readonly url: string;
  /** The same without a path, for clients that add their version themselves. */
  readonly origin: string;
  /** What it was asked, in order. */
  readonly requests: readonly ProviderRequest[];
  /** Throws if a request was unexpected or invalid, or if the script was not played to its end. */
  expectDone(): void;
  close(): Promise<void>;
}

export type DialectName = 'anthropic' | 'bedrock' | 'gemini' | 'openai-chat' | 'openai-responses';

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  anthropic: anthropicDialect,
  bedrock: bedrockDialect,
  gemini: geminiDialect,
  'openai-chat': chatDialect,
  'openai-responses': responsesDialect,
};

/**
 * A provider on loopback that plays a script, one step a request. It is as strict as the real one about what it takes,
 * records what it was asked, and refuses what the script does not hold. The last step is played for ever if it is given
 * as `forever`.
 */
export async function providerServer(
  name: DialectName,
  ...script: readonly (ProviderStep | { readonly forever: ProviderStep })[]
): Promise<ProviderServer> {
  const dialect = DIALECTS[name];
  const requests: ProviderRequest[] = [];
  const faults: string[] = [];
  const server = createServer((incoming, outgoing) => {
    void read(incoming).then((text) => {
      const request = requestOf(incoming, text, dialect);
      const fault = faultOf(dialect, incoming, request);
      const step = stepAt(script, requests.length);
      requests.push(request);
      if (fault !== undefined || step === undefined) {
        const message = fault ?? `the script ends before request ${requests.length}`;
        faults.push(message);
        return send(outgoing, 400, dialect.error(400, message));
      }
      return play(step, dialect, request, outgoing, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    origin: `http://127.0.0.1:${port}`,
    requests,
    expectDone() {
      if (faults.length > 0) throw new Error(faults.join('\n'));
      const expected = script.filter((step) => !('forever' in step)).length;
      if (requests.length < expected)
        throw new Error(`asked ${requests.length} times of ${expected}`);
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function stepAt(
  script: readonly (ProviderStep | { readonly forever: ProviderStep })[],
  index: number,
): ProviderStep | undefined {
  const step = script[Math.min(index, script.length - 1)];
  if (step === undefined) return undefined;
  if ('forever' in step) return step.forever;
  return index < script.length ? step : undefined;
}

function faultOf(
  dialect: Dialect,
  { method }: IncomingMessage,
  { headers, url, body }: ProviderRequest,
): string | undefined {
  const { path } = dialect;
  const isPath = typeof path === 'string' ? url === path : path.test(url);
  if (method !== 'POST' || !isPath) return `${method} ${url} is not POST ${String(path)}`;
  if (!headers['content-type']?.startsWith('application/json'))
    return 'the content type is not JSON';
  return dialect.problem(body, headers);
}

const USAGE: ProviderUsage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0 };

function usageOf(usage: StepUsage | undefined, request: ProviderRequest): ProviderUsage {
  return { ...USAGE, ...(typeof usage === 'function' ? usage(request) : usage) };
}

function play(
  step: ProviderStep,
  dialect: Dialect,
  request: ProviderRequest,
  outgoing: ServerResponse,
  index: number,
): void {
  switch (step.kind) {
    case 'answer': {
      const text = typeof step.text === 'string' ? step.text : step.text(request);
      const usage = usageOf(step.usage, request);
      const answer = dialect.answer(text, step.finish ?? 'stop', usage, request.body);
      return reply(answer, dialect, request, outgoing, index);
    }
    case 'call':
      return reply(
        dialect.call(step.tool, step.args, usageOf(step.usage, request), request.body, index),
        dialect,
        request,
        outgoing,
        index,
      );
    case 'calls': {
      const calls = typeof step.calls === 'function' ? step.calls(request) : step.calls;
      const usage = usageOf(step.usage, request);
      const answer = dialect.calls?.(step.text ?? '', calls, usage, request.body, index);
      if (answer === undefined) throw new Error('the scripted provider has no several calls');
      return reply(answer, dialect, request, outgoing, index);
    }
    case 'compact': {
      const { summary, text } = step;
      const answer = dialect.compaction?.(summary, text, USAGE, request.body);
      if (answer === undefined) throw new Error('the provider does not compact by itself');
      return reply(answer, dialect, request, outgoing, index);
    }
    case 'error':
      return send(outgoing, step.status, dialect.error(step.status, step.message), step.headers);
    case 'overflow': {
      const { status, message } = dialect.overflow;
      return send(outgoing, status, dialect.error(status, message));
    }
    case 'garbage':
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(step.body);
      return undefined;
    case 'hang':
      return undefined;
  }
}

/** An answer as it was asked for: whole, or as a stream. Frameworks know messages by their ids: no two are alike. */
function reply(
  given: JsonObject,
  dialect: Dialect,
  { body, url }: ProviderRequest,
  outgoing: ServerResponse,
  index: number,
): void {
  const named = (value: JsonObject): JsonObject =>
    typeof value['id'] === 'string' ? { ...value, id: `${value['id']}_${index}` } : value;
  const { output } = given;
  const items = Array.isArray(output) ? { output: output.filter(isJsonObject).map(named) } : {};
  const answer = { ...named(given), ...items };
  const isStream = dialect.isStream?.(url) ?? body['stream'] === true;
  if (!isStream) return send(outgoing, 200, answer);
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).end(dialect.stream(answer));
  return undefined;
}

function send(
  outgoing: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body));
}

async function read(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

function requestOf(incoming: IncomingMessage, text: string, dialect: Dialect): ProviderRequest {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
  );
  const body = parseJson(text);
  const known = isJsonObject(body) ? body : {};
  const texts = textsIn(dialect.reads?.(known) ?? known);
  return { headers, url: incoming.url ?? '', body: known, text: texts.join('\n') };
}

/** Every text in a value, in order, at any depth. */
function textsIn(value: Json): readonly string[] {
  const texts: string[] = [];
  const rest: (Json | undefined)[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === 'string') texts.push(next);
    else if (typeof next === 'object' && next !== null)
      rest.push(...Object.values(next).toReversed());
  }
  return texts;
}
