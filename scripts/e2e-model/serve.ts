import { createServer, type IncomingMessage, type Server } from 'node:http';
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
      const { status, body } = await chat(runtime, model, context, contextSize, request);
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    queue = queue
      .then(answer)
      .catch((error: unknown) => outgoing.writeHead(500).end(String(error)));
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

async function chat(
  runtime: Runtime,
  model: LlamaModel,
  context: LlamaContext,
  contextSize: number,
  request: ChatRequest,
): Promise<{ readonly status: number; readonly body: object }> {
  const said = (role: string): string =>
    request.messages
      .filter((message) => message.role === role)
      .map(({ content }) => content)
      .join('\n');
  const most = request.max_tokens ?? 256;
  const inputTokens = model.tokenize(said('system') + said('user')).length + 32;
  if (inputTokens + most > contextSize) {
    const message = `This model's maximum context length is ${contextSize} tokens, asked for ${inputTokens + most}.`;
    return {
      status: 400,
      body: { error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } },
    };
  }
  const contextSequence = context.getSequence();
  try {
    const session = new runtime.LlamaChatSession({ contextSequence, systemPrompt: said('system') });
    const text = await session.prompt(said('user'), {
      maxTokens: most,
      temperature: request.temperature ?? 0,
      seed: 1,
    });
    return { status: 200, body: completion(text, inputTokens, model.tokenize(text).length) };
  } finally {
    contextSequence.dispose();
  }
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
