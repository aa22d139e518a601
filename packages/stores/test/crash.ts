import assert from 'node:assert/strict';
import { createBobbin, type MessageId, type Store, type ThreadId } from '@bobbin/core';
import { verifyStore } from '../src/verify-store.ts';
import { promptHash } from './prompt-hash.ts';
import { openStore, type StoreKind } from './store-place.ts';
import { startWriter } from './writer.ts';

const AT_ONCE = 4;
/** A writer says two lines a turn; it is killed at any of them, and anywhere between two. */
const MOST_LINES = 60;
const MOST_WAIT_MS = 10;

/** Kills writers at random moments, and checks after each that all which was acknowledged is there. */
export async function killWriters(kind: StoreKind, place: string, kills: number): Promise<string> {
  let left = kills;
  const appended = new Map<string, number>();
  const versions = new Map<string, number>();
  const lane = async (name: string): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const lines = await killOne(kind, place, name);
      const store = await openStore(kind, place);
      const checked = await assertAcknowledged(store, name, lines);
      await store.close();
      appended.set(name, checked.length);
      versions.set(name, checked.version);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => lane(`lane-${i}`)));
  const store = await openStore(kind, place);
  assert.deepEqual((await verifyStore(store, ['crash'])).problems, []);
  await store.close();
  return `${kills} kills, ${sum(appended)} messages and ${sum(versions)} plans`;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((a, b) => a + b, 0);
}

/** What a writer had acknowledged when it was killed. A line that it could not finish is none. */
async function killOne(kind: StoreKind, place: string, name: string): Promise<readonly string[]> {
  const writer = startWriter(['talk', kind, place, name]);
  await writer.said(1 + Math.floor(Math.random() * MOST_LINES));
  await new Promise((resolve) => setTimeout(resolve, Math.random() * MOST_WAIT_MS));
  writer.process.kill('SIGKILL');
  await writer.ended;
  return writer.lines.filter((line) =>
    /^(appended [0-9a-f]{32} [0-9a-f]{32}|shown \d+ \d+ [0-9a-f]{16})$/.test(line),
  );
}

async function assertAcknowledged(
  store: Store,
  name: string,
  lines: readonly string[],
): Promise<{ length: number; version: number }> {
  const thread = await createBobbin({ store, tenant: 'crash', window: 1_500 }).thread(name);
  const path = await store.path(
    { tenant: 'crash', thread: name as ThreadId },
    thread.head as MessageId,
  );
  const there = new Set<string>(path.map(({ id }) => id));
  for (const line of lines) {
    const [word, ...values] = line.split(' ');
    if (word === 'appended')
      for (const id of values)
        assert.ok(there.has(id), `${name}: ${id} was acknowledged and is lost`);
    else {
      const [version, length, hash] = values as [string, string, string];
      assert.equal(
        await promptHash(thread, Number(version), Number(length)),
        hash,
        `${name}: ${line}`,
      );
    }
  }
  return { length: path.length, version: thread.version };
}
