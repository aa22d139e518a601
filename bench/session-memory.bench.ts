// What a live session of 100 000 messages holds in memory, and what a fresh process holds that opens the thread, works on
// it, shows an earlier prompt and undoes a compaction. The store is a SQLite file. Ends with 1 if anything holds more than
// 80 MB, or loads so long that it must have been the whole path. BOBBIN_BENCH_MESSAGES sets another size.
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
const MOST_MB = 80;
/** Loading the whole path would take longer. */
const MOST_PROMPT_MS = 300;
const MOST_UNDO_MS = 600;
/** How many messages a fresh process appends: enough for a compaction. */
const MORE = 2_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMb(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

function message(i: number): Message {
  return textMessage(i % 2 === 0 ? 'user' : 'assistant', `${i}: ${EACH}`);
}

/** What is held since some point, for a report; more than the limit fails. */
function heldSince(before: number): string {
  const held = heapMb() - before;
  if (held > MOST_MB) process.exitCode = 1;
  return `${held.toFixed(1)} MB`;
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
  console.log(`live session of ${session.length} messages: ${heldSince(before)}`);
  await store.close();
}

/** What another process holds that goes on with the thread, looks back and undoes the newest compaction. */
async function goOn(path: string): Promise<void> {
  const before = heapMb();
  const store = sqliteStore(path);
  const session = await createBobbin({ ...OPTIONS, store }).thread('long');
  await session.prompt();
  console.log(`fresh process: thread of ${session.length} opened, ${heldSince(before)}`);
  const { version } = session;
  for (let i = 0; i < MORE; i += 2) {
    await session.append(message(session.length), message(session.length + 1));
    if (i % 20 === 0) await session.prompt();
  }
  console.log(
    `${MORE} messages and ${session.version - version} compactions later: ${heldSince(before)}`,
  );
  const started = performance.now();
  await session.promptAt(Math.floor(session.version / 2));
  const shown = performance.now();
  await session.undo();
  const undone = performance.now();
  console.log(
    `an earlier prompt in ${Math.round(shown - started)} ms, undo in ${Math.round(undone - shown)} ms: ${heldSince(before)}`,
  );
  if (shown - started > MOST_PROMPT_MS || undone - shown > MOST_UNDO_MS) process.exitCode = 1;
  await store.close();
}

const [, , given] = process.argv;
if (given !== undefined) await goOn(given);
else {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'));
  const path = join(folder, 'threads.db');
  try {
    await build(path);
    const args = [...process.execArgv, import.meta.filename, path];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    if (status !== 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
