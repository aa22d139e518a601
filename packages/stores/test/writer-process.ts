// A process that writes to a store until it is killed, or for a given number of times, and says on its standard output what
// was acknowledged: `node writer-process.ts TASK KIND PLACE THREAD [NUMBER]`.
import { writeSync } from 'node:fs';
import { createBobbin, textMessage, type Store, type ThreadId } from '@bobbin/core';
import { folderArtifacts } from '../src/artifacts/artifacts.ts';
import { dropPlan, nodesOf, talk, warning } from '../src/conformance/sample.ts';
import { StoreError } from '../src/store-error.ts';
import { bulkText } from './bulk-text.ts';
import { promptHash } from './prompt-hash.ts';
import { openStore, type StoreKind } from './store-place.ts';

const [, , task = '', kind = '', place = '', thread = '', number = '0'] = process.argv;

function say(...words: readonly (string | number)[]): void {
  writeSync(1, `${words.join(' ')}\n`);
}

/** Talks for ever: what was appended, then which prompt was shown. */
async function talkForEver(store: Store): Promise<never> {
  const handle = await createBobbin({ store, tenant: 'crash', window: 1_500 }).thread(thread);
  for (;;) {
    const turn = handle.length;
    const ids = await handle.append(
      textMessage('user', `Turn ${turn} of ${thread}: keep port ${turn}. ${'wind '.repeat(20)}`),
      textMessage('assistant', `Kept ${turn}. ${'thread '.repeat(20)}`),
    );
    say('appended', ...ids);
    const { version } = await handle.prompt();
    say('shown', version, handle.length, await promptHash(handle, version, handle.length));
  }
}

/** Appends a fork of its own to a thread that others write to as well, and tries to commit its first plan. */
async function joinCrowd(store: Store): Promise<void> {
  const key = { tenant: 'crowd', thread: thread as ThreadId };
  const trunk = talk(4);
  await store.append(key, trunk);
  const fork = nodesOf(
    Array.from({ length: 100 }, (_, i) => textMessage('user', `writer ${number}, message ${i}`)),
    trunk,
  );
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  const plan = dropPlan(key, trunk, 4);
  const commits = Array.from({ length: 8 }, (_, i) =>
    store.commit(key, plan, 0, [warning(`writer ${number}, commit ${i}`)]),
  );
  for (const node of fork) await store.append(key, [node]);
  const won = (await Promise.all(commits)).filter(Boolean).length;
  say('won', won);
}

/** Appends until something fails, and says how far it got and what failed. */
async function fillUp(store: Store): Promise<void> {
  const key = { tenant: 'full', thread: thread as ThreadId };
  const path = nodesOf(Array.from({ length: 2_000 }, (_, i) => textMessage('user', bulkText(i))));
  for (const [i, node] of path.entries()) {
    try {
      await store.append(key, [node]);
    } catch (error) {
      say('failed', i, error instanceof StoreError ? error.problem : 'otherwise', String(error));
      return;
    }
  }
}

async function fillArtifacts(): Promise<void> {
  const artifacts = folderArtifacts(place);
  const about = {
    tenant: 'full',
    thread: 't' as ThreadId,
    createdAt: 0,
    mediaType: 'text/plain',
    sensitivity: 'internal',
  } as const;
  say('put', await artifacts.put('small', about));
  await artifacts.put('y'.repeat(2_000_000), about).catch((error: unknown) => {
    say('failed', error instanceof StoreError ? error.problem : 'otherwise', String(error));
  });
}

async function attempt(name: string, work: () => Promise<unknown>): Promise<void> {
  const result = await work().catch((error: unknown) =>
    error instanceof StoreError
      ? `${error.problem} ${error.message}`
      : `otherwise ${String(error)}`,
  );
  say(name, typeof result === 'string' ? result : 'done');
}

/** Tries to read and to write where a user without rights may only read. */
async function tryReadOnly(): Promise<void> {
  if (process.getuid?.() === 0) {
    process.setgid?.(65_534);
    process.setuid?.(65_534);
  }
  const key = { tenant: 'full', thread: thread as ThreadId };
  let store: Store | undefined;
  await attempt('open', async () => {
    store = await openStore(kind as StoreKind, place);
  });
  if (store === undefined) return;
  const opened = store;
  await attempt('read', () => opened.window(key));
  await attempt('append', () => opened.append(key, talk(9)));
}

if (task === 'artifacts') await fillArtifacts();
else if (task === 'read-only') await tryReadOnly();
else if (task !== '') {
  const store = await openStore(kind as StoreKind, place);
  if (task === 'talk') await talkForEver(store);
  if (task === 'crowd') await joinCrowd(store);
  if (task === 'fill') await fillUp(store);
  await store.close();
}
