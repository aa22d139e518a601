// Appends a second and window loads on stores of 1 000 000 messages in about 9 000 threads, beside the same rows written
// with the bare driver: the message's and its thread's, in one transaction.
// BOBBIN_BENCH_MESSAGES sets another size. Ends with 1 where a bound does not hold.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { textMessage, type Plan, type Store, type ThreadId } from '@bobbin/core';
import { emptyPlan, spanOf, Thread, type Node, type ThreadKey } from '@bobbin/core/internal';
import { sqliteStore } from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import { bareDriver } from '../packages/stores/test/bare-driver.ts';
import { startPostgres } from '../packages/stores/test/postgres-server.ts';

const MESSAGES = Number(process.env['BOBBIN_BENCH_MESSAGES'] ?? 1_000_000);
const SHORT = 100;
const LONG = Math.min(10_000, MESSAGES / 20);
/** How many long threads there are, and how many of the short ones are loaded: no window is loaded twice in a row. */
const LONGS = 10;
const LOADED = 200;
/** What the plan of either thread leaves in the prompt. */
const SHOWN = 40;
const APPENDS = 4_000;
const IN_FLIGHT = 16;

const path = nodes(LONG + APPENDS);
const keyOf = (thread: string): ThreadKey => ({ tenant: 'bench', thread: thread as ThreadId });

function nodes(count: number): readonly Node[] {
  const thread = new Thread('bench' as ThreadId);
  const text = 'a line of a message as people write them, neither short nor long. '.repeat(4);
  return Array.from({ length: count }, (_, i) =>
    thread.append(textMessage(i % 2 === 0 ? 'user' : 'assistant', `${i}: ${text}`)),
  );
}

function planOf(key: ThreadKey, length: number): Plan {
  // A round of a long thread covers no more messages than one of a short one: earlier rounds are in earlier plans.
  const span = spanOf(path.slice(length - SHORT, length - SHOWN));
  if (span === undefined) throw new RangeError('the thread is too short');
  return {
    ...emptyPlan(key.thread),
    head: path[length - 1]?.id ?? null,
    threadVersion: length,
    start: length - SHOWN,
    records: [
      { kind: 'drop', span, reason: 'bench', index: { keywords: [], description: '', time: 0 } },
    ],
  };
}

async function fill(store: Store): Promise<void> {
  const lanes = Array.from({ length: IN_FLIGHT }, async (_, lane) => {
    for (let i = lane; i < SHORTS; i += IN_FLIGHT)
      await store.append(keyOf(`short-${i}`), path.slice(0, SHORT));
  });
  await Promise.all(lanes);
  for (const thread of [...LONG_THREADS, ...FORKED_THREADS])
    for (let i = 0; i < LONG; i += 500)
      await store.append(keyOf(thread), path.slice(i, Math.min(LONG, i + 500)));
  for (const thread of [...LONG_THREADS, ...FORKED_THREADS])
    await store.commit(keyOf(thread), planOf(keyOf(thread), LONG), 0, []);
  for (const thread of SHORT_THREADS)
    await store.commit(keyOf(thread), planOf(keyOf(thread), SHORT), 0, []);
  for (const thread of FORKED_THREADS) await forkInTheMiddle(store, keyOf(thread));
}

/** Half of the long threads go on after another fork was compacted ten times. */
async function forkInTheMiddle(store: Store, key: ThreadKey): Promise<void> {
  const half = LONG / 2;
  const trunk = Thread.resume(key.thread, [], path.slice(0, half));
  const fork = trunk.append(textMessage('user', 'or else?'));
  await store.append(key, [fork]);
  for (let version = 1; version <= 10; version++)
    await store.commit(key, { ...planOf(key, half), head: fork.id }, version, []);
  await store.append(key, path.slice(LONG - 1, LONG));
}

const SHORTS = Math.floor((MESSAGES - LONGS * LONG) / SHORT);
const SHORT_THREADS = names('short', Math.min(LOADED, SHORTS));
const LONG_THREADS = names('long', LONGS / 2);
const FORKED_THREADS = names('forked', LONGS / 2);

function names(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${kind}-${i}`);
}

/** What is measured must hold; the run goes on, and fails at its end. */
function hold(what: string, isSo: boolean): void {
  if (isSo) return;
  console.error(`does not hold: ${what}`);
  process.exitCode = 1;
}

/** Calls a second, so many at a time. */
async function rate(
  calls: number,
  call: (i: number) => Promise<unknown>,
  inFlight: number,
): Promise<number> {
  const started = performance.now();
  let next = 0;
  const lanes = Array.from({ length: inFlight }, async () => {
    while (next < calls) await call(next++);
  });
  await Promise.all(lanes);
  return (calls / (performance.now() - started)) * 1_000;
}

const LOADS = 400;

/** The median of some loads in milliseconds, of each kind of threads in turn. */
async function loadMs(
  store: Store,
  kinds: readonly (readonly string[])[],
): Promise<readonly number[]> {
  const times = kinds.map((): number[] => []);
  for (let i = 0; i < LOADS; i++) {
    for (const [n, threads] of kinds.entries()) {
      const thread = threads[i % threads.length] as string;
      const started = performance.now();
      const window = await store.window(keyOf(thread));
      times[n]?.push(performance.now() - started);
      if (window?.tail.length !== SHOWN) throw new Error(`${thread} shows ${window?.tail.length}`);
    }
  }
  return times.map((each) => each.toSorted((a, b) => a - b)[LOADS / 2] as number);
}

/** Interleaved rounds, so that what else the machine does falls on both alike; the medians are compared. */
async function compareAppends(
  name: string,
  ours: (i: number) => Promise<unknown>,
  bare: (i: number) => Promise<unknown>,
  inFlight: number,
): Promise<void> {
  const rounds = 8;
  const size = APPENDS / rounds;
  const rates: [number, number][] = [];
  for (let round = 0; round < rounds; round++) {
    const from = round * size;
    const bareRate = await rate(size, (i) => bare(from + i), inFlight);
    rates.push([await rate(size, (i) => ours(from + i), inFlight), bareRate]);
  }
  const median = (which: 0 | 1): number =>
    rates.map((pair) => pair[which]).toSorted((a, b) => a - b)[rounds / 2] as number;
  const share = median(0) / median(1);
  console.log(
    `${name}: ${median(0).toFixed(0)} appends/s, bare ${median(1).toFixed(0)}/s, share ${share.toFixed(2)} (at least 0.5)`,
  );
  hold(`${name}: at least half of the bare driver's appends`, share >= 0.5);
}

async function report(name: string, store: Store): Promise<void> {
  const kinds = [SHORT_THREADS, LONG_THREADS, FORKED_THREADS];
  const [short = 0, long = 0, forked = 0] = await loadMs(store, kinds);
  console.log(
    `${name}: window of ${SHORT} messages ${short.toFixed(3)} ms, of ${LONG} ${long.toFixed(3)} ms (at most 1.5 times that), behind a compacted fork ${forked.toFixed(3)} ms (at most 4 times)`,
  );
  hold(`${name}: a long thread's window costs what a short one's does`, long <= 1.5 * short);
  hold(`${name}: a compacted fork costs a window little`, forked <= 4 * short);
}

const row = (i: number): readonly [string, string, number, number, string] => {
  const node = path[LONG + i] as Node;
  return [node.id, node.parent ?? '', node.index, node.turn, JSON.stringify(node.message)];
};

async function benchSqlite(folder: string): Promise<void> {
  const file = join(folder, 'threads.db');
  for (const [run, sync] of (['normal', 'full'] as const).entries()) {
    const store = sqliteStore(file, { sync });
    if (sync === 'normal') {
      const started = performance.now();
      await fill(store);
      console.log(
        `sqlite: ${MESSAGES} messages in ${((performance.now() - started) / 1000).toFixed(1)} s`,
      );
      await report('sqlite', store);
    }
    const thread = LONG_THREADS[run] as string;
    const database = new DatabaseSync(file);
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${sync}`);
    const insert = database.prepare(
      `INSERT INTO messages (tenant, thread, id, parent, position, turn, opens_turn, message)
       VALUES ('bare', '${thread}', ?, ?, ?, ?, 1, ?)`,
    );
    const update = database.prepare(
      `INSERT INTO threads (tenant, thread, head, length, changed_at) VALUES ('bare', '${thread}', ?, ?, 0)
       ON CONFLICT (tenant, thread) DO UPDATE SET head = excluded.head, length = excluded.length`,
    );
    await compareAppends(
      `sqlite, synchronous ${sync}, one message a transaction`,
      (i) => store.append(keyOf(thread), [path[LONG + i] as Node]),
      async (i) => {
        const [id, parent, position, turn, message] = row(i);
        database.exec('BEGIN');
        insert.run(id, parent, position, turn, message);
        update.run(id, position + 1);
        database.exec('COMMIT');
      },
      1,
    );
    database.close();
    await store.close();
  }
}

async function benchPostgres(): Promise<void> {
  const server = await startPostgres({ settings: ['shared_buffers=512MB', 'fsync=on'] });
  const store = await postgresStore(server.url(), { connections: IN_FLIGHT });
  const started = performance.now();
  await fill(store);
  console.log(
    `postgres: ${MESSAGES} messages in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  await report('postgres', store);
  const bare = bareDriver(server.url(), IN_FLIGHT);
  for (const [run, inFlight] of [1, IN_FLIGHT].entries()) {
    // The next message of one thread after another.
    const place = (i: number): [string, Node] => {
      const round = run * Math.ceil(APPENDS / SHORTS) + Math.floor(i / SHORTS);
      return [`short-${i % SHORTS}`, path[SHORT + round] as Node];
    };
    await compareAppends(
      `postgres, ${inFlight} in flight, one message a transaction`,
      (i) => {
        const [thread, node] = place(i);
        return store.append(keyOf(thread), [node]);
      },
      (i) => {
        const [thread, node] = place(i);
        return bare.insert(thread, node);
      },
      inFlight,
    );
  }
  await bare.end();
  await store.close();
  await server.stop();
}

const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'));
await benchSqlite(folder);
rmSync(folder, { recursive: true });
await benchPostgres();
