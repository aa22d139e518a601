// A provider that answers as a whole or in a stream. The header x-pace says how many milliseconds pass between two events of
// a stream, and x-events how many events it has; without them all events come in one piece.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const choice = (content: string): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const DONE = 'data: [DONE]\n\n';
const EVENT = choice('word ');
const AT_ONCE = EVENT.repeat(10) + DONE;
const ANSWER = { role: 'assistant', content: 'word [DONE]' };
const PLAIN = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: ANSWER, finish_reason: 'stop' }],
});

const server = createServer((incoming, outgoing) => {
  const paceMs = Number(incoming.headers['x-pace']);
  let isStream = false;
  incoming.on('data', (piece: Buffer) => (isStream ||= piece.includes('"stream":true')));
  incoming.once('end', () => {
    outgoing.on('error', () => undefined);
    if (!isStream)
      return void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(PLAIN);
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    if (Number.isNaN(paceMs)) return void outgoing.end(AT_ONCE);
    let left = Number(incoming.headers['x-events']);
    const timer = setInterval(() => {
      if (left-- > 0) return void outgoing.write(EVENT);
      clearInterval(timer);
      outgoing.end(DONE);
    }, paceMs);
    outgoing.once('close', () => clearInterval(timer));
  });
});
server.listen(0, '127.0.0.1', 4_096, () => console.log((server.address() as AddressInfo).port));
