import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { textMessage, type MessageId, type ThreadId } from '@bobbin/core';
import { nodesOf, talk } from '../src/conformance/sample.ts';
import { verifyStore } from '../src/verify-store.ts';
import { volume } from '@bobbin/testing/volume';
import { newDatabase } from './shared-postgres.ts';
import { openStore, type StoreKind } from './store-place.ts';
import { startWriter } from './writer.ts';

const WRITERS = volume(3, 8);
const APPENDS = 100;

/** Several processes append to one thread, and each tries eight times to commit its first plan. */
async function assertCrowd(kind: StoreKind, place: string): Promise<void> {
  const key = { tenant: 'crowd', thread: 'one' as ThreadId };
  const writers = Array.from({ length: WRITERS }, (_, i) =>
    startWriter(['crowd', kind, place, 'one', String(i)]),
  );
  await Promise.all(writers.map((writer) => writer.heard('ready')));
  for (const writer of writers) writer.process.stdin?.write('go\n');
  const said = await Promise.all(writers.map((writer) => writer.heard('won')));
  await Promise.all(writers.map((writer) => writer.ended));
  assert.equal(said.filter((line) => line === 'won 1').length, 1, said.join(', '));
  assert.equal(said.filter((line) => line === 'won 0').length, WRITERS - 1, said.join(', '));
  const store = await openStore(kind, place);
  const trunk = talk(4);
  for (let i = 0; i < WRITERS; i++) {
    const fork = nodesOf(
      Array.from({ length: APPENDS }, (_, n) => textMessage('user', `writer ${i}, message ${n}`)),
      trunk,
    );
    assert.deepEqual(await store.path(key, fork.at(-1)?.id as MessageId, 8), fork, `writer ${i}`);
  }
  assert.deepEqual(await verifyStore(store, ['crowd']), {
    threads: 1,
    messages: trunk.length + WRITERS * APPENDS,
    plans: 1,
    problems: [],
  });
  assert.equal((await store.events(key)).length, 1);
  await store.close();
}

const title = `${WRITERS} processes at once, ${WRITERS * 8} compactions, one commit, 0 of ${WRITERS * APPENDS} appends lost`;

for (const kind of ['sqlite', 'jsonl'] as const) {
  test(`C15 ${kind}: ${title}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-crowd-'));
    await assertCrowd(kind, join(folder, 'store'));
    rmSync(folder, { recursive: true });
  });
}

test(`C15 postgres: ${title}`, async () => {
  await assertCrowd('postgres', await newDatabase());
});
