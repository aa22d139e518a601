import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ThreadId } from '@bobbin/core';
import type { ArtifactId, ArtifactMetadata } from '@bobbin/core/internal';
import {
  folderArtifacts,
  folderBlobs,
  keepArtifacts,
  s3Artifacts,
  s3Blobs,
  StoreError,
  type Blobs,
  type KeptArtifacts,
  type KeyRing,
} from '@bobbin/stores';
import { startPagedS3 } from './s3-server.ts';

const root = mkdtempSync(join(tmpdir(), 'bobbin-artifact-faults-'));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, String(folders++));
const me = { tenant: 'acme' };
const LATE = 1e12;

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

function ring(current: string, ...ids: readonly string[]): KeyRing {
  const keys = [current, ...ids].map((id) => [id, new Uint8Array(32).fill(id.length)] as const);
  return { current, keys: Object.fromEntries(keys) };
}

/** The one file of an artifact whose name begins so. */
function fileOf(folder: string, id: ArtifactId, start: string): string {
  const place = join(folder, 'acme', id);
  const [name, ...more] = readdirSync(place).filter((each) => each.startsWith(start));
  assert.ok(name !== undefined && more.length === 0, readdirSync(place).join(' '));
  return join(place, name);
}

function isProblem(problem: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.problem, problem);
    return true;
  };
}

test('C22 any id of a key is an id, however long it is', async () => {
  const long = `projects/My-Company/locations/europe-west1/keyRings/${'ring/'.repeat(30)}versions/3`;
  const blobs = folderBlobs(newFolder());
  const artifacts = keepArtifacts(blobs, { keys: ring(long) });
  const id = await artifacts.put('hello', about());
  assert.equal(await artifacts.get(id, me), 'hello');
  assert.equal((await artifacts.metadata(id, me))?.keyId, long);
  assert.deepEqual(await artifacts.verify('acme'), []);
  await assert.rejects(keepArtifacts(blobs).get(id, me), isProblem('wrong-key'));
  const next = keepArtifacts(blobs, { keys: ring('next', long) });
  assert.deepEqual(await next.rotate('acme'), { rotated: 1, problems: [] });
  assert.equal(await keepArtifacts(blobs, { keys: ring('next') }).get(id, me), 'hello');
});

test('C22 keys that could not encrypt are refused when the artifacts are made', () => {
  const key = new Uint8Array(32);
  const rings = [
    [{ current: 'b', keys: { a: key } }, 'the current key "b" is not among the keys'],
    [{ current: 'toString', keys: { a: key } }, 'the current key "toString" is not among the keys'],
    [{ current: 'a', keys: { a: key.subarray(16) } }, 'key "a" has 16 bytes, not 32'],
    [{ current: 'a', keys: { a: key, old: new Uint8Array(33) } }, 'key "old" has 33 bytes, not 32'],
    [{ current: 'a', keys: { a: 'x'.repeat(32) } }, 'key "a" is a string, not 32 bytes'],
    [{ current: 'a' }, 'the current key "a" is not among the keys'],
    ['x'.repeat(32), 'the current key is missing'],
  ] as const;
  const bucket = { endpoint: 'http://s3', bucket: 'b', accessKeyId: 'a', secretAccessKey: 's' };
  for (const [bad, message] of rings) {
    const keys = bad as unknown as KeyRing;
    for (const make of [
      () => folderArtifacts(newFolder(), { keys }),
      () => s3Artifacts(bucket, { keys }),
      () => keepArtifacts(folderBlobs(newFolder()), { keys }),
    ])
      assert.throws(make, { name: 'RangeError', message });
  }
});

test('C22 a claim of a sensitivity that is no level lets nobody read, and is reported', async () => {
  const folder = newFolder();
  const artifacts = folderArtifacts(folder);
  const id = await artifacts.put('hello', about());
  writeFileSync(
    fileOf(folder, id, 'claim.'),
    JSON.stringify({ ...about(), sensitivity: 'secret' }),
  );
  await assert.rejects(artifacts.get(id, me), isProblem('damaged'));
  const [problem, ...more] = await artifacts.verify('acme');
  assert.deepEqual([problem?.id, more], [id, []]);
  assert.match(
    problem?.problem ?? '',
    /claim\..*: the sensitivity of an artifact is .* not "secret"$/,
  );
  const copied = await artifacts.copyTo(folderArtifacts(newFolder()), 'acme');
  assert.deepEqual([copied.copied, copied.problems], [0, [problem]]);
});

test('C22 content that went bad is put right when it is put again', async () => {
  for (const keys of [undefined, ring('k1')]) {
    const folder = newFolder();
    const artifacts = keepArtifacts(folderBlobs(folder), keys === undefined ? {} : { keys });
    const id = await artifacts.put('precious', about());
    writeFileSync(fileOf(folder, id, 'content'), 'rotten');
    await artifacts.put('precious', about());
    assert.equal(await artifacts.get(id, me), 'precious');
    assert.deepEqual(await artifacts.verify('acme'), []);
  }
});

test('C22 of several copies the one that can be read is read', async () => {
  const folder = newFolder();
  const blobs = folderBlobs(folder);
  const id = await keepArtifacts(blobs, { keys: ring('k1') }).put('rotated', about());
  const file = fileOf(folder, id, 'content');
  const old = readFileSync(file);
  await keepArtifacts(blobs, { keys: ring('key2', 'k1') }).rotate('acme');
  writeFileSync(file, old);
  const newest = keepArtifacts(blobs, { keys: ring('key2') });
  assert.equal(await newest.get(id, me), 'rotated');
  assert.equal((await newest.metadata(id, me))?.keyId, 'key2');
  assert.equal(await keepArtifacts(blobs, { keys: ring('k1') }).get(id, me), 'rotated');
  for (const [damage, problem] of [
    ['', 'damaged'],
    ['short', 'damaged'],
    ['x'.repeat(100), 'wrong-key'],
  ] as const) {
    writeFileSync(file, damage);
    const both = keepArtifacts(blobs, { keys: ring('k1', 'key2') });
    assert.equal(await both.get(id, me), 'rotated');
    await assert.rejects(
      keepArtifacts(blobs, { keys: ring('k1') }).get(id, me),
      isProblem(problem),
    );
    assert.deepEqual(
      (await both.verify('acme')).map((each) => each.id),
      [id],
    );
  }
});

test('C22 readers see every artifact while the key is changed', async () => {
  const blobs = folderBlobs(newFolder());
  const old = keepArtifacts(blobs, { keys: ring('k1') });
  const ids: ArtifactId[] = [];
  for (let i = 0; i < 20; i++) ids.push(await old.put(`content ${i}`, about()));
  const both = keepArtifacts(blobs, { keys: ring('key2', 'k1') });
  const rotation = new AbortController();
  const reader = async (order: readonly ArtifactId[]): Promise<void> => {
    while (!rotation.signal.aborted)
      for (const id of order) assert.match(String(await both.get(id, me)), /^content \d+$/);
  };
  const readers = [reader(ids), reader(ids.toReversed())];
  assert.deepEqual(await both.rotate('acme'), { rotated: 20, problems: [] });
  rotation.abort();
  await Promise.all(readers);
});

test('C22 a thread has one claim, however often it puts', async () => {
  const folder = newFolder();
  const artifacts = keepArtifacts(folderBlobs(folder));
  let id = '' as ArtifactId;
  for (let i = 0; i < 20; i++) id = await artifacts.put('same', about({ createdAt: i % 7 }));
  assert.equal(readdirSync(join(folder, 'acme', id)).length, 2);
});

test('C22 one damaged artifact does not keep the others from sweep, rotation and verification', async () => {
  const folder = newFolder();
  const blobs = folderBlobs(folder);
  const artifacts = keepArtifacts(blobs, { keys: ring('k1') });
  const [badClaim, badContent, good] = (await Promise.all(
    ['1', '2', '3'].map((text) => artifacts.put(text, about({ ttlMs: 1 }))),
  )) as [ArtifactId, ArtifactId, ArtifactId];
  writeFileSync(fileOf(folder, badClaim, 'claim'), '');
  writeFileSync(fileOf(folder, badContent, 'content'), 'cut');
  const next = keepArtifacts(blobs, { keys: ring('key2', 'k1'), clock: { now: () => 0 } });
  const rotation = await next.rotate('acme');
  assert.deepEqual([rotation.rotated, rotation.problems.map(({ id }) => id)], [2, [badContent]]);
  assert.equal(await next.get(good, me), '3');
  assert.deepEqual(
    new Set((await next.verify('acme')).map(({ id }) => id)),
    new Set([badContent, badClaim]),
  );
  const swept = await next.sweep('acme', () => false, LATE);
  assert.deepEqual(
    [swept.kept, swept.removed, swept.problems.map(({ id }) => id)],
    [1, 2, [badClaim]],
  );
  assert.equal(await next.get(good, me), undefined);
});

/** Blobs that call back before each removal, and fail from a chosen one on: a sweeper that is killed there. */
function dying(
  blobs: Blobs,
  from: number,
  before: (name: string) => Promise<void>,
): { blobs: Blobs; removals: () => number } {
  let removals = 0;
  const remove = async (name: string): Promise<void> => {
    await before(name);
    if (removals++ >= from) throw new Error('killed');
    await blobs.remove(name);
  };
  const write = async (name: string, bytes: Uint8Array): Promise<void> => {
    if (removals > from) throw new Error('killed');
    await blobs.write(name, bytes);
  };
  return { blobs: { ...blobs, remove, write }, removals: () => removals };
}

async function putDuringSweep(from: number, at: number): Promise<number> {
  const blobs = folderBlobs(newFolder());
  const good = keepArtifacts(blobs);
  const id = await good.put('kept', about({ ttlMs: 1 }));
  let seen = 0;
  const evil = dying(blobs, from, async () => {
    if (seen++ === at)
      await good.put('kept', about({ createdAt: LATE, thread: 'new' as ThreadId }));
  });
  const sweeper = keepArtifacts(evil.blobs);
  await sweeper.sweep('acme', () => false, LATE).catch(() => undefined);
  if (seen > at) {
    const where = `put before removal ${at}, killed at ${from}`;
    assert.equal(await good.get(id, me), 'kept', where);
    await good.sweep('acme', () => false, LATE);
    assert.equal(await good.get(id, me), 'kept', `${where}, swept again`);
  }
  return seen;
}

test('C22 what was put while a sweeper works stays, wherever the sweeper dies', async () => {
  const steps = await putDuringSweep(Infinity, Infinity);
  assert.ok(steps >= 2, `${steps} removals`);
  for (let at = 0; at < steps; at++)
    for (let from = 0; from <= steps; from++) await putDuringSweep(from, at);
});

test('C22 what a dead sweeper left goes with a later sweep', async () => {
  const folder = newFolder();
  const blobs = folderBlobs(folder);
  const artifacts: KeptArtifacts = keepArtifacts(blobs);
  await artifacts.put('kept', about({ ttlMs: 1 }));
  for (let from = 0; from < 3; from++) {
    const evil = dying(blobs, from, async () => undefined);
    await keepArtifacts(evil.blobs)
      .sweep('acme', () => false, LATE)
      .catch(() => undefined);
  }
  await artifacts.sweep('acme', () => false, LATE + 1e8);
  assert.equal(existsSync(join(folder, 'acme')), false, 'and no empty folder stays');
});

test('a folder in which none can be made is reported, and not tried for ever', async (t) => {
  if (!existsSync('/proc/self')) {
    t.diagnostic('no /proc here');
    return;
  }
  await assert.rejects(folderArtifacts('/proc/bobbin').put('x', about()), (error) => {
    assert.ok(error instanceof StoreError);
    assert.equal(error.problem, 'unavailable');
    assert.match(error.message, /ENOENT: no such file or directory, mkdir '\/proc\/bobbin'$/);
    return true;
  });
});

test('files that a dead writer left unfinished are removed when they are old', async () => {
  const folder = newFolder();
  const unfinished = join(folder, '.unfinished');
  mkdirSync(unfinished, { recursive: true });
  for (const name of ['old', 'new']) writeFileSync(join(unfinished, name), 'half');
  utimesSync(join(unfinished, 'old'), 1, 1);
  await keepArtifacts(folderBlobs(folder)).put('whole', about());
  assert.deepEqual(readdirSync(unfinished), ['new']);
});

test('puts and removals of one artifact at once never fail for want of its folder', async () => {
  const blobs = folderBlobs(newFolder());
  await Promise.all(
    Array.from({ length: 200 }, (_, i) => {
      const name = `acme/x/${i % 3}`;
      return i % 2 === 0 ? blobs.write(name, Buffer.from('x')) : blobs.remove(name);
    }),
  );
});

test('C22 s3: a list of many pages is read to its end', async (t) => {
  const s3 = await startPagedS3(3);
  t.after(() => s3.stop());
  const artifacts = keepArtifacts(s3Blobs(s3.options));
  const ids: ArtifactId[] = [];
  for (let i = 0; i < 5; i++) ids.push(await artifacts.put(`${i}`, about({ ttlMs: 1 })));
  const live = ids[4] as ArtifactId;
  const before = s3.tokens.length;
  assert.deepEqual(await artifacts.verify('acme', ids), []);
  assert.deepEqual(s3.tokens.slice(before), ['1+3/&=', '1+6/&=', '1+9/&='], '10 names');
  assert.deepEqual(await artifacts.sweep('acme', (id) => id === live, LATE), {
    kept: 1,
    removed: 4,
    problems: [],
  });
});

test('s3: credentials that are lent for a time send their token', async (t) => {
  const asked: unknown[] = [];
  const server = createServer(({ headers }, response) => {
    asked.push(headers['x-amz-security-token']);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const blobs = s3Blobs({
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'b',
    accessKeyId: 'a',
    secretAccessKey: 's',
    sessionToken: 'lent',
  });
  assert.equal(await blobs.read('x'), undefined);
  assert.deepEqual(asked, ['lent']);
});
