import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import type { ThreadId } from '@bobbin/core';
import { compactionQueue } from '../src/queue/compaction-queue.ts';
import type { PostgresServer } from './postgres-server.ts';
import { startProcess, type Writer } from './writer.ts';

export interface LoopOptions {
  readonly rounds: number;
  readonly hosts: number;
  readonly threads: number;
  readonly leaseMs: number;
}

interface Span {
  readonly thread: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Hosts work the queue while the server is restarted, crashed, and hosts are killed, in turn. Every job that was asked
 * for is done; no host ends by itself; no thread is worked on twice at once; no job waits much longer than a lease.
 */
export async function loseServersAndHosts(
  server: PostgresServer,
  { rounds, hosts, threads, leaseMs }: LoopOptions,
): Promise<string> {
  const start = (): Writer => startProcess('queue-host.ts', [server.url(), String(leaseMs)]);
  const all: Writer[] = [];
  const killed = new Set<ChildProcess>();
  let live = Array.from({ length: hosts }, start);
  all.push(...live);
  await Promise.all(live.map((host) => host.heard('ready')));
  const queue = await compactionQueue(server.url(), { retryMs: 30_000 });
  const asked = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    const adding = (async () => {
      for (let i = 0; i < 60; i++) {
        const thread = `t${Math.floor(Math.random() * threads)}`;
        await queue.add({ tenant: 'loop', thread: thread as ThreadId });
        asked.set(thread, Date.now());
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (round % 3 === 0) await server.restart('fast', 500);
    else if (round % 3 === 1) await server.restart('crash', 200);
    else {
      const [victim = assert.fail(), ...others] = live;
      killed.add(victim.process);
      victim.process.kill('SIGKILL');
      const fresh = start();
      all.push(fresh);
      live = [...others, fresh];
      await fresh.heard('ready');
    }
    await adding;
  }
  const late = await untilDone(all, asked, leaseMs);
  const ended = live.filter(({ process }) => process.exitCode !== null).length;
  for (const host of live) host.process.stdin?.end();
  await Promise.all(live.map((host) => host.ended));
  await queue.close();
  const spans = spansOf(all, killed);
  const overlaps = overlapsIn(spans);
  assert.equal(ended, 0, 'hosts that ended by themselves');
  assert.deepEqual(overlaps, [], 'jobs of one thread at once');
  return `${rounds} losses, ${spans.length} jobs done, 0 of ${asked.size} threads not done, ${ended} hosts ended, ${overlaps.length} at once, longest wait ${late} ms`;
}

/** Waits until each thread's last job began after it was last asked for; how long that took at most. */
async function untilDone(
  hosts: readonly Writer[],
  asked: ReadonlyMap<string, number>,
  leaseMs: number,
): Promise<number> {
  const bound = Date.now() + 60_000;
  for (;;) {
    const ends = new Map<string, number>();
    for (const line of hosts.flatMap(({ lines }) => lines)) {
      const [word, time, thread = ''] = line.split(' ');
      if (word === 'end') ends.set(thread, Math.max(ends.get(thread) ?? 0, Number(time)));
    }
    const waits = [...asked].map(([thread, time]) => (ends.get(thread) ?? 0) - time);
    // A job may begin before it is asked for once more: then one more is done.
    if (waits.every((wait) => wait > -200)) return Math.max(0, ...waits);
    assert.ok(Date.now() < bound, `jobs are locked longer than a minute (lease ${leaseMs} ms)`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function spansOf(hosts: readonly Writer[], killed: ReadonlySet<ChildProcess>): readonly Span[] {
  return hosts.flatMap(({ lines, process }) => {
    const begun = new Map<string, number>();
    const spans: Span[] = [];
    for (const line of lines) {
      const [word, time, thread = ''] = line.split(' ');
      if (word === 'begin') begun.set(thread, Number(time));
      const from = begun.get(thread);
      if (word !== 'end' || from === undefined) continue;
      spans.push({ thread, from, to: Number(time) });
      begun.delete(thread);
    }
    if (!killed.has(process)) assert.equal(begun.size, 0, 'a job that began and never ended');
    return spans;
  });
}

function overlapsIn(spans: readonly Span[]): readonly string[] {
  const sorted = spans.toSorted((a, b) => a.from - b.from);
  return sorted.flatMap((span, i) => {
    const before = sorted.slice(0, i).findLast(({ thread }) => thread === span.thread);
    return before !== undefined && before.to > span.from ? [`${span.thread} at ${span.from}`] : [];
  });
}
