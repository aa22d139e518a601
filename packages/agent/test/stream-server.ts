import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';

/** What a server does with one request: pieces of an answer with pauses between, and how it ends. */
export interface Answered {
  readonly reasoning?: string;
  readonly pieces: readonly string[];
  readonly pauseMs?: number;
  /** Breaks the connection off after the pieces. */
  readonly breaks?: true;
}

/** A server of OpenAI's chat protocol that takes its time, request by request; the last one repeats. */
export async function streamServer(
  t: TestContext,
  ...answers: readonly Answered[]
): Promise<string> {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'POST') return void response.writeHead(404).end();
    const answer = answers[Math.min(requests++, answers.length - 1)] as Answered;
    return void play(response, answer);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function play(
  response: ServerResponse,
  { reasoning, pieces, pauseMs = 0, breaks }: Answered,
): Promise<void> {
  const send = (delta: object, finish_reason: string | null = null): void => {
    const chunk = { id: 'x', choices: [{ index: 0, delta, finish_reason }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (reasoning !== undefined) send({ reasoning_content: reasoning });
  for (const piece of pieces) {
    send({ content: piece });
    await setTimeout(pauseMs);
  }
  if (breaks === true) return void response.destroy();
  send({}, 'stop');
  return void response.end('data: [DONE]\n\n');
}
