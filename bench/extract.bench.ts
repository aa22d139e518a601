// How fast the extract reads: conversations of several sizes that nobody has read before, CPU time of one core, and the
// same conversation again, whose messages are known then. The time must grow no faster than the text.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { textMessage, type Message, type ThreadId } from '@bobbin/core';
import { chars4, extract, Thread, type Node } from '@bobbin/core/internal';
import { recordedIn } from '../scripts/learn/recorded.ts';

const MEGABYTE = 1_000_000;
const ROUNDS = 3;
/** So much is read before the sizes are measured. */
const WARM_UP_MB = 2;
const SIZES = [0.25, 1, 4, 16];
const LEAST_MB_A_SECOND = 10;
/** The sizes of threads that recorded sessions are joined to. */
const JOINED_MB = [1, 4];
/** Of the recorded conversations, one in so many. */
const EVERY = 6;

const [least = 1] = SIZES;
console.log(
  `${least} MB, the first that a process reads: ${(timed(nodesOf(least)) * 1000).toFixed(0)} ms, most of it to compile what is run`,
);
for (let times = 0; times < ROUNDS; times++) timed(nodesOf(WARM_UP_MB));
for (const megabytes of SIZES) {
  const seconds = Math.min(...Array.from({ length: ROUNDS }, () => timed(nodesOf(megabytes))));
  const speed = megabytes / seconds;
  console.log(
    `${String(megabytes).padStart(5)} MB: ${(seconds * 1000).toFixed(0)} ms, ${speed.toFixed(1)} MB/s`,
  );
  if (megabytes === SIZES.at(-1) && speed < LEAST_MB_A_SECOND) process.exitCode = 1;
}
const again = nodesOf(4);
timed(again);
console.log(`    4 MB again, its messages read before: ${(timed(again) * 1000).toFixed(0)} ms`);

const recordings = fileURLToPath(new URL('../../shared/transcripts', import.meta.url));
if (existsSync(recordings)) printRecorded();
else console.log('no recorded conversations beside the repository: only made-up ones were read');

/**
 * Sessions as people had them, about a tenth of a megabyte each, then the same texts as longer threads. A program that has
 * just begun pays once to compile what it runs: the first round shows it. A short session costs more for its size, because
 * there is as much space to fill from it.
 */
function printRecorded(): void {
  const sessions = [...recordedIn(recordings)]
    .filter((_, i) => i % EVERY === 0)
    .map(({ messages }) => messages);
  printThreads('sessions, the first time', sessions, 1);
  printThreads('sessions, from then on', sessions);
  for (const size of JOINED_MB) {
    const speed = printThreads(`threads of ${size} MB`, joined(sessions, size));
    if (size === JOINED_MB.at(-1) && speed < LEAST_MB_A_SECOND) process.exitCode = 1;
  }
}

/** Reads each thread some times, as messages that nobody has read before, and tells the speed of the best times. */
function printThreads(
  name: string,
  threads: readonly (readonly Message[])[],
  rounds: number = ROUNDS,
): number {
  const megabytes = sum(threads.map(megabytesOf));
  const seconds = sum(
    threads.map((messages) =>
      Math.min(...Array.from({ length: rounds }, () => timed(pathOf(structuredClone(messages))))),
    ),
  );
  const speed = megabytes / seconds;
  console.log(
    `${String(threads.length).padStart(3)} recorded ${name}, ${megabytes.toFixed(1)} MB: ${(seconds * 1000).toFixed(0)} ms, ${speed.toFixed(1)} MB/s`,
  );
  return speed;
}

/** Sessions one behind the other, as threads of at least a size. */
function joined(
  sessions: readonly (readonly Message[])[],
  megabytes: number,
): readonly (readonly Message[])[] {
  const threads: (readonly Message[])[] = [];
  let thread: Message[] = [];
  for (const messages of sessions) {
    thread.push(...messages);
    if (megabytesOf(thread) < megabytes) continue;
    threads.push(thread);
    thread = [];
  }
  return threads;
}

function megabytesOf(messages: readonly Message[]): number {
  return sum(messages.map(charsOf)) / MEGABYTE;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function charsOf({ parts }: Message): number {
  return JSON.stringify(parts).length;
}

function pathOf(messages: readonly Message[]): readonly Node[] {
  const thread = new Thread('bench' as ThreadId);
  for (const message of messages) thread.append(message);
  return thread.path();
}

function timed(nodes: readonly Node[]): number {
  const started = process.cpuUsage();
  extract({
    nodes,
    previous: null,
    task: 'Fix the parser.',
    round: 1,
    maxTokens: 4_000,
    counter: chars4(),
  });
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000_000;
}

/** Work on a made-up repository: requests, calls, files that come back with line numbers, test output. */
function nodesOf(megabytes: number): readonly Node[] {
  const thread = new Thread('bench' as ThreadId);
  let chars = 0;
  for (let i = 0; chars < megabytes * MEGABYTE; i++) {
    for (const message of round(i)) {
      thread.append(message);
      chars += charsOf(message);
    }
  }
  return thread.path();
}

function round(i: number): readonly Message[] {
  const path = `/repo/src/part${i % 40}/module_${i % 300}.ts`;
  const callId = `call-${i}`;
  const lines = Array.from(
    { length: 90 },
    (_, n) =>
      `${n + 1}\texport const value${(i * 7 + n) % 900} = readTable(config.table_${n % 50}, ${n * 17}); // see issue #${1000 + (i % 70)}`,
  );
  return [
    ...(i % 12 === 0
      ? [textMessage('user', `Now make module_${i % 300} faster, but never change its exports.`)]
      : []),
    {
      role: 'assistant',
      parts: [
        { kind: 'text', text: `I look at ${path} because readTable is slow there.` },
        { kind: 'call', callId, tool: 'read', args: JSON.stringify({ path }) },
      ],
    },
    {
      role: 'tool',
      parts: [
        {
          kind: 'result',
          callId,
          tool: 'read',
          content: [{ kind: 'text', text: lines.join('\n') }],
        },
      ],
    },
  ];
}
