import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { memoryArtifacts, type Store } from '@bobbin/core';
import { startGateway, type Gateway, type GatewayOptions } from '@bobbin/gateway';
import { sqliteLedger, sqliteStore, type Ledger } from '@bobbin/stores';

/** A gateway for one test, with what it keeps things in. */
export interface RunningGateway extends Gateway {
  readonly store: Store;
  readonly ledger: Ledger;
}

/** Starts a gateway over a store of its own, or over that of another gateway, and ends it with the test. */
export async function runningGateway(
  t: TestContext,
  options: Partial<GatewayOptions> = {},
): Promise<RunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-gateway-'));
  const store = options.store ?? sqliteStore(join(folder, 'threads.db'), { sync: 'normal' });
  const ledger = options.ledger ?? sqliteLedger(join(folder, 'ledger.db'));
  const artifacts = options.artifacts ?? memoryArtifacts();
  const limits = { ownWorkMs: 60_000, drainMs: 2_000, ...options.limits };
  const gateway = await startGateway({ ...options, store, ledger, artifacts, limits });
  t.after(async () => {
    await gateway.close();
    if (options.ledger === undefined) await ledger.close();
    if (options.store === undefined) await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { ...gateway, store, ledger };
}

/** What a bare upstream was sent, byte for byte. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly text: string;
}

export interface BareUpstream {
  readonly url: string;
  readonly seen: SeenRequest[];
}

/** A server that does with a request what a test says, and notes its bytes. */
export async function bareUpstream(
  t: TestContext,
  answer: (seen: SeenRequest, outgoing: ServerResponse, incoming: IncomingMessage) => unknown,
): Promise<BareUpstream> {
  const seen: SeenRequest[] = [];
  // Longer than a test works on one request: a connection that ends meanwhile would fail the next.
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    outgoing.on('error', () => undefined);
    void bytesOf(incoming).then((body) => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body, text: body.toString() };
      seen.push(request);
      return answer(request, outgoing, incoming);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function bytesOf(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** Waits until something holds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`it never came to pass: ${what}`);
}
