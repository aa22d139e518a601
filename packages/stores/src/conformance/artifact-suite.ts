import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { ArtifactStore, ThreadId } from '@bobbin/core';
import type { ArtifactId, ArtifactMetadata } from '@bobbin/core/internal';

/** How the suite gets at an artifact store. */
export interface ArtifactsUnderTest {
  readonly artifacts: ArtifactStore;
  close(): Promise<void>;
}

const thread = 't1' as ThreadId;
const NOWHERE = '0123456789abcdef0123456789abcdef' as ArtifactId;

function about(more: Partial<ArtifactMetadata> = {}): ArtifactMetadata {
  return {
    thread,
    tenant: 'acme',
    createdAt: 5,
    mediaType: 'text/plain',
    sensitivity: 'internal',
    ...more,
  };
}

/** What every artifact store must do (C22). */
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
  });
}

function contentTests(artifacts: () => ArtifactStore): void {
  test('C22 content comes back, and its metadata without it', async () => {
    const text = 'line 1\nline 2 \u{1f9f5} \u0000';
    const id = await artifacts().put(text, about({ ttlMs: 10 }));
    assert.equal(await artifacts().get(id, { tenant: 'acme' }), text);
    const { keyId: _, ...metadata } = (await artifacts().metadata(id, { tenant: 'acme' })) ?? {};
    assert.deepEqual(metadata, about({ ttlMs: 10 }));
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
  const absent = async (
    id: ArtifactId,
    requester: Parameters<ArtifactStore['get']>[1],
  ): Promise<void> => {
    assert.deepEqual(
      [
        await artifacts().metadata(id, requester),
        await artifacts().get(id, requester),
        await artifacts().bytes(id, requester),
      ],
      [undefined, undefined, undefined],
    );
  };

  test('C22 a sensitivity that is no level, or none at all, is refused and nothing is kept', async () => {
    for (const sensitivity of ['secret', 'Public', '', 2, null, undefined]) {
      const bad = about({ sensitivity: sensitivity as ArtifactMetadata['sensitivity'] });
      const told = JSON.stringify(sensitivity) ?? 'missing';
      await assert.rejects(artifacts().put('unlabelled', bad), {
        name: 'RangeError',
        message: `the sensitivity of an artifact is public, internal, confidential or restricted, not ${told}`,
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
    const id = await artifacts().put('tightened', about({ createdAt: 9, ttlMs: 5 }));
    const newer = about({ createdAt: 10, ttlMs: 500, sensitivity: 'restricted' });
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
