import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { test } from 'node:test';
import { createBobbin, textMessage, type ArtifactId, type ThreadId } from '@bobbin/core';
import { folderArtifacts, jsonlStore, sqliteStore } from '@bobbin/stores';
import { bobbin, folder } from './run.ts';

async function fill(place: string): Promise<void> {
  const store = jsonlStore(place);
  for (const tenant of ['acme', 'other']) {
    const thread = await createBobbin({ store, tenant, window: 4_000 }).thread('session-1');
    await thread.append(
      textMessage('user', 'Wind it.'),
      textMessage('assistant', 'Winding. '.repeat(800)),
    );
    await thread.append(textMessage('user', 'Go on.'));
    await thread.prompt();
  }
  await store.close();
}

test('store copy takes all threads along and verifies the copy; store verify finds what was changed', async (t) => {
  const home = folder(t);
  await fill(join(home, 'sessions'));
  assert.deepEqual(await bobbin(['store', 'copy', 'sessions', 'all.db'], { cwd: home }), {
    status: 0,
    stdout: '2 threads, 6 messages, 2 plans copied; 0 problems\n',
    stderr: '',
  });
  const one = await bobbin(['store', 'copy', 'sessions', 'one.db', '--tenant', 'acme'], {
    cwd: home,
  });
  assert.equal(one.stdout, '1 thread, 3 messages, 1 plan copied; 0 problems\n');
  const copied = sqliteStore(join(home, 'one.db'));
  assert.deepEqual(await copied.tenants(), ['acme']);
  await copied.close();

  const verified = await bobbin(['store', 'verify', 'all.db'], { cwd: home });
  assert.deepEqual(verified, {
    status: 0,
    stdout: '2 threads, 6 messages, 2 plans verified; 0 problems\n',
    stderr: '',
  });
  tamper(join(home, 'all.db'));
  const tampered = await bobbin(['store', 'verify', 'all.db'], { cwd: home });
  assert.equal(tampered.status, 1);
  assert.match(tampered.stderr, /^bobbin: .*session-1/);
});

test('a store that is to be read must be there, and nothing is made of what is none', async (t) => {
  const home = folder(t);
  mkdirSync(join(home, 'photos', 'summer'), { recursive: true });
  for (const place of ['none.db', 'none', 'photos'])
    for (const action of [
      ['verify', place],
      ['copy', place, 'to.db'],
      ['sweep', place, '--artifacts', '.'],
    ])
      assert.deepEqual(
        await bobbin(['store', ...action], { cwd: home }),
        { status: 1, stdout: '', stderr: `bobbin: ${place}: there is no store\n` },
        action.join(' '),
      );
  assert.deepEqual(readdirSync(home), ['photos']);
  await fill(join(home, 'sessions'));
  assert.deepEqual(
    await bobbin(['store', 'verify', 'sessions', '--tenant', 'typo'], { cwd: home }),
    {
      status: 1,
      stdout: '',
      stderr: 'bobbin: sessions: tenant "typo" has no threads there\n',
    },
  );
});

test('an older store is read after it was brought up to date', async (t) => {
  const home = folder(t);
  const fixture = new URL('../../stores/test/fixtures/sqlite-v1.db', import.meta.url);
  copyFileSync(fixture, join(home, 'old.db'));
  const refused = await bobbin(['store', 'verify', 'old.db'], { cwd: home });
  assert.deepEqual([refused.status, refused.stdout], [1, '']);
  assert.match(refused.stderr, /^bobbin: old\.db has schema 1; .*bobbin store migrate/);
  assert.deepEqual(await bobbin(['store', 'migrate', 'old.db'], { cwd: home }), {
    status: 0,
    stdout: 'old.db is up to date\n',
    stderr: '',
  });
  assert.equal((await bobbin(['store', 'verify', 'old.db'], { cwd: home })).status, 0);
});

test('C22 artifacts are swept, rotated, verified and copied with the store that points to them', async (t) => {
  const home = folder(t);
  await fill(join(home, 'sessions'));
  const artifacts = folderArtifacts(join(home, 'artifacts'));
  const about = {
    thread: 'session-1' as ThreadId,
    mediaType: 'text/plain',
    sensitivity: 'internal',
  } as const;
  const ids: ArtifactId[] = [];
  for (const tenant of ['acme', 'other']) {
    await artifacts.put('expired', { ...about, tenant, createdAt: 0, ttlMs: 1 });
    ids.push(await artifacts.put('for ever', { ...about, tenant, createdAt: 0 }));
  }
  const keys = { current: 'k', keys: { k: randomBytes(32).toString('base64') } };
  writeFileSync(join(home, 'keys.json'), JSON.stringify(keys));
  const store = (...args: readonly string[]) => bobbin(['store', ...args], { cwd: home });
  assert.deepEqual(await store('sweep', 'sessions', '--artifacts', 'artifacts'), {
    status: 0,
    stdout:
      'acme: 1 artifact removed, 1 kept; 0 problems\nother: 1 artifact removed, 1 kept; 0 problems\n',
    stderr: '',
  });
  const withKeys = ['--artifacts', 'artifacts', '--keys', 'keys.json'];
  const rotated = await store('rotate', 'sessions', ...withKeys, '--tenant', 'acme');
  assert.deepEqual(rotated, {
    status: 0,
    stdout: 'acme: 1 artifact rotated; 0 problems\n',
    stderr: '',
  });
  const keyless = await store('verify', 'sessions', '--artifacts', 'artifacts');
  assert.equal(keyless.status, 1);
  assert.match(keyless.stderr, new RegExp(`^bobbin: acme/${ids[0]}: .* needs key k`));
  assert.equal((await store('verify', 'sessions', ...withKeys)).status, 0);
  const copied = await store('copy', 'sessions', 'all.db', ...withKeys, '--artifacts-to', 'there');
  assert.deepEqual(copied, {
    status: 0,
    stdout:
      '2 threads, 6 messages, 2 plans copied; 0 problems\nacme: 1 artifact copied; 0 problems\nother: 1 artifact copied; 0 problems\n',
    stderr: '',
  });
  writeFileSync(join(home, 'keys.json'), '{"current":"k","keys":{"k":"c2hvcnQ="}}');
  const short = await store('rotate', 'sessions', ...withKeys);
  assert.equal(short.stderr, 'bobbin: keys.json: key "k" has 5 bytes, not 32 in base64\n');
  assert.equal((await store('sweep', 'sessions')).status, 2);
});

/** Changes what one message says, behind the store's back. */
function tamper(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("UPDATE messages SET message = replace(message, 'Go on.', 'Stop it.')");
  database.close();
}
