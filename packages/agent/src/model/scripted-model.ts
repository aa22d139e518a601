import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { estimator, isJsonObject, sha256, type JsonObject } from '@bobbin/core/internal';
import type { LanguageModel } from 'ai';
import { demoScript } from '../scripts/demo.ts';
import { echoScript } from '../scripts/echo.ts';
import { longScript } from '../scripts/long.ts';
import { ExpectedError } from '../expected-error.ts';

/** A message as a script sees it. */
export interface ScriptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly calls: readonly ScriptCall[];
}

export interface ScriptCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/** What a script is asked: the whole request, as a provider would get it. */
export interface ScriptRequest {
  readonly messages: readonly ScriptMessage[];
  /** The names of the tools that were sent; none for a summary. */
  readonly tools: readonly string[];
  /** How many requests came before this one. */
  readonly earlier: number;
}

/** What the model answers. A status makes it fail as a provider would, with the text as the message. */
export interface ScriptReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptCall[];
  /** How long the answer takes. */
  readonly delayMs?: number;
  readonly status?: number;
}

/** A model as a function of what it reads: the same request gives the same reply. */
export type Script = (request: ScriptRequest) => ScriptReply | Promise<ScriptReply>;

type LanguageModelV4 = Extract<LanguageModel, { specificationVersion: 'v4' }>;
type CallOptions = Parameters<LanguageModelV4['doStream']>[0];
type GenerateResult = Awaited<ReturnType<LanguageModelV4['doGenerate']>>;
type Content = GenerateResult['content'][number];
type StreamPart =
  Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

const BUILT_IN: ReadonlyMap<string, Script> = new Map([
  ['demo', demoScript],
  ['echo', echoScript],
  ['long', longScript],
]);

/** Whether a model's name has a module imported: code that runs with all that the agent may do. */
export function loadsModule(name: string): boolean {
  const [, id] = /^scripted\/(.*?)(?:@\d+)?$/s.exec(name) ?? [];
  return id !== undefined && !BUILT_IN.has(id);
}

/**
 * A model that needs no key: a built-in script by name, or a module that exports `script`. Like a real provider it
 * refuses what is larger than its window, counts tokens, and reads from a cache what the last request began with.
 */
export async function scriptedModel(
  name: string,
  windowTokens: number,
  folder: string,
): Promise<LanguageModelV4> {
  const script = BUILT_IN.get(name) ?? (await loadScript(name, folder));
  const provider = new ScriptedProvider(script, windowTokens);
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: name,
    supportedUrls: {},
    doGenerate: (options) => provider.generate(options),
    doStream: async (options) => ({
      stream: streamOf(await provider.generate(options), options.abortSignal),
    }),
  };
}

async function loadScript(name: string, folder: string): Promise<Script> {
  if (!/\.(?:mjs|js|ts)$/.test(name))
    throw new ExpectedError(
      `there is no script ${name}; built in are ${[...BUILT_IN.keys()].join(', ')}, or name a module`,
    );
  const path = isAbsolute(name) ? name : resolve(folder, name);
  const loaded = (await import(pathToFileURL(path).href)) as { script?: Script };
  if (typeof loaded.script !== 'function')
    throw new ExpectedError(`${path} exports no function named script`);
  return loaded.script;
}

const COUNTER = estimator();
const CACHE_MINIMUM = 1_024;

class ScriptedProvider {
  readonly #script: Script;
  readonly #windowTokens: number;
  #earlier = 0;
  #lastRequest: readonly string[] = [];

  constructor(script: Script, windowTokens: number) {
    this.#script = script;
    this.#windowTokens = windowTokens;
  }

  async generate(options: CallOptions): Promise<GenerateResult> {
    const pieces = [
      JSON.stringify(options.tools ?? []),
      ...options.prompt.map((message) => JSON.stringify(bare(message))),
    ];
    const counts = pieces.map((piece) => COUNTER.text(piece));
    const input = sum(counts);
    if (input > this.#windowTokens)
      throw await apiError(
        400,
        `prompt is too long: ${input} tokens > ${this.#windowTokens} maximum`,
      );
    const cached = sum(counts.slice(0, sharedLength(pieces, this.#lastRequest)));
    this.#lastRequest = pieces;
    const reply = await this.#script(requestOf(options, this.#earlier++));
    await pause(reply.delayMs ?? 0, options.abortSignal);
    if (reply.status !== undefined)
      throw await apiError(reply.status, reply.text ?? 'the script says so');
    return result(
      reply,
      sha256(pieces.join('\n')).slice(0, 12),
      input,
      cached >= CACHE_MINIMUM ? cached : 0,
    );
  }
}

/** Ids come from the request: the same conversation gets the same ones, another one others. */
function result(
  { text = '', reasoning, calls = [] }: ScriptReply,
  id: string,
  input: number,
  cached: number,
): GenerateResult {
  const content: Content[] = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ tool, args }, i) => ({
      type: 'tool-call' as const,
      toolCallId: `call-${id}-${i}`,
      toolName: tool,
      input: JSON.stringify(args),
    })),
  ];
  const output = COUNTER.text(text + JSON.stringify(calls));
  return {
    content,
    finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    warnings: [],
  };
}

function requestOf({ prompt, tools = [] }: CallOptions, earlier: number): ScriptRequest {
  return { messages: prompt.map(scriptMessage), tools: tools.map(({ name }) => name), earlier };
}

function scriptMessage(message: CallOptions['prompt'][number]): ScriptMessage {
  const { role } = message;
  if (message.role === 'system') return { role, text: message.content, calls: [] };
  const texts: string[] = [];
  const calls: ScriptCall[] = [];
  for (const part of message.content) {
    if (part.type === 'text') texts.push(part.text);
    if (part.type === 'tool-result') texts.push(resultText(part.output));
    if (part.type === 'tool-call')
      calls.push({ tool: part.toolName, args: isJsonObject(part.input) ? part.input : {} });
  }
  return { role, text: texts.join('\n'), calls };
}

function resultText(output: { readonly type: string; readonly value?: unknown }): string {
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value ?? '');
}

/** A message without its cache markers, which are not content. */
function bare(message: CallOptions['prompt'][number]): object {
  const { role, content } = message;
  return { role, content };
}

function sharedLength(a: readonly string[], b: readonly string[]): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
  return shared;
}

/** The answer in pieces, as it would come over a wire. */
function streamOf(
  { content, finishReason, usage }: GenerateResult,
  signal?: AbortSignal,
): ReadableStream<StreamPart> {
  const parts: StreamPart[] = [{ type: 'stream-start', warnings: [] }];
  for (const [i, part] of content.entries()) {
    const id = String(i);
    if (part.type === 'text')
      parts.push({ type: 'text-start', id }, ...deltas('text-delta', id, part.text), {
        type: 'text-end',
        id,
      });
    else if (part.type === 'reasoning')
      parts.push({ type: 'reasoning-start', id }, ...deltas('reasoning-delta', id, part.text), {
        type: 'reasoning-end',
        id,
      });
    else if (part.type === 'tool-call') parts.push(part);
  }
  parts.push({ type: 'finish', finishReason, usage });
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (signal?.aborted === true) controller.error(signal.reason);
      else if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}

function deltas<Type extends 'text-delta' | 'reasoning-delta'>(
  type: Type,
  id: string,
  text: string,
): { type: Type; id: string; delta: string }[] {
  return (text.match(/.{1,40}/gs) ?? []).map((delta) => ({ type, id, delta }));
}

async function apiError(statusCode: number, message: string): Promise<Error> {
  const { APICallError } = await import('ai');
  return new APICallError({ message, statusCode, url: 'scripted:', requestBodyValues: {} });
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, fail) => {
    const stop = (): void => {
      clearTimeout(timer);
      fail(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
