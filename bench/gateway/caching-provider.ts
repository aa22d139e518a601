// A provider for replays, over HTTP.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sharedStart, size, type ChatMessage } from './chat-text.ts';

/** A provider that caches: it reads what the last request of a session began with, and writes the rest. */
export async function cachingProvider(): Promise<{
  url: string;
  last: () => readonly ChatMessage[];
  close(): void;
}> {
  const cached = new Map<unknown, readonly string[]>();
  let sent: readonly ChatMessage[] = [];
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.once('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as { messages: ChatMessage[] };
      sent = body.messages;
      const session = incoming.headers['x-replayed'];
      const keys = sent.map((message) => JSON.stringify(message));
      const same = sharedStart(cached.get(session) ?? [], keys);
      cached.set(session, keys);
      const usage = {
        prompt_tokens: size(sent),
        completion_tokens: 10,
        total_tokens: size(sent) + 10,
        prompt_tokens_details: { cached_tokens: size(sent.slice(0, same)) },
      };
      const message = { role: 'assistant', content: 'scripted' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      outgoing
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          JSON.stringify({ id: 'x', object: 'chat.completion', model: 'replayed', choices, usage }),
        );
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    last: () => sent,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
