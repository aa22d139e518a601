// A provider that streams ten events at once, one each half second if asked slowly, or answers as a whole.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const choice = (content: string): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const WHOLE = `${Array.from({ length: 10 }, (_, i) => choice(`word ${i} `)).join('')}data: [DONE]\n\n`;
const SLOW_EVENTS = 20;
const ANSWER = { role: 'assistant', content: 'word [DONE]' };
const PLAIN = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: ANSWER, finish_reason: 'stop' }],
});

const server = createServer((incoming, outgoing) => {
  const isSlow = incoming.headers['x-slow'] !== undefined;
  let isStream = false;
  incoming.on('data', (piece: Buffer) => (isStream ||= piece.includes('"stream":true')));
  incoming.once('end', () => {
    outgoing.on('error', () => undefined);
    if (!isStream)
      return void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(PLAIN);
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    if (!isSlow) return void outgoing.end(WHOLE);
    let left = SLOW_EVENTS;
    const timer = setInterval(() => {
      if (left-- > 0) return void outgoing.write(choice('slow'));
      clearInterval(timer);
      outgoing.end('data: [DONE]\n\n');
    }, 500);
    outgoing.once('close', () => clearInterval(timer));
  });
});
server.listen(0, '127.0.0.1', 4_096, () => console.log((server.address() as AddressInfo).port));
