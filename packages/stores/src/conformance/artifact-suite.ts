import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { ArtifactStore, ThreadId } from '@bobbin/core';
import type { ArtifactId, ArtifactMetadata, Requester } from '@bobbin/core/internal';

/** How the suite gets at an artifact store. */
export interface ArtifactsUnderTest {
  readonly artifacts: ArtifactStore;
  close(): Promise<void>;
}

const FIRST = 't1' as ThreadId;
const NOWHERE = '0123456789abcdef0123456789abcdef' as ArtifactId;

function about(more: Partial<ArtifactMetadata> = {}): ArtifactMetadata {
  return {
    thread: FIRST,
    tenant: 'acme',
    createdAt: Date.now(),
    mediaType: 'text/plain',
    sensitivity: 'internal',
    ...more,
  };
}

/** What every artifact store must do. */
export function artifactSuite(name: string, open: () => Promise<ArtifactsUnderTest>): void {
  suite(`${name} artifacts`, () => {
    let under: ArtifactsUnderTest;
    before(async () => {
      under = await open();
    });
    after(() => under.close());
    const artifacts = (): ArtifactStore => under.artifacts;
    contentTests(artifacts);
    accessTests(artifacts);
    expiryTests(artifacts);
    erasureTests(artifacts);
  });
}

function contentTests(artifacts: () => ArtifactStore): void {
  test('C22 content comes back, and its metadata without it', async () => {
    const text = 'line 1\nline 2 \u{1f9f5} \u0000';
    const metadata = about({ ttlMs: 60_000 });
    const id = await artifacts().put(text, metadata);
    assert.equal(await artifacts().get(id, { tenant: 'acme' }), text);
    const { keyId: _, ...kept } = (await artifacts().metadata(id, { tenant: 'acme' })) ?? {};
    assert.deepEqual(kept, metadata);
  });

  test('C22 equal content has one id, another content another', async () => {
    const first = await artifacts().put('same', about());
    assert.equal(await artifacts().put('same', about({ thread: 't2' as ThreadId })), first);
    assert.equal(await artifacts().put(new TextEncoder().encode('same'), about()), first);
    assert.notEqual(await artifacts().put('other', about()), first);
    assert.match(first, /^[0-9a-f]{32}$/);
  });

  test('B13 images and files keep every byte', async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256);
    const id = await artifacts().put(bytes, about({ mediaType: 'image/png' }));
    assert.deepEqual(
      Uint8Array.from((await artifacts().bytes(id, { tenant: 'acme' })) ?? []),
      bytes,
    );
    assert.deepEqual(
      await artifacts()
        .bytes(await artifacts().put('', about()), { tenant: 'acme' })
        .then((b) => b?.length),
      0,
    );
  });

  test('C22 the same content at once, from many', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        artifacts().put('crowd', about({ thread: `t${i % 4}` as ThreadId })),
      ),
    );
    assert.equal(new Set(ids).size, 1);
    assert.equal(await artifacts().get(ids[0] as ArtifactId, { tenant: 'acme' }), 'crowd');
  });
}

function accessTests(artifacts: () => ArtifactStore): void {
  const absent = (id: ArtifactId, requester: Requester): Promise<void> =>
    assertAbsent(artifacts(), id, requester);

  test('C22 a sensitivity that is no level, or none at all, is refused and nothing is kept', async () => {
    for (const sensitivity of ['secret', 'Public', '', 2, null, undefined]) {
      const bad = about({ sensitivity: sensitivity as ArtifactMetadata['sensitivity'] });
      const given = JSON.stringify(sensitivity) ?? 'missing';
      await assert.rejects(artifacts().put('unlabelled', bad), {
        name: 'RangeError',
        message: `the sensitivity of an artifact is public, internal, confidential or restricted, not ${given}`,
      });
    }
    const id = await artifacts().put('unlabelled', about({ sensitivity: 'restricted' }));
    await absent(id, { tenant: 'acme', clearance: 'confidential' });
  });

  test('C22 no access looks like absence', async () => {
    const id = await artifacts().put('mine', about({ permissions: ['audit', 'admin'] }));
    await absent(NOWHERE, { tenant: 'acme' });
    await absent(id, { tenant: 'acme' });
    await absent(id, { tenant: 'acme', permissions: ['read'] });
    await absent(id, { tenant: 'zen', permissions: ['audit'] });
    await absent('../acme' as ArtifactId, { tenant: 'acme', permissions: ['audit'] });
    assert.equal(
      await artifacts().get(id, { tenant: 'acme', permissions: ['x', 'admin'] }),
      'mine',
    );
  });

  test('C22 what is too sensitive for the one who asks is absent', async () => {
    const id = await artifacts().put('salaries', about({ sensitivity: 'confidential' }));
    await absent(id, { tenant: 'acme', clearance: 'internal' });
    assert.equal(
      await artifacts().get(id, { tenant: 'acme', clearance: 'confidential' }),
      'salaries',
    );
    assert.equal(await artifacts().get(id, { tenant: 'acme' }), 'salaries');
  });

  test('C22 each thread has its own claim: a stricter one takes no access from another', async () => {
    const id = await artifacts().put('shared', about({ thread: 'open' as ThreadId }));
    await artifacts().put(
      'shared',
      about({ thread: 'closed' as ThreadId, permissions: ['admin'] }),
    );
    assert.equal(await artifacts().get(id, { tenant: 'acme' }), 'shared');
    await artifacts().put('alone', about({ tenant: 'zen' }));
    await absent(await artifacts().put('alone', about({ permissions: ['admin'] })), {
      tenant: 'acme',
    });
  });

  test('C22 a newer claim of a thread takes the place of its older one', async () => {
    const id = await artifacts().put('tightened', about({ ttlMs: 60_000 }));
    const newer = about({ ttlMs: 90_000, sensitivity: 'restricted' });
    await artifacts().put('tightened', newer);
    await absent(id, { tenant: 'acme', clearance: 'internal' });
    const { keyId: _, ...metadata } = (await artifacts().metadata(id, { tenant: 'acme' })) ?? {};
    assert.deepEqual(metadata, newer);
    const earlier = about({ createdAt: 3, permissions: ['admin'] });
    await artifacts().put('tightened', earlier);
    await absent(id, { tenant: 'acme' });
    await artifacts().put('tightened', about({ createdAt: 3 }));
    assert.equal(await artifacts().get(id, { tenant: 'acme' }), 'tightened', 'put last counts');
  });

  test('C22 any name of a tenant is a name', async () => {
    const tenants = ['', '..', '../acme', 'a/b', 'Acme', 'ACME', '%', 'x'.repeat(300), 'ä'];
    const id = await artifacts().put('tenants', about({ tenant: tenants[0] as string }));
    for (const tenant of tenants.slice(1)) await absent(id, { tenant });
    for (const tenant of tenants) await artifacts().put('tenants', about({ tenant }));
    for (const tenant of tenants) assert.equal(await artifacts().get(id, { tenant }), 'tenants');
    for (const tenant of ['\ud800', 'nul \0']) {
      await assert.rejects(artifacts().put('tenants', about({ tenant })), RangeError);
      await assert.rejects(artifacts().get(id, { tenant }), RangeError);
    }
  });
}

async function assertAbsent(
  artifacts: ArtifactStore,
  id: ArtifactId,
  requester: Requester,
): Promise<void> {
  assert.deepEqual(
    [
      await artifacts.metadata(id, requester),
      await artifacts.get(id, requester),
      await artifacts.bytes(id, requester),
    ],
    [undefined, undefined, undefined],
  );
}

function expiryTests(artifacts: () => ArtifactStore): void {
  test('C22 an artifact is absent from the moment on at which it expires', async () => {
    const acme = { tenant: 'acme' };
    const over = about({ createdAt: Date.now() - 1_000, ttlMs: 999 });
    const id = await artifacts().put('mortal', over);
    await assertAbsent(artifacts(), id, acme);
    await artifacts().put('mortal', about({ ttlMs: 60_000, thread: 't2' as ThreadId }));
    assert.equal(await artifacts().get(id, acme), 'mortal', 'the claim of another thread is good');
    const good = about({ createdAt: Date.now() - 1_000, ttlMs: 600_000 });
    assert.equal(await artifacts().get(await artifacts().put('good', good), acme), 'good');
  });
}

function erasureTests(artifacts: () => ArtifactStore): void {
  const [one, two] = ['one', 'two'] as ThreadId[] as [ThreadId, ThreadId];

  test('what a thread put is erased with it; what another one put as well stays for that one', async () => {
    const tenant = `erased-${crypto.randomUUID()}`;
    const put = (text: string, thread: ThreadId): Promise<ArtifactId> =>
      artifacts().put(text, about({ tenant, thread }));
    const [own, shared] = [await put('own', one), await put('shared', one)];
    await put('shared', two);
    const theirs = await put('theirs', two);
    assert.equal(await artifacts().delete({ tenant, threads: [one] }), 1);
    await assertAbsent(artifacts(), own, { tenant });
    assert.equal(await artifacts().get(shared, { tenant }), 'shared');
    assert.equal((await artifacts().metadata(shared, { tenant }))?.thread, two);
    assert.equal(await artifacts().get(theirs, { tenant }), 'theirs');
    assert.equal(await artifacts().delete({ tenant, threads: [one] }), 0);
    await put('own', one);
    assert.equal(await artifacts().get(own, { tenant }), 'own', 'it can be put again');
  });

  test('what a tenant has is erased, and nothing of another tenant', async () => {
    const [tenant, other] = [`a-${crypto.randomUUID()}`, `b-${crypto.randomUUID()}`];
    const ids: ArtifactId[] = [];
    for (const thread of [one, two])
      ids.push(await artifacts().put(`of ${thread}`, about({ tenant, thread })));
    const id = await artifacts().put('of one', about({ tenant: other, thread: one }));
    assert.equal(await artifacts().delete({ tenant }), 2);
    for (const each of ids) await assertAbsent(artifacts(), each, { tenant });
    assert.equal(await artifacts().get(id, { tenant: other }), 'of one');
  });
}
