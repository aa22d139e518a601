import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { test } from 'node:test';
import { createBobbin, textMessage, type ThreadId } from '@bobbin/core';
import type { ArtifactId } from '@bobbin/core/internal';
import { folderArtifacts, jsonlStore, sqliteStore } from '@bobbin/stores';
import { shownPlace } from '../src/input/store-place.ts';
import { folder, here } from './run.ts';

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
  assert.deepEqual(await here(['store', 'copy', 'sessions', 'all.db'], { cwd: home }), {
    status: 0,
    stdout: '2 threads, 6 messages, 2 plans copied; 0 problems\n',
    stderr: '',
  });
  const one = await here(['store', 'copy', 'sessions', 'one.db', '--tenant', 'acme'], {
    cwd: home,
  });
  assert.equal(one.stdout, '1 thread, 3 messages, 1 plan copied; 0 problems\n');
  const copied = sqliteStore(join(home, 'one.db'));
  assert.deepEqual(await copied.tenants(), ['acme']);
  await copied.close();

  const verified = await here(['store', 'verify', 'all.db'], { cwd: home });
  assert.deepEqual(verified, {
    status: 0,
    stdout: '2 threads, 6 messages, 2 plans verified; 0 problems\n',
    stderr: '',
  });
  tamper(join(home, 'all.db'));
  const tampered = await here(['store', 'verify', 'all.db'], { cwd: home });
  assert.equal(tampered.status, 1);
  assert.match(tampered.stderr, /^bobbin: .*session-1/);
});

test('store list prints a line for each thread, with what its name does not say', async (t) => {
  const home = folder(t);
  await fill(join(home, 'sessions'));
  const { status, stdout } = await here(['store', 'list', 'sessions'], { cwd: home });
  const rows = stdout.split('\n').map((row) => row.split('\t'));
  assert.deepEqual(
    [status, rows.map((row) => row.toSpliced(4, 1))],
    [
      0,
      [
        ['acme', 'session-1', '3 messages', 'plan 1', 'Wind it.'],
        ['other', 'session-1', '3 messages', 'plan 1', 'Wind it.'],
        [''],
      ],
    ],
  );
  assert.ok(Math.abs(Date.parse(`${rows[0]?.[4]}Z`) - Date.now()) < 60_000);
  const one = await here(['store', 'list', 'sessions', '--tenant', 'acme'], { cwd: home });
  assert.equal(one.stdout.split('\n').length, 2);
});

test('a store that is to be read must be there, and nothing is made of what is none', async (t) => {
  const home = folder(t);
  for (const name of ['photos', 'photos.db'])
    mkdirSync(join(home, name, 'summer'), { recursive: true });
  const inFolder = ' in this folder: neither threads.db of a gateway nor session files';
  for (const place of ['none.db', 'none', 'photos', 'photos.db'])
    for (const action of [
      ['list', place],
      ['verify', place],
      ['copy', place, 'to.db'],
      ['sweep', place, '--artifacts', '.'],
    ])
      assert.deepEqual(
        await here(['store', ...action], { cwd: home }),
        {
          status: 1,
          stdout: '',
          stderr: `bobbin: ${place}: there is no store${place.startsWith('photos') ? inFolder : ''}\n`,
        },
        action.join(' '),
      );
  assert.deepEqual(readdirSync(home), ['photos', 'photos.db']);
  await fill(join(home, 'sessions'));
  assert.deepEqual(await here(['store', 'verify', 'sessions', '--tenant', 'typo'], { cwd: home }), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: sessions: tenant "typo" has no threads there\n',
  });
});

test('the folder of a gateway is taken as the store in it, whatever its name', async (t) => {
  const home = folder(t);
  await fill(join(home, 'sessions'));
  const store = (...args: readonly string[]) => here(['store', ...args], { cwd: home });
  for (const name of ['gateway', 'gateway.db']) {
    mkdirSync(join(home, name));
    assert.equal((await store('copy', 'sessions', `${name}/threads.db`)).status, 0);
    const listed = await store('list', name);
    assert.deepEqual([listed.status, listed.stdout.split('\n').length], [0, 3], listed.stderr);
    assert.match((await store('verify', name)).stdout, /^2 threads, .* verified; 0 problems\n$/);
    assert.equal((await store('migrate', name)).stdout, `${name} is up to date\n`);
    assert.equal((await store('copy', 'sessions', name)).status, 0);
    const left = readdirSync(join(home, name)).filter((file) => !file.startsWith('threads.db'));
    assert.deepEqual(left, []);
  }
});

test('an older store is read after it was brought up to date', async (t) => {
  const home = folder(t);
  const old = new DatabaseSync(join(home, 'old.db'));
  old.exec('PRAGMA application_id = 0x424f424e; CREATE TABLE before (x)');
  old.close();
  const refused = await here(['store', 'verify', 'old.db'], { cwd: home });
  assert.deepEqual([refused.status, refused.stdout], [1, '']);
  assert.match(refused.stderr, /^bobbin: old\.db has schema 0; .*bobbin store migrate/);
  assert.deepEqual(await here(['store', 'migrate', 'old.db'], { cwd: home }), {
    status: 0,
    stdout: 'old.db was brought up to date\n',
    stderr: '',
  });
  assert.equal(
    (await here(['store', 'migrate', 'old.db'], { cwd: home })).stdout,
    'old.db is up to date\n',
  );
  assert.equal((await here(['store', 'verify', 'old.db'], { cwd: home })).status, 0);
});

test('migrate says what it did where there was no store', async (t) => {
  const home = folder(t);
  const migrate = (place: string) => here(['store', 'migrate', place], { cwd: home });
  for (const stdout of ['new.db was made\n', 'new.db is up to date\n'])
    assert.deepEqual(await migrate('new.db'), { status: 0, stdout, stderr: '' });
  assert.deepEqual(await migrate('x.txt'), {
    status: 0,
    stdout: 'x.txt: there is no store; its folder will be made with its first thread\n',
    stderr: '',
  });
  assert.deepEqual(readdirSync(home), ['new.db']);
  writeFileSync(join(home, 'x.txt'), 'a note');
  assert.deepEqual(await migrate('x.txt'), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: x.txt: is a file, and neither .db nor .sqlite\n',
  });
});

test('no message shows the password of an address', async () => {
  const place = 'postgres://me:s3cret@127.0.0.1:1/db?password=s3cret';
  for (const args of [
    ['migrate', place],
    ['verify', place],
    ['copy', place, place],
    ['verify', place, place],
  ]) {
    const { status, stdout, stderr } = await here(['store', ...args]);
    assert.notEqual(status, 0);
    assert.doesNotMatch(stdout + stderr, /s3cret/);
  }
  assert.equal(shownPlace(place), 'postgres://127.0.0.1:1/db');
  assert.equal(shownPlace('postgresql://me:p%2Fw@a,b:1/db'), 'postgresql://a,b:1/db');
  assert.equal(shownPlace('postgres://me:a@b/c@host/db'), 'postgres://host/db');
  assert.equal(shownPlace('postgres://me:a@b/c?d#e@host/db'), 'postgres://…');
  assert.equal(shownPlace('me@home/x.db'), 'me@home/x.db');
});

test('C22 artifact reads what is encrypted with the keys of a file', async (t) => {
  const home = folder(t);
  const key = randomBytes(32);
  const keys = { current: 'k', keys: { k: key } };
  const id = await folderArtifacts(join(home, 'artifacts'), { keys }).put('hidden', {
    thread: 't' as ThreadId,
    tenant: 'default',
    createdAt: 0,
    mediaType: 'text/plain',
    sensitivity: 'internal',
  });
  writeFileSync(
    join(home, 'keys.json'),
    JSON.stringify({ current: 'k', keys: { k: key.toString('base64') } }),
  );
  const read = ['artifact', 'artifacts', id];
  assert.deepEqual(await here([...read, '--keys', 'keys.json'], { cwd: home }), {
    status: 0,
    stdout: 'hidden',
    stderr: '',
  });
  const keyless = await here(read, { cwd: home });
  assert.equal(keyless.status, 1);
  assert.match(keyless.stderr, /needs key k, which is not in the key ring\n$/);
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
  const store = (...args: readonly string[]) => here(['store', ...args], { cwd: home });
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

/** Changes what one message says, without the store. */
function tamper(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("UPDATE messages SET message = replace(message, 'Go on.', 'Stop it.')");
  database.close();
}
