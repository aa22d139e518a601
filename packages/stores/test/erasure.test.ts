import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  createBobbin,
  embedCompacted,
  memoryArtifacts,
  memoryStore,
  proseSummary,
  textMessage,
  type ArtifactStore,
  type Store,
  type Summarizer,
  type ThreadId,
} from '@bobbin/core';
import { recall } from '@bobbin/core/internal';
import {
  erase,
  eraseOld,
  folderArtifacts,
  jsonlStore,
  memorySummaryCache,
  s3Artifacts,
  sqliteStore,
  type SummaryCache,
} from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { startPostgres } from './postgres-server.ts';
import { startS3 } from './s3-server.ts';

const root = mkdtempSync(join(tmpdir(), 'bobbin-erasure-'));
after(() => rmSync(root, { recursive: true }));

const PLANTED = 'zebrafinch';
const OTHER = 'toucan';

/** A session with all that a thread leaves: messages, summaries, plans, artifacts, events, words and vectors. */
async function talk(
  store: Store,
  artifacts: ArtifactStore,
  name: string,
  word: string,
  summaryCache: SummaryCache = memorySummaryCache(),
): Promise<void> {
  const embedder = {
    id: 'tiny',
    dimensions: 2,
    embed: async (texts: readonly string[]) => texts.map(({ length }) => [1, length]),
  };
  const thread = await createBobbin({
    store,
    artifacts,
    embedder,
    summarizer: {
      id: 'scripted',
      summarize: async (request) => proseSummary(`We keep ${word} apart.`, request),
    },
    summaryCache,
    tenant: 'acme',
    window: 4_000,
  }).thread(name);
  for (let turn = 0; turn < 12; turn++)
    await thread.append(
      textMessage('user', `Never touch ${word}-${turn}. ${'and so on '.repeat(60)}`),
      {
        role: 'assistant',
        parts: [{ kind: 'call', callId: `c${turn}`, tool: 'read', args: `{"path":"${word}.ts"}` }],
      },
      {
        role: 'tool',
        parts: [
          {
            kind: 'result',
            callId: `c${turn}`,
            content: [{ kind: 'text', text: `line of ${word} ${turn}\n`.repeat(400) }],
          },
        ],
      },
    );
  await thread.prompt();
  await thread.compact({ instructions: `keep ${word}` });
  await embedCompacted(store, thread.key, embedder);
  assert.ok((await recall(store, thread.key, word, { embedder })).length > 0);
}

/** The files of a folder that hold a text in any encoding that a store uses. */
function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path).includes(text);
  });
}

async function plantAndErase(store: Store, artifacts: ArtifactStore): Promise<void> {
  await talk(store, artifacts, 'gone', PLANTED);
  await talk(store, artifacts, 'kept', OTHER);
  const threads = ['gone' as ThreadId];
  assert.deepEqual(await erase(store, artifacts, { tenant: 'acme', threads }), threads);
  const kept = { tenant: 'acme', thread: 'kept' as ThreadId };
  assert.ok((await recall(store, kept, OTHER)).length > 0);
  assert.deepEqual(await recall(store, { ...kept, thread: 'gone' as ThreadId }, PLANTED), []);
}

for (const kind of ['sqlite', 'jsonl'] as const) {
  test(`${kind}: no byte of an erased thread is in a file, the log and the index included`, async () => {
    const folder = mkdtempSync(join(root, `${kind}-`));
    const store = kind === 'sqlite' ? sqliteStore(join(folder, 'a.db')) : jsonlStore(folder);
    const artifacts = folderArtifacts(join(folder, 'artifacts'));
    await plantAndErase(store, artifacts);
    assert.deepEqual(filesWith(folder, PLANTED), []);
    assert.ok(filesWith(folder, OTHER).length > 0);
    await store.close();
    assert.deepEqual(filesWith(folder, PLANTED), []);
    const again = kind === 'sqlite' ? sqliteStore(join(folder, 'a.db')) : jsonlStore(folder);
    assert.deepEqual(await again.delete({ tenant: 'acme' }), ['kept']);
    assert.ok((await artifacts.delete({ tenant: 'acme' })) > 0);
    assert.deepEqual(filesWith(folder, OTHER), []);
    await again.close();
  });
}

test('s3: no object of an erased thread is in the bucket', async () => {
  const s3 = await startS3();
  const artifacts = s3Artifacts(s3.options);
  await plantAndErase(memoryStore(), artifacts);
  assert.deepEqual(filesWith(s3.folder, PLANTED), []);
  assert.ok(filesWith(s3.folder, OTHER).length > 0);
  await s3.stop();
});

test('postgres: no row of an erased thread is in a table, and no byte in a file after it was vacuumed', async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const store = await postgresStore(server.url());
  await plantAndErase(store, folderArtifacts(join(root, 'postgres-artifacts')));
  const sql = postgres(server.url(), { max: 1 });
  const tables =
    await sql`SELECT relname FROM pg_class WHERE relnamespace = 'bobbin'::regnamespace AND relkind = 'r'`;
  assert.ok(tables.length >= 7);
  for (const { relname } of tables) {
    const held = async (word: string): Promise<number> =>
      (await sql.unsafe(`SELECT 1 FROM bobbin.${relname} t WHERE t::text LIKE '%${word}%'`)).length;
    assert.equal(await held(PLANTED), 0, String(relname));
    if (['messages', 'plans', 'recall'].includes(String(relname)))
      assert.ok((await held(OTHER)) > 0, String(relname));
  }
  await sql.unsafe('VACUUM FULL');
  await sql.unsafe('CHECKPOINT');
  await sql.end();
  await store.close();
  const base = join(server.folder, 'data', 'base');
  assert.deepEqual(filesWith(base, PLANTED), []);
  assert.ok(filesWith(base, OTHER).length > 0);
});

/** What a cache was given, as it is kept: in a place that can be searched. */
function searchableCache(): SummaryCache & { text(): Promise<string> } {
  const inner = memorySummaryCache();
  const keys = new Set<string>();
  return {
    ...inner,
    set(key, summary, thread) {
      keys.add(key);
      return inner.set(key, summary, thread);
    },
    async text() {
      const found = await Promise.all([...keys].map((key) => inner.get(key)));
      return JSON.stringify(found);
    },
  };
}

test('no cached summary of an erased thread is left: named, by its tenant, and by its age', async () => {
  const artifacts = memoryArtifacts();
  let now = 1_000;
  const store = memoryStore({ clock: { now: () => now } });
  const cache = searchableCache();
  const words = { first: PLANTED, second: 'quetzal', third: OTHER };
  for (const [name, word] of Object.entries(words)) {
    await talk(store, artifacts, name, word, cache);
    now += 1_000;
  }
  const left = async (): Promise<readonly string[]> => {
    const text = await cache.text();
    return Object.values(words).filter((word) => text.includes(word));
  };
  assert.deepEqual(await left(), [PLANTED, 'quetzal', OTHER]);
  await erase(store, artifacts, { tenant: 'acme', threads: ['first' as ThreadId] }, cache);
  assert.deepEqual(await left(), ['quetzal', OTHER]);
  const old = await eraseOld(store, artifacts, 'acme', { maxAgeMs: 1_500, now }, cache);
  assert.deepEqual([old, await left()], [['second'], [OTHER]]);
  await erase(store, artifacts, { tenant: 'zen' }, cache);
  assert.deepEqual(await left(), [OTHER]);
  await erase(store, artifacts, { tenant: 'acme' }, cache);
  assert.deepEqual(await left(), []);
});

test('17 summaries that Bobbin keeps by itself are erased with their threads, and no other tenant finds them', async () => {
  const store = memoryStore();
  let asked = 0;
  const summarizer: Summarizer = {
    id: 'scripted',
    summarize: async (request) => {
      asked += 1;
      return proseSummary('All of it was said.', request);
    },
  };
  const said = Array.from({ length: 12 }, (_, i) =>
    textMessage(
      i % 2 === 0 ? 'user' : 'assistant',
      `step ${i}. ${'and so it went on '.repeat(80)}`,
    ),
  );
  /** How often a summarizer is asked for the same conversation in a new thread. */
  const asks = async (tenant: string, name: string): Promise<number> => {
    asked = 0;
    const bobbin = createBobbin({
      store,
      summarizer,
      tenant,
      preset: 'claude-code',
      window: 20_000,
    });
    const thread = await bobbin.thread(name);
    await thread.append(...said);
    await thread.compact();
    return asked;
  };
  assert.deepEqual(
    [await asks('acme', 'first'), await asks('acme', 'second'), await asks('zen', 'first')],
    [1, 0, 1],
  );
  await erase(store, undefined, { tenant: 'acme', threads: ['first' as ThreadId] });
  assert.deepEqual([await asks('acme', 'third'), await asks('zen', 'second')], [1, 0]);
  await eraseOld(store, undefined, 'acme', { maxAgeMs: 0, now: Date.now() + 1_000 });
  assert.deepEqual([await asks('acme', 'fourth'), await asks('zen', 'third')], [1, 0]);
});

test('a retention age erases old threads with their artifacts', async () => {
  const folder = mkdtempSync(join(root, 'retention-'));
  const artifacts = folderArtifacts(folder);
  let now = 1_000;
  const store = memoryStore({ clock: { now: () => now } });
  await talk(store, artifacts, 'old', PLANTED);
  now = 5_000;
  await talk(store, artifacts, 'young', OTHER);
  assert.deepEqual(await eraseOld(store, artifacts, 'acme', { maxAgeMs: 4_500, now }), []);
  assert.deepEqual(await eraseOld(store, artifacts, 'acme', { maxAgeMs: 3_000, now }), ['old']);
  assert.deepEqual(filesWith(folder, PLANTED), []);
  assert.ok(filesWith(folder, OTHER).length > 0);
});

test('C22 a sweep removes what only threads that are gone have put', async () => {
  const folder = mkdtempSync(join(root, 'orphans-'));
  const artifacts = folderArtifacts(folder);
  const store = memoryStore();
  await talk(store, artifacts, 'gone', PLANTED);
  await talk(store, artifacts, 'kept', OTHER);
  await store.delete({ tenant: 'acme', threads: ['gone' as ThreadId] });
  const hasThread = async (thread: ThreadId): Promise<boolean> =>
    (await store.heads({ tenant: 'acme', thread })).length > 0;
  const later = Date.now() + 7_200_000;
  const early = await artifacts.sweep('acme', () => false, Date.now(), { hasThread });
  assert.equal(early.removed, 0, 'what is young may belong to a thread that begins');
  await artifacts.sweep('acme', () => false, later, { hasThread });
  assert.deepEqual(filesWith(folder, PLANTED), []);
  assert.ok(filesWith(folder, OTHER).length > 0);
});

test(
  'C22 only their owner may read artifacts',
  { skip: process.platform === 'win32' },
  async () => {
    const folder = join(root, 'private', 'artifacts');
    const artifacts = folderArtifacts(folder);
    await artifacts.put('secret', {
      tenant: 'acme',
      thread: 't' as ThreadId,
      createdAt: Date.now(),
      mediaType: 'text/plain',
      sensitivity: 'internal',
    });
    const modes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
      const stats = statSync(join(folder, name));
      return [stats.isFile(), (stats.mode & 0o777).toString(8)];
    });
    assert.ok(modes.some(([isFile]) => isFile === true));
    for (const [isFile, mode] of [...modes, [false, (statSync(folder).mode & 0o777).toString(8)]])
      assert.equal(mode, isFile === true ? '600' : '700');
  },
);
