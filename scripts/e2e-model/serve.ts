import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The few parts of node-llama-cpp that are used; it is installed apart, so its own types are not at hand. */
interface Llama {
  loadModel(options: { modelPath: string }): Promise<LlamaModel>;
}
interface LlamaModel {
  tokenize(text: string): readonly number[];
  createContext(options: { contextSize: number; threads: number }): Promise<LlamaContext>;
}
interface LlamaContext {
  getSequence(): { dispose(): void };
}
interface Runtime {
  getLlama(options: object): Promise<Llama>;
  LlamaChatSession: new (options: object) => {
    prompt(text: string, options: object): Promise<string>;
  };
}

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly temperature?: number;
}

const DEFAULT_OUTPUT_TOKENS = 256;

export interface ModelServer {
  readonly url: string;
  close(): void;
}

/** Serves a model on loopback in the shape of Chat Completions, one request at a time. */
export async function serveModel(
  folder: string,
  modelPath: string,
  contextSize: number,
): Promise<ModelServer> {
  const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  const runtime = (await import(pathToFileURL(entry).href)) as Runtime;
  const llama = await runtime.getLlama({ gpu: false, build: 'never', skipDownload: true });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize, threads: 2 });
  let queue: Promise<unknown> = Promise.resolve();
  const server = createServer((incoming, outgoing) => {
    const answer = async (): Promise<void> => {
      const request = await read(incoming);
      const inputTokens = tokensOf(model, request);
      const most = request.max_tokens ?? DEFAULT_OUTPUT_TOKENS;
      if (inputTokens + most > contextSize)
        return send(outgoing, 400, overflow(contextSize, inputTokens + most));
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      // JSON may begin with spaces: they keep a client waiting that would else give up on a slow machine.
      const patience = setInterval(() => outgoing.write(' '), 10_000);
      const text = await generate(runtime, context, request, most);
      clearInterval(patience);
      outgoing.end(JSON.stringify(completion(text, inputTokens, model.tokenize(text).length)));
    };
    queue = queue
      .then(answer)
      .catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${portOf(server)}/v1`, close: () => server.close() };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function read(incoming: IncomingMessage): Promise<ChatRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString('utf8')) as ChatRequest;
}

function said(request: ChatRequest, role: string): string {
  const own = request.messages.filter((message) => message.role === role);
  return own.map(({ content }) => content).join('\n');
}

/** With what the chat template adds. */
function tokensOf(model: LlamaModel, request: ChatRequest): number {
  return model.tokenize(said(request, 'system') + said(request, 'user')).length + 32;
}

async function generate(
  runtime: Runtime,
  context: LlamaContext,
  request: ChatRequest,
  maxTokens: number,
): Promise<string> {
  const contextSequence = context.getSequence();
  try {
    const systemPrompt = said(request, 'system');
    const session = new runtime.LlamaChatSession({ contextSequence, systemPrompt });
    const { temperature = 0 } = request;
    return await session.prompt(said(request, 'user'), { maxTokens, temperature, seed: 1 });
  } finally {
    contextSequence.dispose();
  }
}

function overflow(contextSize: number, tokens: number): object {
  const message = `This model's maximum context length is ${contextSize} tokens, asked for ${tokens}.`;
  return { error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } };
}

function send(outgoing: ServerResponse, status: number, body: object): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A model this small runs on until its limit: what it said up to there is its answer. */
function completion(text: string, inputTokens: number, outputTokens: number): object {
  return {
    id: 'chatcmpl-local',
    object: 'chat.completion',
    created: 0,
    model: 'tinyllama-1b',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    },
  };
}
