// What a live session of 100 000 messages holds in memory, and what a fresh process loads to undo a compaction and to show
// an earlier prompt. The store is a SQLite file. BOBBIN_BENCH_MESSAGES sets another size.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createBobbin, textMessage, type Message } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import { sqliteStore } from '@bobbin/stores';

const MESSAGES = Number(process.env['BOBBIN_BENCH_MESSAGES'] ?? 100_000);
const EACH = 'The parser reads one line at a time and reports where it stopped. '.repeat(16);
const OPTIONS = { counter: chars4(), window: 200_000 } as const;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMb(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1e6;
}

function message(i: number): Message {
  return textMessage(i % 2 === 0 ? 'user' : 'assistant', `${i}: ${EACH}`);
}

/** Builds the thread and says what the live session holds. */
async function build(path: string): Promise<void> {
  const store = sqliteStore(path);
  const before = heapMb();
  const session = await createBobbin({ ...OPTIONS, store }).thread('long');
  for (let i = 0; i < MESSAGES; i += 2) {
    await session.append(message(i), message(i + 1));
    if (i % 20 === 0) await session.prompt();
  }
  await session.prompt();
  console.log(`live session of ${session.length} messages: ${(heapMb() - before).toFixed(1)} MB`);
  await store.close();
}

/** What another process needs to show an earlier prompt and to undo the newest compaction. */
async function lookBack(path: string): Promise<void> {
  const before = heapMb();
  const started = performance.now();
  const store = sqliteStore(path);
  const again = await createBobbin({ ...OPTIONS, store }).thread('long');
  await again.promptAt(Math.floor(again.version / 2));
  const shown = performance.now();
  await again.undo();
  const undone = performance.now();
  console.log(
    `fresh process: an earlier prompt in ${Math.round(shown - started)} ms, undo in ${Math.round(undone - shown)} ms, ${(heapMb() - before).toFixed(1)} MB`,
  );
  await store.close();
}

const [, , given] = process.argv;
if (given !== undefined) await lookBack(given);
else {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'));
  const path = join(folder, 'threads.db');
  try {
    await build(path);
    const args = [...process.execArgv, import.meta.filename, path];
    process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
