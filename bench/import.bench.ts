// How long an import of very many messages, and the first prompt after it, keep a process from its other work at a time:
// the processor time of this thread between two turns of its event loop. BOBBIN_BENCH_MESSAGES sets another size.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBobbin, memoryStore, textMessage, type Message, type Store } from '@bobbin/core';
import { jsonlStore, sqliteStore } from '@bobbin/stores';

const MESSAGES = Number(process.env['BOBBIN_BENCH_MESSAGES'] ?? 100_000);
const MOST_MS = 200;
/** All messages are looked at to choose what is shown; their summary is written in parts. */
const MOST_PROMPT_MS = 600;
const EACH = 'The parser reads one line at a time and reports where it stopped. '.repeat(4);

function message(i: number): Message {
  return textMessage(i % 2 === 0 ? 'user' : 'assistant', `${i}: ${EACH}`);
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The longest turn of the event loop while some work is done. */
async function longestTurn(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  let longest = 0;
  let last = threadMs();
  const tick = (): void => {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  await work;
  tick();
  isDone = true;
  return longest;
}

const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'));
const messages = Array.from({ length: MESSAGES }, (_, i) => message(i));
const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memoryStore(),
  SQLite: () => sqliteStore(join(folder, 'threads.db')),
  JSONL: () => jsonlStore(join(folder, 'threads')),
};
try {
  for (const [name, open] of Object.entries(stores)) {
    const store = open();
    const session = await createBobbin({ store, window: 200_000 }).thread('imported');
    const started = performance.now();
    const ms = await longestTurn(session.append(...messages));
    const allMs = performance.now() - started;
    console.log(
      `${name}: ${session.length} messages in ${Math.round(allMs)} ms, at most ${ms.toFixed(0)} ms at a time`,
    );
    const promptStarted = performance.now();
    const promptMs = await longestTurn(session.prompt());
    const promptAllMs = performance.now() - promptStarted;
    console.log(
      `${name}: the first prompt in ${Math.round(promptAllMs)} ms, at most ${promptMs.toFixed(0)} ms at a time`,
    );
    if (ms > MOST_MS || promptMs > MOST_PROMPT_MS) process.exitCode = 1;
    await store.close();
  }
} finally {
  rmSync(folder, { recursive: true });
}
