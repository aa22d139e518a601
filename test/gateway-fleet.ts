import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { postgresStore } from '@bobbin/stores/postgres';
import { freePort, startPostgres } from '../packages/stores/test/postgres-server.ts';

const SHIM = fileURLToPath(new URL('../packages/cli/bin/bobbin.mjs', import.meta.url));
const LONG = 'The crane on the north quay lifts nine tons. '.repeat(40);

export interface FleetOptions {
  readonly conversations: number;
  /** Conversations have at least so many turns, and go on until so many processes were killed. */
  readonly turns: number;
  readonly kills: number;
  /** How often one of the processes is killed. */
  readonly killEveryMs: number;
  /** How long a gateway may work on a request; its own default if absent. */
  readonly ownWorkMs?: number;
  /** Whether the database is restarted once, half-way. */
  readonly database: 'steady' | 'restarted';
}

interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** One gateway process, which is killed and started again at the same port. */
class Member {
  readonly url: string;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;
  /** How often it was killed. */
  kills = 0;
  isUp = false;

  constructor(port: number, args: readonly string[]) {
    this.url = `http://127.0.0.1:${port}`;
    this.#args = ['serve', '--port', String(port), ...args];
  }

  async start(): Promise<void> {
    this.#child = spawn(process.execPath, [SHIM, ...this.#args], { stdio: 'ignore' });
    for (let tries = 0; tries < 600; tries++) {
      const isUp = await fetch(`${this.url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) {
        this.isUp = true;
        return;
      }
      await pause(50);
    }
    throw new Error(`${this.url} does not start`);
  }

  /** Kills it at once, and waits for its end. */
  async kill(): Promise<void> {
    if (!this.isUp) return;
    this.kills += 1;
    this.isUp = false;
    const ended = new Promise((resolve) => this.#child?.once('exit', resolve));
    this.#child?.kill('SIGKILL');
    await ended;
  }

  end(): void {
    this.#child?.kill('SIGKILL');
  }
}

/** What a run came to. */
export interface FleetReport {
  readonly requests: number;
  readonly retries: number;
  readonly kills: number;
  /** How many conversations were looked at right after a kill. */
  readonly checked: number;
  readonly compactions: number;
  readonly threads: number;
  readonly late: number;
}

/**
 * Three gateways over one PostgreSQL, under load from clients that ask any of them, while they are killed in turn. It
 * fails if a request to a process that was not killed failed, or if a message was lost or is there twice.
 */
export async function runFleet(options: FleetOptions): Promise<FleetReport> {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-fleet-'));
  const [postgres, upstream] = [await startPostgres(), await startUpstream()];
  const { port } = upstream.address() as AddressInfo;
  const store = ['--store', postgres.url(), '--artifacts', join(folder, 'artifacts')];
  const ports = [await freePort(), await freePort(), await freePort()];
  const { ownWorkMs } = options;
  const time = ownWorkMs === undefined ? [] : ['--own-work-ms', String(ownWorkMs)];
  const rest = ['--openai', `http://127.0.0.1:${port}`, '--window', '8000', ...time];
  const members = ports.map((at) => new Member(at, [...store, ...rest]));
  try {
    await Promise.all(members.map((member) => member.start()));
    const clients = Array.from({ length: options.conversations }, (_, i) => new Client(i, members));
    const trouble = new Trouble(members, clients, postgres.url());
    const isDone = Promise.all(
      clients.map((client) => client.run(options.turns, () => trouble.kills < options.kills)),
    );
    const killing = trouble.run(options.kills, options.killEveryMs);
    if (options.database === 'restarted') {
      await Promise.race([isDone, pause(options.killEveryMs * 1.5)]);
      await postgres.restart('fast');
    }
    await Promise.all([isDone, killing]);
    const threads = await checkStore(postgres.url(), clients);
    const sum = (pick: (client: Client) => number): number =>
      clients.reduce((total, client) => total + pick(client), 0);
    return {
      requests: sum(({ requests }) => requests),
      retries: sum(({ retries }) => retries),
      late: sum(({ late }) => late),
      compactions: sum(({ compactions }) => compactions),
      kills: trouble.kills,
      checked: trouble.checked,
      threads,
    };
  } finally {
    for (const member of members) member.end();
    upstream.closeAllConnections();
    upstream.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Kills processes in turn, each right after it has answered somebody. */
class Trouble {
  readonly #members: readonly Member[];
  readonly #clients: readonly Client[];
  readonly #url: string;
  kills = 0;
  checked = 0;

  constructor(members: readonly Member[], clients: readonly Client[], url: string) {
    this.#members = members;
    this.#clients = clients;
    this.#url = url;
  }

  async run(kills: number, everyMs: number): Promise<void> {
    while (this.kills < kills) {
      await pause(everyMs);
      const member = this.#members[this.kills % this.#members.length] as Member;
      await this.#killAfterAnswer(member);
      this.kills += 1;
      await member.start();
    }
  }

  /**
   * What a client has an answer to must be in the store when the process that gave it ends. Clients ask nothing more
   * until that is seen: with its next request a client would store its messages again.
   */
  async #killAfterAnswer(member: Member): Promise<void> {
    const go = Promise.withResolvers<void>();
    const killed = Promise.withResolvers<void>();
    for (const client of this.#clients) {
      client.gate = go.promise;
      client.onAnswer = () => {
        if (client.answeredBy === member) killed.resolve(member.kill());
      };
    }
    // If it answers nobody who still asks, it is killed all the same.
    const late = setTimeout(() => killed.resolve(member.kill()), 200);
    await killed.promise;
    clearTimeout(late);
    for (const client of this.#clients) client.onAnswer = () => undefined;
    const isAnswered = ({ state, answeredBy }: Client): boolean =>
      state === 'waiting' && answeredBy === member;
    const answered = this.#clients.filter(isAnswered).map(({ stored }) => stored);
    this.checked += answered.length;
    await checkBeginnings(this.#url, answered);
    go.resolve();
  }
}

/** A conversation; every other one has no name. */
class Client {
  readonly messages: ChatMessage[] = [];
  /** What must be stored: the messages of the last request that a gateway answered in time. */
  stored: readonly ChatMessage[] = [];
  answeredBy: Member | undefined;
  state: 'asking' | 'waiting' = 'waiting';
  onAnswer: () => void = () => undefined;
  /** A client asks nothing until it is open. */
  gate: Promise<void> = Promise.resolve();
  readonly #index: number;
  readonly #members: readonly Member[];
  requests = 0;
  retries = 0;
  late = 0;
  compactions = 0;

  constructor(index: number, members: readonly Member[]) {
    this.#index = index;
    this.#members = members;
  }

  async run(turns: number, goesOn: () => boolean): Promise<void> {
    for (let turn = 0; turn < turns || goesOn(); turn++) {
      this.messages.push({ role: 'user', content: `${this.#index}.${turn} ${LONG}` });
      this.messages.push({ role: 'assistant', content: await this.#ask(turn) });
    }
  }

  async #ask(turn: number): Promise<string> {
    for (let tries = 0; tries < 200; tries++) {
      const member = this.#members[(this.#index + turn + tries) % this.#members.length] as Member;
      const { kills, isUp } = member;
      // As a load balancer does, it asks none that is known to be down.
      if (!isUp) continue;
      await this.gate;
      this.state = 'asking';
      const answer = await this.#send(member).catch((error: unknown) => {
        assert.notEqual(
          member.kills,
          kills,
          `${member.url} failed, and was not killed: ${String(error)}`,
        );
      });
      this.state = 'waiting';
      if (answer !== undefined) return answer;
      this.answeredBy = undefined;
      this.retries += 1;
      await pause(50);
    }
    throw new Error('no gateway answers');
  }

  async #send(member: Member): Promise<string> {
    const response = await post(
      `${member.url}/v1/chat/completions`,
      JSON.stringify({
        model: 'gpt-5',
        stream: true,
        messages: this.messages,
      }),
      {
        'content-type': 'application/json',
        authorization: `Bearer key-${this.#index}`,
        ...(this.#index % 2 === 0 ? { 'x-bobbin-thread': `named-${this.#index}` } : {}),
      },
    );
    const { text } = response;
    assert.equal(response.status, 200, text);
    this.requests += 1;
    const action = response.headers['x-bobbin-action'];
    if (action === 'compacted') this.compactions += 1;
    const isLate = action === 'late' || action === 'failed-open';
    if (isLate) this.late += 1;
    else this.stored = [...this.messages];
    this.answeredBy = isLate ? undefined : member;
    this.onAnswer();
    return contentOf(text);
  }
}

interface Posted {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** On a connection of its own: none is left over from a process that was killed. */
function post(url: string, body: string, headers: Record<string, string>): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('error', reject).on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    sent.on('error', reject).end(body);
  });
}

function contentOf(stream: string): string {
  const pieces = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(
    ([, data = '{}']) => JSON.parse(data) as { choices: { delta: { content?: string } }[] },
  );
  return pieces.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
}

/** Every message that a client has an answer to is in its thread, once, in its order. */
async function checkStore(url: string, clients: readonly Client[]): Promise<number> {
  const { threads, paths } = await storedPaths(url);
  const whole = new Set(paths.map((path) => JSON.stringify(path)));
  for (const { messages } of clients)
    assert.ok(whole.has(JSON.stringify(messages.slice(0, -1))), 'a conversation is not whole');
  return threads;
}

/** Each of some lists is the beginning of something that is stored. */
async function checkBeginnings(
  url: string,
  lists: readonly (readonly ChatMessage[])[],
): Promise<void> {
  if (lists.length === 0) return;
  const { paths } = await storedPaths(url);
  for (const list of lists) {
    const beginning = JSON.stringify(list).slice(0, -1);
    const isStored = paths.some((path) => JSON.stringify(path).startsWith(beginning));
    assert.ok(isStored, `${list.length} messages were answered, and are not stored`);
  }
}

/** All conversations in the store, as their clients sent them. */
async function storedPaths(url: string): Promise<{ threads: number; paths: unknown[][] }> {
  const store = await postgresStore(url);
  let threads = 0;
  const paths: unknown[][] = [];
  try {
    for (const tenant of await store.tenants())
      for (const { thread } of await store.threads(tenant, 1_000)) {
        threads += 1;
        const key = { tenant, thread };
        for (const head of await store.heads(key)) {
          const path = await store.path(key, head);
          paths.push(path.map(({ message }) => message.original));
        }
      }
    return { threads, paths };
  } finally {
    await store.close();
  }
}

async function startUpstream(): Promise<Server> {
  let answers = 0;
  const server = createServer((incoming, outgoing) => {
    incoming.resume().once('end', () => {
      const words = ['Answer', ` ${++answers}`, ' of the quay.'];
      const isFast = answers % 2 === 0;
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      const next = (): void => {
        const content = words.shift();
        if (content === undefined) return void outgoing.end('data: [DONE]\n\n');
        const choices = [{ index: 0, delta: { content } }];
        outgoing.write(`data: ${JSON.stringify({ choices })}\n\n`);
        // Every other answer comes at once: what it answers must be stored before the client has it.
        if (isFast) next();
        else setTimeout(next, 5);
      };
      next();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
