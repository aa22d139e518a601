import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Generation {
  readonly system: string;
  readonly user: string;
  readonly maxTokens: number;
  readonly temperature: number;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** A model that answers one request at a time. */
export interface ServedModel {
  readonly name: string;
  readonly contextTokens: number;
  countTokens(text: string): number;
  generate(
    request: Generation,
  ): Promise<{ readonly text: string; /** By `maxTokens`. */ readonly isCutOff: boolean }>;
}

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly temperature?: number;
}

const DEFAULT_OUTPUT_TOKENS = 256;
/** What a chat template adds to a request. */
const TEMPLATE_TOKENS = 32;
const PATIENCE_MS = 10_000;

export interface ModelServer {
  readonly url: string;
  close(): void;
}

/** Serves a model on loopback in the shape of Chat Completions, one request after another. */
export async function serveModel(
  model: ServedModel,
  patienceMs: number = PATIENCE_MS,
): Promise<ModelServer> {
  let queue: Promise<unknown> = Promise.resolve();
  const server = createServer((incoming, outgoing) => {
    queue = queue
      .then(() => answer(model, incoming, outgoing, patienceMs))
      .catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${portOf(server)}/v1`, close: () => server.close() };
}

async function answer(
  model: ServedModel,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  patienceMs: number,
): Promise<void> {
  const request = await read(incoming);
  const [system, user] = [said(request, 'system'), said(request, 'user')];
  const { max_tokens: maxTokens = DEFAULT_OUTPUT_TOKENS, temperature = 0 } = request;
  const inputTokens = model.countTokens(system + user) + TEMPLATE_TOKENS;
  if (inputTokens + maxTokens > model.contextTokens)
    return send(outgoing, 400, overflow(model.contextTokens, inputTokens + maxTokens));
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  // JSON may begin with spaces: they keep a client waiting that would else give up on a slow machine.
  const patience = setInterval(() => outgoing.write(' '), patienceMs);
  try {
    const { signal } = gone;
    const made = await model.generate({ system, user, maxTokens, temperature, signal });
    const usage = usageOf(inputTokens, model.countTokens(made.text));
    outgoing.end(JSON.stringify(completion(model.name, made.text, made.isCutOff, usage)));
  } finally {
    clearInterval(patience);
  }
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

function overflow(contextTokens: number, tokens: number): object {
  const message = `This model's maximum context length is ${contextTokens} tokens, asked for ${tokens}.`;
  return { error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } };
}

function send(outgoing: ServerResponse, status: number, body: object): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function usageOf(inputTokens: number, outputTokens: number): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function completion(model: string, content: string, isCutOff: boolean, usage: object): object {
  const finish_reason = isCutOff ? 'length' : 'stop';
  return {
    id: 'chatcmpl-local',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }],
    usage,
  };
}
