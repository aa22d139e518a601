import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// @ts-expect-error: the package has no types
import S3rver from 's3rver';
import type { S3Options } from '@bobbin/stores';

interface Server {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}
type ServerClass = new (options: {
  port: number;
  address: string;
  silent: boolean;
  directory: string;
  configureBuckets: readonly { name: string }[];
}) => Server;

/** An S3 server of a test file's own. */
export async function startS3(): Promise<{
  options: S3Options;
  folder: string;
  stop(): Promise<void>;
}> {
  const directory = mkdtempSync(join(tmpdir(), 'bobbin-s3-'));
  const server = new (S3rver as ServerClass)({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'artifacts' }],
  });
  const { port } = await server.run();
  return {
    options: {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: 'artifacts',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    },
    folder: directory,
    async stop() {
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/**
 * The same through a proxy that lists a few names at a time: the server's own pages need a cipher that OpenSSL has no
 * more. Reports which pages were asked for.
 */
export async function startPagedS3(
  pageSize: number,
): Promise<{ options: S3Options; tokens: readonly string[]; stop(): Promise<void> }> {
  const s3 = await startS3();
  const tokens: string[] = [];
  const pages = new Map<string, string>();
  const answer = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const query = new URL(from.url ?? '', s3.options.endpoint).searchParams;
    const token = query.get('continuation-token');
    if (token !== null) tokens.push(token);
    if (token !== null)
      return void to.writeHead(pages.has(token) ? 200 : 400).end(pages.get(token));
    const { status, headers, body } = await forwarded(s3.options.endpoint, from);
    if (!query.has('list-type')) return void to.writeHead(status, headers).end(body);
    to.writeHead(status).end(firstPage(body.toString(), pageSize, pages));
  };
  const proxy = createServer((from, to) => void answer(from, to));
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const { port } = proxy.address() as AddressInfo;
  return {
    options: { ...s3.options, endpoint: `http://127.0.0.1:${port}` },
    tokens,
    async stop() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      await s3.stop();
    },
  };
}

/** Parts a list into pages, keeps all but the first by their tokens, and returns the first. */
function firstPage(xml: string, size: number, pages: Map<string, string>): string {
  const names = [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name]) => name);
  for (let start = 0; start === 0 || start < names.length; start += size) {
    const keys = names
      .slice(start, start + size)
      .map((name) => `<Contents><Key>${name}</Key></Contents>`);
    const next = tokenOf(start + size).replace('&', '&amp;');
    const more = `<NextContinuationToken>${next}</NextContinuationToken>`;
    const end = start + size < names.length ? more : '';
    pages.set(tokenOf(start), `<ListBucketResult>${keys.join('')}${end}</ListBucketResult>`);
  }
  return pages.get(tokenOf(0)) ?? '';
}

/** Characters that a query and XML must escape. */
function tokenOf(start: number): string {
  return `1+${start}/&=`;
}

/** Asks the server what the proxy was asked; the request is signed for the proxy's name, which stays. */
async function forwarded(
  endpoint: string,
  from: IncomingMessage,
): Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }> {
  const { port } = new URL(endpoint);
  const { method, url: path, headers } = from;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const to = request({ host: '127.0.0.1', port, method, path, headers }, resolve);
    from.pipe(to.once('error', reject));
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 500,
    headers: response.headers,
    body: Buffer.concat(chunks),
  };
}
