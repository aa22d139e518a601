import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { test } from 'node:test';
import { createBobbin, textMessage } from '@bobbin/core';
import { jsonlStore, sqliteStore } from '@bobbin/stores';
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

test('a store that is to be read must be there', async (t) => {
  const home = folder(t);
  assert.deepEqual(await bobbin(['store', 'verify', 'none.db'], { cwd: home }), {
    status: 1,
    stdout: '',
    stderr: 'bobbin: none.db: there is no such store\n',
  });
});

/** Changes what one message says, behind the store's back. */
function tamper(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("UPDATE messages SET message = replace(message, 'Go on.', 'Stop it.')");
  database.close();
}
