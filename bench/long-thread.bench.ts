// A thread of 100 000 messages, all compacted, in each store: how long the event loop is held while it is appended at
// once, what recall costs, and the bytes of a message and of its row in the index of words.
// BOBBIN_BENCH_MESSAGES sets another size.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { memoryStore, textMessage, type MessageId, type Store, type ThreadId } from '@bobbin/core';
import { queryWords, type Node } from '@bobbin/core/internal';
import { sqliteStore } from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import { dropPlan, nodesOf, seeded } from '../packages/stores/src/conformance/sample.ts';
import { startPostgres } from '../packages/stores/test/postgres-server.ts';

const MESSAGES = Number(process.env['BOBBIN_BENCH_MESSAGES'] ?? 100_000);
const WORDS = 80;
/** What a recall row may take: 0.64 of what it took with the places of its words. */
const MOST_ROW_BYTES = 1_024;
const key = { tenant: 'bench', thread: 'long' as ThreadId };

/** Words as often as people use them: the n-th most common one 1/n times as often as the first. */
function texts(count: number): readonly string[] {
  const random = seeded(3);
  const vocabulary = Array.from({ length: 20_000 }, (_, i) => `w${i.toString(36)}ord`);
  return Array.from({ length: count }, (_, i) =>
    [
      `needle${i}x`,
      ...Array.from(
        { length: WORDS },
        () => vocabulary[Math.floor(20_000 ** (random(1e6) / 1e6)) - 1],
      ),
    ].join(' '),
  );
}

const path = nodesOf(
  texts(MESSAGES).map((text, i) => textMessage(i % 2 === 0 ? 'user' : 'assistant', text)),
);
const head = path.at(-1)?.id as MessageId;

async function medianMs(calls: number, call: (i: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const started = performance.now();
    await call(i);
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(calls / 2)] as number;
}

async function measure(name: string, store: Store): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const cpu = process.cpuUsage();
  await store.append(key, path);
  delay.disable();
  const used = process.cpuUsage(cpu);
  await compactAll(store);
  const rare = await medianMs(9, async (i) => {
    const at = (i * 7_919) % MESSAGES;
    const [found] = await store.search(key, queryWords(`needle${at}x`), 5, head);
    if (found?.node.index !== at) throw new Error('not found');
  });
  const mixed = await medianMs(9, async (i) => {
    const at = (i * 7_919) % MESSAGES;
    const [found] = await store.search(key, queryWords(`w0ord w1ord w2ord needle${at}x`), 5, head);
    if (found?.node.index !== at) throw new Error('not found');
  });
  console.log(
    `${name}: append of ${MESSAGES} at once holds the loop ${(delay.max / 1e6).toFixed(0)} ms at most (${(used.user / 1e3).toFixed(0)} ms CPU in all); recall of a rare word ${rare.toFixed(1)} ms, among common ones ${mixed.toFixed(1)} ms`,
  );
}

/** In rounds, as a session compacts. */
async function compactAll(store: Store): Promise<void> {
  const size = 1_000;
  for (let from = 0, version = 0; from < path.length; from += size, version++) {
    const part: readonly Node[] = path.slice(from, from + size);
    await store.commit(key, { ...dropPlan(key, part, from + size), head }, version, []);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'bobbin-long-'));
await measure('memory', memoryStore());
const sqlite = sqliteStore(join(folder, 'a.db'), { sync: 'normal' });
await measure('sqlite', sqlite);
await sqlite.close();
rmSync(folder, { recursive: true });
const server = await startPostgres();
const store = await postgresStore(server.url(), { timeoutMs: 120_000 });
await measure('postgres', store);
await store.close();
const sql = server.sql();
const [row] = await sql`
  SELECT (SELECT avg(length(message)) FROM bobbin.messages) AS raw,
    pg_total_relation_size('bobbin.messages') / ${MESSAGES}::float8 AS message,
    (SELECT avg(pg_column_size(words)) FROM bobbin.recall) AS words,
    pg_total_relation_size('bobbin.recall') / ${MESSAGES}::float8 AS recall`;
console.log(
  `postgres: a message of ${Number(row?.['raw']).toFixed(0)} characters takes ${Number(row?.['message']).toFixed(0)} bytes with its index, its recall row ${Number(row?.['recall']).toFixed(0)} (words ${Number(row?.['words']).toFixed(0)})`,
);
if (Number(row?.['recall']) > MOST_ROW_BYTES) process.exitCode = 1;
await sql.end();
await server.stop();
