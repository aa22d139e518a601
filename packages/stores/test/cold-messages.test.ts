import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { MessageId, Store, ThreadId } from '@bobbin/core';
import { queryWords, type ThreadKey } from '@bobbin/core/internal';
import {
  copyStore,
  encryptedBlobs,
  erase,
  s3Blobs,
  sqliteStore,
  StoreError,
  verifyStore,
  type Blobs,
  type TieredStore,
} from '@bobbin/stores';
import { postgresStore } from '@bobbin/stores/postgres';
import { storeSuite, type StoreUnderTest } from '@bobbin/stores/conformance';
import { isSoak } from '@bobbin/testing/volume';
import { everything } from '../src/conformance/everything.ts';
import { dropPlan, freshKey, talk, warning } from '../src/conformance/sample.ts';
import { newDatabase } from './shared-postgres.ts';
import { startS3 } from './s3-server.ts';

type S3 = Awaited<ReturnType<typeof startS3>>;

const folder = mkdtempSync(join(tmpdir(), 'bobbin-cold-'));
let s3: S3;
let database = '';
before(async () => {
  s3 = await startS3();
  database = await newDatabase();
});
after(async () => {
  await s3.stop();
  rmSync(folder, { recursive: true });
});

/** A store that moves all it can after each commit: the suite reads hardly anything else than cold messages. */
function eager(store: TieredStore, moved: { count: number }): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'commit') return value.bind(target) as unknown;
      return async (...args: Parameters<Store['commit']>) => {
        const won = await target.commit(...args);
        moved.count += await target.moveCold(args[0]);
        return won;
      };
    },
  });
}

for (const kind of ['sqlite', 'postgres'] as const) {
  const open = (place: string, cold?: Blobs): Promise<TieredStore> => {
    const tier = cold === undefined ? {} : { cold };
    return kind === 'sqlite'
      ? Promise.resolve(sqliteStore(join(folder, `${place}.db`), { sync: 'normal', ...tier }))
      : postgresStore(database, tier);
  };

  const openSuite = async (): Promise<StoreUnderTest> => {
    const moved = { count: 0 };
    const store = await open('suite', s3Blobs(s3.options));
    return {
      store: eager(store, moved),
      reopen: async () => eager(await open('suite', s3Blobs(s3.options)), moved),
      async close() {
        await store.close();
        assert.ok(moved.count > 500, `${moved.count} messages were cold`);
      },
    };
  };
  if (isSoak()) storeSuite(`${kind} with cold messages in S3`, openSuite, { randomRuns: 10 });

  test(`${kind}: cold messages are read like any other, leave their rows, and go with their thread`, async () => {
    const blobs = s3Blobs(s3.options);
    const store = await open('tier', blobs);
    const path = talk(8, 'zebrafinch');
    const heads = path.map(({ id }) => id);
    const [gone, kept] = [freshKey('gone', 'acme'), freshKey('kept', 'acme')];
    for (const key of [gone, kept]) {
      await store.append(key, path);
      await store.commit(key, dropPlan(key, path, 10, path.slice(0, 1)), 0, [warning('w')]);
    }
    const whole = await everything(store, gone, heads);
    assert.equal(await store.moveCold(gone), 9, 'what the plan dropped, and not what it carries');
    assert.equal(await store.moveCold(gone), 0);
    const movers = await Promise.all(Array.from({ length: 4 }, () => store.moveCold(kept)));
    assert.equal(
      movers.reduce((a, b) => a + b),
      9,
    );
    assert.equal(objectsWith('zebrafinch').length, 2);
    assert.deepEqual(await everything(store, gone, heads), whole);
    assert.deepEqual((await verifyStore(store, ['acme'])).problems, []);
    const plain = await open('tier');
    await assert.rejects(plain.path(gone, heads.at(-1) as MessageId), (error: unknown) => {
      assert.ok(error instanceof StoreError && error.problem === 'unavailable', String(error));
      assert.match(error.message, /was moved to the cold tier: open the store with `cold`/);
      return true;
    });
    // A window needs none of them.
    assert.equal((await plain.window({ ...gone }))?.version, 1);
    const copy = await open(`copy-${kind}`, blobs);
    if (kind === 'sqlite') assert.deepEqual((await copyStore(store, copy, ['acme'])).problems, []);
    await erase(store, undefined, { tenant: 'acme', threads: [gone.thread] });
    assert.equal(objectsWith('zebrafinch').length, 1);
    assert.equal((await store.search(kept, queryWords('zebrafinch'), 100)).length, 9);
    await erase(store, undefined, { tenant: 'acme' });
    assert.deepEqual(objectsWith('zebrafinch'), []);
    for (const each of [store, plain, copy]) await each.close();
  });

  // What follows differs little between the two.
  if (kind === 'postgres' && !isSoak()) continue;

  test(`17 ${kind}: with keys, cold messages are in the bucket encrypted alone, and only their keys read them`, async () => {
    const blobs = s3Blobs(s3.options);
    const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const rings = {
      old: { current: '2026', keys: { '2026': old } },
      both: { current: '2027', keys: { '2026': old, '2027': current } },
      new: { current: '2027', keys: { '2027': current } },
    };
    const path = talk(8, 'hoatzin');
    const heads = path.map(({ id }) => id);
    const tenant = `sealed-${kind}`;
    const [clear, first, second] = [
      freshKey('clear', tenant),
      freshKey('first', tenant),
      freshKey('second', tenant),
    ];
    const moved = async (key: ThreadKey, cold: Blobs): Promise<unknown> => {
      const store = await open('sealed', cold);
      await store.append(key, path);
      await store.commit(key, dropPlan(key, path, 10), 0, []);
      const whole = await everything(store, key, heads);
      assert.equal(await store.moveCold(key), 10);
      await store.close();
      return whole;
    };
    const wholes = [await moved(clear, blobs)];
    assert.equal(objectsWith('hoatzin').length, 1);
    wholes.push(await moved(first, encryptedBlobs(blobs, rings.old)));
    wholes.push(await moved(second, encryptedBlobs(blobs, rings.both)));
    assert.equal(objectsWith('hoatzin').length, 1, 'the one from before the keys');

    const names: string[] = [];
    for await (const name of blobs.list(`.messages/${tenant}/`)) names.push(name);
    assert.equal(names.length, 3);
    const store = await open('sealed', encryptedBlobs(blobs, rings.both));
    for (const [i, key] of [clear, first, second].entries())
      assert.deepEqual(await everything(store, key, heads), wholes[i]);
    assert.deepEqual((await verifyStore(store, [tenant])).problems, []);
    const lacking = await open('sealed', encryptedBlobs(blobs, rings.new));
    const reading = lacking.path(first, heads.at(-1) as MessageId);
    await assert.rejects(reading, (error: unknown) => {
      assert.ok(error instanceof StoreError && error.problem === 'wrong-key', String(error));
      assert.match(error.message, /needs key 2026, which is not in the key ring$/);
      return true;
    });
    // An object in the place of another one is refused.
    const [one, other] = names.filter((name) => !name.includes('/clear-')) as [string, string];
    await blobs.write(one, (await blobs.read(other)) as Uint8Array);
    const swapped = one.includes('/first-') ? first : second;
    await assert.rejects(store.path(swapped, heads.at(-1) as MessageId), { name: 'StoreError' });
    await erase(store, undefined, { tenant });
    for await (const name of blobs.list(`.messages/${tenant}/`)) assert.fail(name);
    for (const each of [store, lacking]) await each.close();
  });

  test(`${kind}: a move that is broken off at any point loses nothing`, async () => {
    const blobs = s3Blobs(s3.options);
    const path = talk(8, 'quetzal');
    const heads = path.map(({ id }) => id);
    for (const failing of ['write', 'after the write', 'read'] as const) {
      let isBroken = true;
      const flaky: Blobs = {
        ...blobs,
        async write(name, bytes) {
          if (isBroken && failing === 'write') return broken();
          await blobs.write(name, bytes);
          if (isBroken && failing === 'after the write') return broken();
        },
        read: (name) => (isBroken && failing === 'read' ? broken() : blobs.read(name)),
      };
      const store = await open('broken', flaky);
      const key = freshKey(failing, 'broken');
      await store.append(key, path);
      await store.commit(key, dropPlan(key, path, 10), 0, []);
      isBroken = false;
      const whole = await everything(store, key, heads);
      isBroken = true;
      await assert.rejects(store.moveCold(key), /the bucket is gone/);
      isBroken = false;
      assert.deepEqual(await everything(store, key, heads), whole, failing);
      await store.moveCold(key);
      assert.deepEqual(await everything(store, key, heads), whole, failing);
      await erase(store, undefined, { tenant: 'broken' });
      assert.deepEqual(objectsWith('quetzal'), [], failing);
      await store.close();
    }
  });

  test(`${kind}: a thread that is erased while it is moved leaves no object, and one begun anew loses none`, async () => {
    const blobs = s3Blobs(s3.options);
    const path = talk(8, 'toucan');
    const heads = path.map(({ id }) => id);
    for (const again of [false, true]) {
      let meanwhile = nothing;
      const racing: Blobs = {
        ...blobs,
        async write(name, bytes) {
          await blobs.write(name, bytes);
          const now = meanwhile;
          meanwhile = nothing;
          await now();
        },
      };
      const store = await open('racing', racing);
      const key: ThreadKey = { tenant: 'racing', thread: 'one' as ThreadId };
      const fill = async (): Promise<void> => {
        await store.append(key, path);
        await store.commit(key, dropPlan(key, path, 10), 0, []);
      };
      await fill();
      const whole = await everything(store, key, heads);
      meanwhile = async () => {
        await erase(store, undefined, { tenant: 'racing', threads: [key.thread] });
        if (again) await fill();
      };
      assert.equal(await store.moveCold(key), again ? 10 : 0);
      if (again) assert.deepEqual(await everything(store, key, heads), whole);
      else assert.deepEqual(objectsWith('toucan'), []);
      await erase(store, undefined, { tenant: 'racing' });
      assert.deepEqual(objectsWith('toucan'), []);
      await store.close();
    }
  });
}

async function broken(): Promise<never> {
  throw new StoreError('unavailable', 'the bucket is gone');
}

async function nothing(): Promise<void> {}

/** The files of the S3 server that hold a text, which may be compressed. */
function objectsWith(text: string): readonly string[] {
  return readdirSync(s3.folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(s3.folder, name);
    if (!statSync(path).isFile()) return false;
    const bytes = readFileSync(path);
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isPacked ? gunzipSync(bytes) : bytes).includes(text);
  });
}
