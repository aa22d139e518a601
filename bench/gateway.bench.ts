// The gateway beside a bare relay of node:http and, where BOBBIN_PORTKEY names the folder that it is installed in, beside
// @portkey-ai/gateway. Each is a process of its own over the same scripted upstream; they are asked in turns, so that
// what else the machine does hits all of them. Rounds that other programs disturb do not count, if there are enough others.
// Prints requests a second and the processor's time for one of 2 kB, what is added to the time to the first byte of
// 400 kB, and what 1 000 streams at once leave in memory.
// Ends with 1 where a bound does not hold.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const ROUNDS = Number(process.env['BOBBIN_BENCH_ROUNDS'] ?? 7);
const IN_FLIGHT = 16;
/** A stream of a fast model: 20 events, 2 ms apart. Each takes long, so more of them are under way at once. */
const PACED = { 'x-pace': '2', 'x-events': '20' };
const PACED_IN_FLIGHT = 128;
const SLOW = { 'x-pace': '500', 'x-events': '20' };
/** The share of the bare relay's requests that the gateway must reach when the upstream streams. */
const LEAST_SHARE = 0.7;
/** Of each kind, until a process has compiled what it runs often: that takes long on a busy machine. */
const WARMING_REQUESTS = 6_000;
/** After so many requests a client begins another conversation. */
const TURNS = 8;
const LARGE_REQUESTS = 40;
const STREAMS = 1_000;
const TICKS_A_SECOND = 100;
/** The share of the processors that other programs may have during a round that counts. */
const MOST_OF_OTHERS = 0.1;
const FEWEST_QUIET_ROUNDS = 3;

interface Target {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  readonly headers: Record<string, string>;
}

async function started(file: string, args: readonly string[]): Promise<[ChildProcess, string]> {
  const child = spawn(process.execPath, [...process.execArgv, file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve) =>
    child.stdout?.once('data', (data) => resolve(String(data).trim())),
  );
  return [child, `http://127.0.0.1:${port}`];
}

function at(name: string): string {
  return join(import.meta.dirname, 'gateway', name);
}

function targetOf(
  name: string,
  [child, url]: [ChildProcess, string],
  headers: Record<string, string> = {},
): Target {
  return { name, process: child, url, headers };
}

async function portkey(folder: string, upstream: string): Promise<Target> {
  const port = '8787';
  const file = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const child = spawn(process.execPath, [file, `--port=${port}`, '--headless'], {
    stdio: 'ignore',
  });
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  return targetOf('@portkey-ai/gateway', [child, `http://127.0.0.1:${port}`], {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/v1`,
  });
}

const agent = new Agent({ keepAlive: true });

function ask({ url, headers: own }: Target, body: string, more = {}): Promise<void> {
  const basic = { 'content-type': 'application/json', authorization: 'Bearer bench' };
  const headers = { ...basic, 'content-length': Buffer.byteLength(body), ...own, ...more };
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, agent };
    const sent = request(`${url}/v1/chat/completions`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () =>
        response.statusCode === 200 && text.includes('[DONE]')
          ? resolve()
          : reject(new Error(`${response.statusCode}: ${text.slice(0, 200)}`)),
      );
    });
    sent.on('error', reject).end(body);
  });
}

let made = 0;

/** A request of about 2 kB that no other one is a continuation of. */
function small(stream: boolean): string {
  const content = `${++made} ${'a line that somebody wrote by hand, about this and that. '.repeat(33)}`;
  return JSON.stringify({ model: 'gpt-5', stream, messages: [{ role: 'user', content }] });
}

type ChatMessage = { readonly role: string; readonly content: string };

/** Makes the bodies of one client, each of which continues the one before. */
function talk(): () => string {
  let messages: ChatMessage[] = [];
  const line = 'a line that somebody wrote by hand, about this and that. ';
  return () => {
    if (messages.length >= TURNS * 2) messages = [];
    if (messages.length > 0) messages.push({ role: 'assistant', content: 'word [DONE]' });
    messages.push({ role: 'user', content: `${++made} ${line.repeat(messages.length ? 4 : 25)}` });
    return JSON.stringify({ model: 'gpt-5', stream: false, messages });
  };
}

async function inLanes(
  lanes: number,
  requests: number,
  one: (lane: number) => Promise<void>,
): Promise<void> {
  let left = requests;
  const lane = async (number: number): Promise<void> => {
    while (left-- > 0) await one(number);
  };
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
}

/** What a process has had of the processor, in milliseconds. */
function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_A_SECOND;
}

/** What programs that are no part of the measurement have had of the processors, in milliseconds. */
function cpuOfOthers(): number {
  // user, nice, system, idle, iowait, irq, softirq, steal
  const ticks = readFileSync('/proc/stat', 'utf8')
    .replace(/^cpu +/, '')
    .split(' ', 8)
    .map(Number);
  const busy = ticks.filter((_, i) => i !== 3 && i !== 4).reduce((sum, each) => sum + each, 0);
  const all = (busy * 1_000) / TICKS_A_SECOND;
  const mine = process.cpuUsage();
  const children = [upstream[0], ...targets.map((target) => target.process)];
  return children.reduce(
    (left, child) => left - cpuOf(child),
    all - (mine.user + mine.system) / 1_000,
  );
}

function memoryOf({ process: { pid } }: Target): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

type Bodies = 'streamed' | 'at-once' | 'whole' | 'continued';

/** How many requests a round has. */
const REQUESTS: Readonly<Record<Bodies, number>> = {
  streamed: 20 * PACED_IN_FLIGHT,
  'at-once': 600,
  whole: 600,
  continued: 600,
};

/** Asks a target again and again, with as many clients at once as there are lanes. */
function askAll(target: Target, bodies: Bodies, requests: number): Promise<void> {
  const talks = Array.from({ length: IN_FLIGHT }, talk);
  const isPaced = bodies === 'streamed';
  const next = (lane: number): string =>
    (bodies === 'continued' ? talks[lane]?.() : undefined) ??
    small(isPaced || bodies === 'at-once');
  const lanes = isPaced ? PACED_IN_FLIGHT : IN_FLIGHT;
  return inLanes(lanes, requests, (lane) => ask(target, next(lane), isPaced ? PACED : {}));
}

interface Round {
  readonly rate: number;
  readonly isQuiet: boolean;
}

async function roundOf(target: Target, bodies: Bodies): Promise<Round> {
  const [start, others] = [performance.now(), cpuOfOthers()];
  await askAll(target, bodies, REQUESTS[bodies]);
  const ms = performance.now() - start;
  const mostOfOthers = MOST_OF_OTHERS * ms * availableParallelism();
  return {
    rate: (1_000 * REQUESTS[bodies]) / ms,
    isQuiet: cpuOfOthers() - others < mostOfOthers,
  };
}

interface Load {
  /** The median of the rounds that count. */
  readonly rate: number;
  readonly counted: string;
  readonly cpuMs: number;
}

/** Counts the rounds that no other program disturbed, or all rounds if a target has too few of those. */
async function smallBodies(asked: readonly Target[], bodies: Bodies): Promise<Map<string, Load>> {
  const rounds = new Map(asked.map((target) => [target, [] as Round[]]));
  const before = new Map(asked.map((target) => [target, cpuOf(target.process)]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [target, list] of rounds) list.push(await roundOf(target, bodies));
  const isQuiet = [...rounds.values()].every(
    (list) => list.filter((round) => round.isQuiet).length >= FEWEST_QUIET_ROUNDS,
  );
  const loads = [...rounds].map(([target, list]): [string, Load] => {
    const rates = list.filter((round) => round.isQuiet || !isQuiet).map(({ rate }) => rate);
    // A gateway goes on after its answers: its time is that of all rounds.
    const cpuMs = cpuOf(target.process) - (before.get(target) ?? 0);
    return [
      target.name,
      {
        rate: quantile(rates, 0.5),
        counted: isQuiet ? `${rates.length} quiet rounds` : 'all rounds, too few were quiet',
        cpuMs: cpuMs / (ROUNDS * REQUESTS[bodies]),
      },
    ];
  });
  return new Map(loads);
}

/** Histories of 400 kB, each request one turn longer than the one before, and the time until the answer begins. */
async function largeBodies(targets: readonly Target[]): Promise<Map<string, readonly number[]>> {
  const line = 'The harbour master wrote down the tide, the wind and the names of the ships. ';
  const times = new Map(targets.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    const messages = Array.from({ length: 200 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `${round}.${i} ${line.repeat(26)}`,
    }));
    for (let turn = 0; turn < LARGE_REQUESTS / 4; turn++) {
      messages.push({ role: 'user', content: `${turn} ${line}` });
      const body = JSON.stringify({ model: 'gpt-5', stream: true, messages });
      messages.push({ role: 'assistant', content: `word ${turn}` });
      for (const target of targets) {
        const start = performance.now();
        await ask(target, body);
        // The first request of a history, which nobody has seen, is not the rule.
        if (turn > 0) times.get(target.name)?.push(performance.now() - start);
      }
    }
  }
  return times;
}

async function streams(target: Target): Promise<[before: number, during: number, after: number]> {
  const before = memoryOf(target);
  const open = Array.from({ length: STREAMS }, () => ask(target, small(true), SLOW));
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  const during = memoryOf(target);
  await Promise.all(open);
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  return [before, during, memoryOf(target)];
}

const HOW: Readonly<Record<Bodies, string>> = {
  streamed: 'streamed event by event, each a conversation of its own',
  'at-once': 'streamed in one piece, each a conversation of its own',
  whole: 'whole, each a conversation of its own',
  continued: `whole, conversations of ${TURNS} requests`,
};

const upstream = await started(at('upstream.ts'), []);
const bare = targetOf('bare node:http relay', await started(at('bare-relay.ts'), [upstream[1]]));
const own = targetOf('gateway', await started(at('own-gateway.ts'), [upstream[1]]));
const folder = process.env['BOBBIN_PORTKEY'];
const peers = folder === undefined ? [] : [await portkey(folder, upstream[1])];
const targets = [bare, own, ...peers];
const problems: string[] = [];
try {
  // The peer's streams fail as it is published: it is compared by answers that are not streamed.
  const compared = [
    ['streamed', [bare, own]],
    ['at-once', [bare, own]],
    ['whole', targets],
    ['continued', [bare, own]],
  ] as const;
  for (const [how, asked] of compared)
    for (const target of asked) await askAll(target, how, WARMING_REQUESTS);
  for (const [how, asked] of compared) {
    const loads = await smallBodies(asked, how);
    const { rate: bareRate = 0, cpuMs: bareCpu = 0 } = loads.get(bare.name) ?? {};
    console.log(`2 kB, ${HOW[how]}`);
    for (const [name, { rate, cpuMs, counted }] of loads)
      console.log(
        `  ${name.padEnd(22)} ${rate.toFixed(0).padStart(6)} requests/s  ${(rate / bareRate).toFixed(2)}×  ` +
          `${cpuMs.toFixed(3)} ms of processor each, by which ${(bareCpu / cpuMs).toFixed(2)}×  (${counted})`,
      );
    const { rate: ownRate = 0 } = loads.get(own.name) ?? {};
    if (how === 'streamed' && ownRate < LEAST_SHARE * bareRate)
      problems.push(`fewer than ${LEAST_SHARE} of the bare relay’s requests`);
    for (const { name } of asked === targets ? peers : [])
      if (ownRate <= (loads.get(name)?.rate ?? 0)) problems.push(`not ahead of ${name}`);
  }

  const times = await largeBodies([bare, own]);
  const bareTimes = times.get(bare.name) ?? [];
  console.log('400 kB, one at a time: added to the bare relay');
  for (const { name } of [own]) {
    const [median, high] = [0.5, 0.99].map(
      (share) => quantile(times.get(name) ?? [], share) - quantile(bareTimes, share),
    );
    console.log(`  ${name.padEnd(22)} median ${median?.toFixed(1)} ms, p99 ${high?.toFixed(1)} ms`);
    if (name === own.name && ((median ?? 0) > 8 || (high ?? 0) > 40))
      problems.push('more than 8 ms added at the median, or 40 ms at p99');
  }

  const [before, during, after] = await streams(own);
  console.log(
    `${STREAMS} streams at once: ${before.toFixed(0)} MB before, ${during.toFixed(0)} during, ${after.toFixed(0)} after`,
  );
  await streams(own);
  const again = memoryOf(own);
  console.log(`and again: ${again.toFixed(0)} MB after`);
  if (again > after * 1.15) problems.push('memory grows from run to run');
} finally {
  for (const { process: child } of targets) child.kill();
  upstream[0].kill();
}
for (const problem of problems) console.log(`✗ ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
