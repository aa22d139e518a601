import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { createBobbin, textMessage, type MessageId, type ThreadId } from '@bobbin/core';
import { folderArtifacts, sqliteLedger, sqliteStore } from '@bobbin/stores';
import { bobbin, here } from './run.ts';

async function filled(t: TestContext): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'bobbin-delete-'));
  t.after(() => rmSync(home, { recursive: true }));
  const store = sqliteStore(join(home, 'a.db'));
  const artifacts = folderArtifacts(join(home, 'artifacts'));
  for (const thread of ['one', 'two', 'three']) {
    const handle = await createBobbin({ store, tenant: 'acme' }).thread(thread);
    await handle.append(textMessage('user', `the secret of ${thread}`));
    await artifacts.put(`the artifact of ${thread}`, {
      thread: thread as ThreadId,
      tenant: 'acme',
      createdAt: Date.now(),
      mediaType: 'text/plain',
      sensitivity: 'internal',
    });
  }
  await store.close();
  return home;
}

function holds(home: string, text: string): boolean {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map((name) => join(home, name))
    .some((path) => statSync(path).isFile() && readFileSync(path).includes(text));
}

test('threads, old threads and tenants are erased, with their artifacts', async (t) => {
  const home = await filled(t);
  const erase = (...args: readonly string[]) =>
    here(['delete', 'a.db', '--tenant', 'acme', '--artifacts', 'artifacts', ...args], {
      cwd: home,
    });
  assert.deepEqual(await erase('--thread', 'one'), {
    status: 0,
    stdout: 'acme: 1 thread erased\n',
    stderr: '',
  });
  assert.deepEqual(
    ['secret', 'artifact'].flatMap((what) =>
      ['one', 'two'].map((thread) => holds(home, `the ${what} of ${thread}`)),
    ),
    [false, true, false, true],
  );
  assert.equal((await erase('--older-than', '1')).stdout, 'acme: 0 threads erased\n');
  assert.equal((await erase('--older-than', '0')).stdout, 'acme: 2 threads erased\n');
  assert.equal(holds(home, 'the secret of'), false);
  assert.equal(holds(home, 'the artifact of'), false);
  assert.deepEqual(await erase('--all'), {
    status: 2,
    stdout: '',
    stderr: nothingOf('acme', 'a.db'),
  });
});

function nothingOf(tenant: string, place: string): string {
  return `bobbin: ${place}: tenant "${tenant}" has nothing there; bobbin store list ${place} prints the tenants\n`;
}

test('a tenant that has nothing is an error, and one that has only artifacts left is not', async (t) => {
  const home = await filled(t);
  const erase = (place: string, tenant: string, ...scope: readonly string[]) =>
    here(['delete', place, '--tenant', tenant, ...scope], { cwd: home });
  const gateway = await gatewayFolder(t);
  for (const place of ['a.db', gateway])
    for (const scope of [['--all'], ['--older-than', '0']])
      assert.deepEqual(await erase(place, 'nope', ...scope), {
        status: 2,
        stdout: '',
        stderr: nothingOf('nope', place),
      });
  const known = await erase(gateway, 'acme', '--older-than', '90');
  assert.deepEqual([known.status, known.stdout], [0, 'acme: 0 threads erased\n']);
  const mistyped = await erase('a.db', 'nope', '--all', '--artifacts', 'artifacts');
  assert.deepEqual([mistyped.status, mistyped.stderr], [2, nothingOf('nope', 'a.db')]);

  assert.equal((await erase('a.db', 'acme', '--all')).stdout, 'acme: 3 threads erased\n');
  const again = await erase('a.db', 'acme', '--all', '--artifacts', 'artifacts');
  assert.deepEqual([again.status, again.stdout], [0, 'acme: 0 threads erased\n']);
  assert.equal(holds(home, 'the artifact of'), false);
});

/** A gateway's folder: some threads in its store, and some in its ledger. */
async function gatewayFolder(
  t: TestContext,
  stored: readonly string[] = ['one', 'two'],
  noted: readonly string[] = stored,
): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'bobbin-delete-'));
  t.after(() => rmSync(home, { recursive: true }));
  const store = sqliteStore(join(home, 'threads.db'));
  const ledger = sqliteLedger(join(home, 'ledger.db'));
  for (const thread of stored) {
    const session = await createBobbin({ store, tenant: 'acme' }).thread(thread);
    await session.append(textMessage('user', `the secret of ${thread}`));
  }
  for (const thread of noted as readonly ThreadId[]) {
    const request = { id: thread, tenant: 'acme', thread, head: 'h' as MessageId, at: 1 };
    const counted = { model: 'm', protocol: 'p', action: 'a', tokensBefore: 1, tokensAfter: 1 };
    await ledger.begin({ ...request, ...counted });
    await ledger.finish('acme', thread, { status: 200, answer: `the answer to ${thread}` });
    await ledger.addRounds('acme', thread, 1, { key: 'k', rounds: `the rounds of ${thread}` });
  }
  await ledger.close();
  await store.close();
  return home;
}

test("a gateway's folder: what it noted of a thread's requests goes with the thread", async (t) => {
  const home = await gatewayFolder(t);
  const erased = await here(['delete', home, '--tenant', 'acme', '--thread', 'one']);
  assert.equal(erased.stdout, 'acme: 1 thread erased\n', erased.stderr);
  assert.deepEqual(
    ['the secret of', 'the answer to', 'the rounds of'].flatMap((what) =>
      ['one', 'two'].map((thread) => holds(home, `${what} ${thread}`)),
    ),
    [false, true, false, true, false, true],
  );
  await here(['delete', home, '--tenant', 'acme', '--all']);
  assert.equal(holds(home, 'the answer to'), false);
});

test('while the ledger of a gateway is locked nothing is erased, and all of it afterwards', async (t) => {
  const home = await gatewayFolder(t);
  const gateway = new DatabaseSync(join(home, 'ledger.db'));
  t.after(() => gateway.close());
  gateway.exec('BEGIN IMMEDIATE');
  const scopes = [['--thread', 'one'], ['--older-than', '0'], ['--all']];
  const refused = await Promise.all(
    scopes.map((scope) => bobbin(['delete', home, '--tenant', 'acme', ...scope])),
  );
  for (const { status, stderr } of refused) {
    assert.equal(status, 1);
    assert.match(stderr, /^bobbin: .*ledger\.db: database is locked\n$/);
  }
  gateway.exec('COMMIT');
  for (const thread of ['one', 'two']) assert.ok(holds(home, `the secret of ${thread}`), thread);
  const erased = await here(['delete', home, '--tenant', 'acme', '--older-than', '0']);
  assert.equal(erased.stdout, 'acme: 2 threads erased\n', erased.stderr);
  assert.deepEqual(
    ['the secret of', 'the answer to', 'the rounds of'].map((what) => holds(home, what)),
    [false, false, false],
  );
});

test('a thread that only the ledger of a gateway knows is erased too', async (t) => {
  for (const [scope, erased, left] of [
    [['--thread', 'gone'], '1 thread', ['here']],
    [['--older-than', '1'], '1 thread', ['here']],
    [['--older-than', '0'], '2 threads', []],
    [['--all'], '2 threads', []],
  ] as const) {
    const home = await gatewayFolder(t, ['here'], ['here', 'gone']);
    const { stdout, stderr } = await here(['delete', home, '--tenant', 'acme', ...scope]);
    assert.equal(stdout, `acme: ${erased} erased\n`, stderr);
    assert.deepEqual(
      ['here', 'gone'].filter((thread) => holds(home, `the answer to ${thread}`)),
      left,
    );
  }
});

test('a call that does not say exactly what to erase erases nothing', async (t) => {
  const home = await filled(t);
  for (const [args, expected] of [
    [['a.db', '--all'], /give the --tenant/],
    [['a.db', '--tenant', 'acme'], /give one of --thread, --older-than and --all/],
    [['a.db', '--tenant', 'acme', '--all', '--thread', 'one'], /give one of/],
    [['a.db', '--tenant', 'acme', '--older-than', 'x'], /number of days, not "x"/],
    [['a.db', '--tenant', 'acme', '--thread', 'one', '--thread', 'four'], /has no thread "four"/],
    [['b.db', '--tenant', 'acme', '--all'], /there is no store/],
    [['--tenant', 'acme', '--all'], /give one STORE/],
  ] as const) {
    const { status, stderr } = await here(['delete', ...args], { cwd: home });
    assert.ok(status === 2 || status === 1, `${status}`);
    assert.match(stderr, expected);
    assert.equal(stderr.trim().split('\n').length <= 2, true, stderr);
  }
  for (const thread of ['one', 'two', 'three'])
    assert.ok(holds(home, `the secret of ${thread}`), thread);
});
