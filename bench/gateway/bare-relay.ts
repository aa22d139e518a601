// The least that a relay can do with node:http: body and answer are piped.
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const [upstream = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const server = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming;
  const sent = request(upstream + String(url), { method, headers, agent }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(outgoing);
  });
  sent.on('error', () => outgoing.destroy());
  incoming.pipe(sent);
});
server.listen(0, '127.0.0.1', 4_096, () => console.log((server.address() as AddressInfo).port));
