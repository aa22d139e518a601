// Two processes that append to one SQLite file as fast as they can: how long each waits with its event loop held, and how
// much the log grows while another program reads. Ends with 1 where the loop is held for more than half a second.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { textMessage, type ThreadId } from '@bobbin/core';
import { sqliteStore } from '@bobbin/stores';
import { nodesOf } from '../packages/stores/src/conformance/sample.ts';

const SECONDS = Number(process.env['BOBBIN_BENCH_SECONDS'] ?? 10);
const MOST_HELD_MS = 500;
const APPENDS = 2_000;

async function append(path: string, thread: string, isOver: (count: number) => boolean) {
  const store = sqliteStore(path);
  const key = { tenant: 'bench', thread: thread as ThreadId };
  const held = monitorEventLoopDelay({ resolution: 5 });
  held.enable();
  let [count, slowestMs] = [0, 0];
  let end = nodesOf([textMessage('user', 'begin')]);
  for (; !isOver(count); count++) {
    const started = performance.now();
    await store.append(key, end);
    slowestMs = Math.max(slowestMs, performance.now() - started);
    end = nodesOf([textMessage('user', `message ${count} ${'of some words '.repeat(20)}`)], end);
  }
  held.disable();
  await store.close();
  return { count, slowestMs, heldMs: held.max / 1e6 };
}

function forSeconds(): (count: number) => boolean {
  const end = performance.now() + SECONDS * 1_000;
  return () => performance.now() > end;
}

async function compare(path: string): Promise<void> {
  const other = spawn(process.execPath, [...process.execArgv, import.meta.filename, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  other.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise((resolve) => other.once('exit', resolve));
  const mine = await append(path, 'one', forSeconds());
  await ended;
  const theirs = JSON.parse(said) as typeof mine;
  const heldMs = Math.max(mine.heldMs, theirs.heldMs);
  console.log(
    `two writers of one file: ${mine.count} and ${theirs.count} appends in ${SECONDS} s; slowest ${Math.max(mine.slowestMs, theirs.slowestMs).toFixed(0)} ms; the event loop held for ${heldMs.toFixed(0)} ms at most (bound ${MOST_HELD_MS})`,
  );
  if (heldMs > MOST_HELD_MS) process.exitCode = 1;
}

async function grow(path: string): Promise<void> {
  const bytes = (): number => statSync(`${path}-wal`).size;
  await append(path, 'free', (count) => count === APPENDS);
  const store = sqliteStore(path);
  await store.threads('bench', 1);
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM messages').get();
  await append(path, 'watched', (count) => count === APPENDS);
  const during = bytes();
  reader.exec('COMMIT');
  reader.close();
  await append(path, 'after', (count) => count === 10);
  console.log(
    `a log beside a reader's open snapshot: ${(during / APPENDS / 1_000).toFixed(1)} kB an append; ${(bytes() / 1e6).toFixed(1)} MB after it ended`,
  );
  await store.close();
}

const [, , given] = process.argv;
if (given !== undefined) console.log(JSON.stringify(await append(given, 'two', forSeconds())));
else {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-writers-'));
  await compare(join(folder, 'writers.db'));
  await grow(join(folder, 'log.db'));
  rmSync(folder, { recursive: true });
}
