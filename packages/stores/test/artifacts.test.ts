import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import {
  createBobbin,
  memoryArtifacts,
  memoryStore,
  textMessage,
  type Message,
  type ThreadId,
} from '@bobbin/core';
import {
  planArtifacts,
  spanOf,
  type ArtifactId,
  type ArtifactMetadata,
  type Span,
} from '@bobbin/core/internal';
import {
  folderBlobs,
  jsonlStore,
  keepArtifacts,
  liveArtifacts,
  s3Blobs,
  StoreError,
  type Blobs,
  type KeyRing,
} from '@bobbin/stores';
import { artifactSuite } from '@bobbin/stores/conformance';
import { volume } from '@bobbin/testing/volume';
import { dropPlan, talk } from '../src/conformance/sample.ts';
import { startS3 } from './s3-server.ts';

const root = mkdtempSync(join(tmpdir(), 'bobbin-artifacts-'));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, String(folders++));

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const ring = (current: string, ...ids: readonly string[]): KeyRing => ({
  current,
  keys: Object.fromEntries([current, ...ids].map((id) => [id, key(id.charCodeAt(id.length - 1))])),
});
const nothing = async (): Promise<void> => undefined;

artifactSuite('memory', async () => ({ artifacts: memoryArtifacts(), close: nothing }));
artifactSuite('folder', async () => ({
  artifacts: keepArtifacts(folderBlobs(newFolder())),
  close: nothing,
}));
artifactSuite('encrypted folder', async () => ({
  artifacts: keepArtifacts(folderBlobs(newFolder()), { keys: ring('K/1') }),
  close: nothing,
}));
artifactSuite('encrypted s3', async () => {
  const s3 = await startS3();
  return {
    artifacts: keepArtifacts(s3Blobs(s3.options), { keys: ring('k1') }),
    close: () => s3.stop(),
  };
});

function about(more: Partial<ArtifactMetadata> = {}): ArtifactMetadata {
  return {
    thread: 't' as ThreadId,
    tenant: 'acme',
    createdAt: 0,
    mediaType: 'text/plain',
    sensitivity: 'internal',
    ...more,
  };
}
const me = { tenant: 'acme' };
const isWrong = (error: unknown): boolean =>
  error instanceof StoreError && error.problem === 'wrong-key';
const damaged = (error: unknown): boolean =>
  error instanceof StoreError && error.problem === 'damaged';

const kinds: readonly [string, () => Promise<{ blobs: Blobs; stop(): Promise<void> }>][] = [
  ['folder', async () => ({ blobs: folderBlobs(newFolder()), stop: nothing })],
  [
    's3',
    async () => {
      const s3 = await startS3();
      return { blobs: s3Blobs(s3.options), stop: () => s3.stop() };
    },
  ],
];
for (const [name, start] of kinds) {
  suite(`${name} keeper`, () => {
    let blobs: Blobs;
    let stop: () => Promise<void>;
    before(async () => {
      const started = await start();
      ({ blobs } = started);
      stop = () => started.stop();
    });
    after(() => stop());
    keeperTests(() => blobs);
  });
}

function keeperTests(blobs: () => Blobs): void {
  test('C22 content at rest is not readable, and says which key it needs', async () => {
    const artifacts = keepArtifacts(blobs(), { keys: ring('k1') });
    const id = await artifacts.put('a plain secret', about());
    assert.equal((await artifacts.metadata(id, me))?.keyId, 'k1');
    for await (const each of blobs().list('acme/'))
      assert.equal(
        Buffer.from((await blobs().read(each)) ?? []).includes('plain secret'),
        false,
        each,
      );
  });

  test('C22 a wrong or missing key is an error that says so', async () => {
    const id = await keepArtifacts(blobs(), { keys: ring('k1') }).put('locked', about());
    const wrong = { current: 'k1', keys: { k1: key(9) } };
    await assert.rejects(keepArtifacts(blobs(), { keys: wrong }).get(id, me), isWrong);
    await assert.rejects(keepArtifacts(blobs(), { keys: ring('k2') }).get(id, me), isWrong);
    await assert.rejects(keepArtifacts(blobs()).get(id, me), isWrong);
    assert.equal(await keepArtifacts(blobs(), { keys: ring('k2', 'k1') }).get(id, me), 'locked');
  });

  test('C22 rotation brings everything under the current key, what was in the clear too', async () => {
    const tenant = 'rotating';
    const plain = await keepArtifacts(blobs()).put('was clear', about({ tenant }));
    const old = await keepArtifacts(blobs(), { keys: ring('k1') }).put('was k1', about({ tenant }));
    const both = keepArtifacts(blobs(), { keys: ring('k2', 'k1') });
    assert.deepEqual(await both.rotate(tenant), { rotated: 2, problems: [] });
    assert.deepEqual(await both.rotate(tenant), { rotated: 0, problems: [] });
    const fresh = keepArtifacts(blobs(), { keys: ring('k2') });
    assert.equal(await fresh.get(plain, { tenant }), 'was clear');
    assert.equal(await fresh.get(old, { tenant }), 'was k1');
    assert.equal((await fresh.metadata(old, { tenant }))?.keyId, 'k2');
    assert.deepEqual(await fresh.verify(tenant), []);
  });

  test('C22 a sweep removes what has expired, but nothing that is live, claimed or without an end', async () => {
    const tenant = 'sweeping';
    const artifacts = keepArtifacts(blobs(), { keys: ring('k1'), clock: { now: () => 5 } });
    const put = (text: string, ttlMs?: number, thread = 't'): Promise<ArtifactId> =>
      artifacts.put(
        text,
        about({ tenant, thread: thread as ThreadId, ...(ttlMs === undefined ? {} : { ttlMs }) }),
      );
    const gone = await put('gone', 100);
    const live = await put('live', 100);
    const later = await put('later', 10_000);
    const ever = await put('ever');
    const shared = await put('shared', 100);
    await put('shared', 10_000, 'other');
    const sweep = (now: number, graceMs: number) =>
      artifacts.sweep(tenant, (id) => id === live, now, { graceMs });
    assert.deepEqual(await sweep(150, 1_000), { kept: 5, removed: 0, problems: [] }, 'the grace');
    assert.deepEqual(await sweep(150, 0), { kept: 4, removed: 1, problems: [] });
    assert.equal(await artifacts.get(gone, { tenant }), undefined);
    for (const id of [live, later, ever, shared])
      assert.ok((await artifacts.get(id, { tenant })) !== undefined);
    assert.deepEqual(await sweep(20_000, 0), { kept: 2, removed: 2, problems: [] });
  });

  test('C22 content that is put while it is swept is there after', async () => {
    const tenant = 'racing';
    const artifacts = keepArtifacts(blobs(), { clock: { now: () => 1_000 } });
    for (let i = 0; i < volume(5, 50); i++) {
      const id = await artifacts.put(`race ${i}`, about({ tenant, ttlMs: 1 }));
      await Promise.all([
        artifacts.sweep(tenant, () => false, 1_000, { graceMs: 0 }),
        artifacts.put(
          `race ${i}`,
          about({ tenant, createdAt: 1_000, ttlMs: 1_000, thread: 'new' as ThreadId }),
        ),
      ]);
      assert.equal(await artifacts.get(id, { tenant }), `race ${i}`);
    }
  });
}

function claimFile(folder: string, tenant: string, id: ArtifactId): string {
  const place = join(folder, tenant, id);
  return join(place, readdirSync(place).find((name) => name.startsWith('claim')) ?? '');
}

test('C22 damaged content is an error, never other content', async () => {
  const folder = newFolder();
  const artifacts = keepArtifacts(folderBlobs(folder));
  const id = await artifacts.put('what was put', about());
  const claim = await artifacts.put('with a claim', about());
  writeFileSync(join(folder, 'acme', id, 'content'), 'what was not');
  writeFileSync(claimFile(folder, 'acme', claim), '{"ten');
  await assert.rejects(artifacts.get(id, me), damaged);
  await assert.rejects(artifacts.get(claim, me), damaged);
  assert.deepEqual(await artifacts.verify('acme'), [
    { id, problem: `acme/${id}/content: the content is not what was put` },
    {
      id: claim,
      problem: `acme/${claim}/${basename(claimFile(folder, 'acme', claim))}: the metadata is no JSON`,
    },
  ]);
});

test('C22 encrypted content cannot be moved to another tenant or artifact', async () => {
  const folder = newFolder();
  const artifacts = keepArtifacts(folderBlobs(folder), { keys: ring('k1') });
  const id = await artifacts.put('bound', about());
  cpSync(join(folder, 'acme'), join(folder, 'zen'), { recursive: true });
  const claim = claimFile(folder, 'zen', id);
  writeFileSync(claim, readFileSync(claim, 'utf8').replace('acme', 'zen'));
  await assert.rejects(
    artifacts.get(id, { tenant: 'zen' }),
    /zen\/.* cannot be decrypted with key k1/,
  );
});

test('C11 what the engine externalizes can be read back, and a live plan keeps it from the sweep', async () => {
  const folder = newFolder();
  const kept = keepArtifacts(folderBlobs(folder), {
    keys: { current: 'k', keys: { k: randomBytes(32) } },
  });
  const mortal = {
    ...kept,
    put: (content: string | Uint8Array, metadata: ArtifactMetadata) =>
      kept.put(content, { ...metadata, ttlMs: 60_000 }),
  };
  const artifacts = {
    put: mortal.put,
    get: kept.get.bind(kept),
    bytes: kept.bytes.bind(kept),
    metadata: kept.metadata.bind(kept),
    delete: kept.delete.bind(kept),
  };
  const store = memoryStore();
  const thread = await createBobbin({ store, artifacts, tenant: 'acme', window: 8_000 }).thread(
    't',
  );
  const output = Array.from({ length: 3_000 }, (_, i) => `row ${i}`).join('\n');
  await thread.append(textMessage('user', 'List it.'), call('c1'), result('c1', output));
  const { plan } = await thread.prompt();
  const [id] = planArtifacts(plan);
  assert.ok(id !== undefined, 'the large result was externalized');
  assert.equal(await kept.get(id, me), output);
  const live = await liveArtifacts(store, 'acme');
  assert.deepEqual([...live], [id]);
  const late = Date.now() + 1e9;
  assert.deepEqual(await kept.sweep('acme', (each) => live.has(each), late), {
    kept: 1,
    removed: 0,
    problems: [],
  });
  assert.deepEqual(await kept.sweep('acme', () => false, late), {
    kept: 0,
    removed: 1,
    problems: [],
  });
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.startsWith('.')),
    [],
  );
});

test('C22 what a past plan points to is live: an undo and any past prompt need it', async () => {
  const store = memoryStore();
  const thread = { tenant: 'acme', thread: 't' as ThreadId };
  const path = talk(4);
  await store.append(thread, path);
  const ids = ['1', '2'].map((digit) => digit.repeat(32) as ArtifactId);
  for (const [i, artifactId] of ids.entries()) {
    const span = spanOf(path.slice(0, 1)) as Span;
    const record = {
      kind: 'externalize',
      span,
      artifactId,
      summary: '',
      hint: '',
      kept: [],
    } as const;
    const plan = { ...dropPlan(thread, path, 0), records: [{ ...record, argsChars: 0 }] };
    await store.commit(thread, plan, i, []);
  }
  assert.deepEqual(await liveArtifacts(store, 'acme'), new Set(ids));
});

test('C22 a plan that cannot be read stops a sweep: what it points to is not known', async () => {
  const folder = newFolder();
  const store = jsonlStore(folder);
  const thread = { tenant: 'acme', thread: 't' as ThreadId };
  await store.append(thread, talk(2));
  const file = join(folder, 'acme', 't.jsonl');
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"type":"compaction"}\n`);
  await assert.rejects(liveArtifacts(jsonlStore(folder), 'acme'), damaged);
});

test('all artifacts of a tenant can be taken to another place, with every claim', async () => {
  const from = keepArtifacts(folderBlobs(newFolder()), { keys: ring('k1') });
  const to = keepArtifacts(folderBlobs(newFolder()));
  const id = await from.put('taken along', about({ permissions: ['a'] }));
  await from.put('taken along', about({ thread: 'u' as ThreadId, permissions: ['b'] }));
  await from.put('not theirs', about({ tenant: 'zen' }));
  assert.deepEqual(await from.copyTo(to, 'acme'), { copied: 1, problems: [] });
  for (const permission of ['a', 'b'])
    assert.equal(await to.get(id, { ...me, permissions: [permission] }), 'taken along');
  assert.equal(await to.get(id, me), undefined);
  assert.deepEqual(await to.verify('acme', [id, 'f'.repeat(32) as ArtifactId]), [
    { id: 'f'.repeat(32), problem: 'it is missing' },
  ]);
});

function call(callId: string): Message {
  return { role: 'assistant', parts: [{ kind: 'call', callId, tool: 'list', args: '{}' }] };
}
function result(callId: string, text: string): Message {
  return {
    role: 'tool',
    parts: [{ kind: 'result', callId, tool: 'list', content: [{ kind: 'text', text }] }],
  };
}
