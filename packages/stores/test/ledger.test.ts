import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { MessageId, ThreadId } from '@bobbin/core';
import { sqliteLedger, type Ledger, type LedgerRequest } from '@bobbin/stores';
import { existingPostgresLedger, postgresLedger } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { newDatabase } from './shared-postgres.ts';
import { until } from './waits.ts';

const [A, B] = ['a', 'b'] as readonly string[] as readonly ThreadId[];
const USAGE = { inputTokens: 100, outputTokens: 7, cacheReadTokens: 20, cacheWriteTokens: 3 };

function request(id: string, changes: Partial<LedgerRequest> = {}): LedgerRequest {
  return {
    id,
    tenant: 't',
    thread: A as ThreadId,
    head: `head-${id}` as MessageId,
    at: Number(id) * 1_000,
    model: 'gpt-5',
    protocol: 'openai-chat',
    action: 'unchanged',
    tokensBefore: 500,
    tokensAfter: 130,
    ...changes,
  };
}

/** What every ledger does, two handles being two processes. */
function ledgerSuite(name: string, open: () => Promise<Ledger>): void {
  describe(name, () => {
    let [one, other]: (Ledger | undefined)[] = [];
    const both = (): [Ledger, Ledger] => [one as Ledger, other as Ledger];
    before(async () => {
      [one, other] = [await open(), await open()];
    });
    after(async () => {
      await one?.close();
      await other?.close();
    });

    test('every process has the same secret', async () => {
      const [first, second] = both();
      const secret = await first.secret();
      assert.equal(secret.length, 32);
      assert.deepEqual(await second.secret(), secret);
    });

    test('a request is there before its answer, once, and with it after', async () => {
      const [first, second] = both();
      await first.begin(request('1'));
      await first.begin(request('1', { action: 'another' }));
      assert.deepEqual(await second.entries('t', A as ThreadId), [request('1')]);
      const answer = {
        status: 200,
        usage: USAGE,
        paidTokens: 105.5,
        fullTokens: 400,
        answer: '{}',
      };
      await first.finish('t', '1', answer);
      assert.deepEqual(await second.entries('t', A as ThreadId), [{ ...request('1'), ...answer }]);
      await first.finish('t', '1', { ...answer, action: 'retried', tokensAfter: 90 });
      const [entry] = await second.entries('t', A as ThreadId);
      assert.deepEqual([entry?.action, entry?.tokensAfter], ['retried', 90]);
    });

    test('an answer that comes at once is written with its request, whatever is said again', async () => {
      const [first, second] = both();
      const answer = { status: 200, usage: USAGE, answer: '{}' };
      const retried = { ...answer, action: 'retried', tokensAfter: 90 };
      const [p, q] = [request('1', { tenant: 'p' }), request('2', { tenant: 'p' })];
      await Promise.all([first.begin(p), first.finish('p', '1', answer), first.begin(p)]);
      await Promise.all([first.begin(q), first.begin(q), first.finish('p', '2', retried)]);
      await Promise.all([first.begin(q), first.finish('p', '2', retried)]);
      assert.deepEqual(await second.entries('p', A as ThreadId), [
        { ...p, ...answer },
        { ...q, ...retried },
      ]);
      await first.delete({ tenant: 'p' });
    });

    test('the place of a list is that of the last of its ids that ended a request', async () => {
      const [first, second] = both();
      await first.begin(request('2', { thread: B as ThreadId, name: 'b' }));
      await first.begin(request('3', { thread: 'b-side' as ThreadId, name: 'b' }));
      const ids = [
        'other',
        'head-1',
        'head-2',
        'head-3',
        'new',
      ] as readonly string[] as readonly MessageId[];
      const locate = (named?: string): Promise<unknown> => second.locate('t', ids, named);
      const side = { thread: 'b-side', name: 'b', head: 'head-3', sentAt: 3_000 };
      assert.deepEqual(await locate(), side);
      assert.deepEqual(await locate('b'), side);
      assert.deepEqual(await locate('b-side'), side, 'a client may send back the name of a thread');
      const place = { thread: 'a', head: 'head-1', sentAt: 1_000, usage: USAGE };
      assert.deepEqual(await locate('a'), place);
      assert.equal(await locate('c'), undefined);
      for (const some of [ids, ['head-3'] as readonly string[] as readonly MessageId[]])
        assert.equal(await second.locate('u', some), undefined);
    });

    test('a later request that is written comes before an earlier one that waits', async () => {
      const [first] = both();
      await first.begin(request('8', { tenant: 'w' }));
      const waiting = first.begin(request('7', { tenant: 'w' }));
      const ids = ['head-7', 'head-8'] as readonly string[] as readonly MessageId[];
      const place = { thread: 'a', head: 'head-8', sentAt: 8_000 };
      assert.deepEqual(await first.locate('w', ids), place);
      assert.deepEqual(await first.locate('w', ids.toReversed()), {
        ...place,
        head: 'head-7',
        sentAt: 7_000,
      });
      await waiting;
      await first.delete({ tenant: 'w' });
    });

    test('a name is not the beginning of another', async () => {
      const [first, second] = both();
      const [own, others] = ['task', 'task-1'] as readonly string[] as readonly ThreadId[];
      const head = 'same' as MessageId;
      await first.begin(
        request('1', { tenant: 'n', thread: others as ThreadId, name: 'task-1', head }),
      );
      assert.equal(await second.locate('n', [head], 'task'), undefined);
      await first.begin(request('2', { tenant: 'n', thread: own as ThreadId, name: 'task', head }));
      const place = { thread: 'task', name: 'task', head: 'same', sentAt: 2_000 };
      assert.deepEqual(await second.locate('n', [head], 'task'), place);
      assert.deepEqual(await second.locate('n', [head], 'task-1'), {
        ...place,
        thread: 'task-1',
        name: 'task-1',
        sentAt: 1_000,
      });
      await first.delete({ tenant: 'n' });
    });

    test('hidden rounds are found by the lists that they follow, the newest first', async () => {
      const [first, second] = both();
      await first.addRounds('r', A as ThreadId, 1, { key: 'k1', rounds: '[1]' });
      await first.addRounds('r', B as ThreadId, 2, { key: 'k1', rounds: '[2]' });
      await first.addRounds('r', A as ThreadId, 3, { key: 'k2', rounds: '[3]' });
      await first.addRounds('u', A as ThreadId, 4, { key: 'k1', rounds: '[4]' });
      const found = (): Promise<unknown> => second.rounds('r', ['k0', 'k1']);
      assert.deepEqual(
        JSON.parse(JSON.stringify(await found())),
        [2, 1].map((n) => ({ key: 'k1', rounds: `[${n}]` })),
      );
      await first.delete({ tenant: 'r', threads: [B as ThreadId] });
      assert.deepEqual(JSON.parse(JSON.stringify(await found())), [{ key: 'k1', rounds: '[1]' }]);
      assert.equal((await second.rounds('v', ['k1'])).length, 0);
    });

    test('sums, the request before, and what erasing takes', async () => {
      const [first, second] = both();
      await first.addSummary('t', A as ThreadId, 1_500, 42);
      await first.begin(request('9', { tenant: 'u' }));
      const before9 = await second.previous('t', B as ThreadId, 9_000);
      assert.deepEqual(before9, request('2', { thread: B as ThreadId, name: 'b' }));
      assert.equal(await second.previous('t', B as ThreadId, 2_000), undefined);
      await first.begin(request('4', { isToolRound: true }));
      const { thread: _, head: __, ...threadless } = request('5');
      await first.begin(threadless);
      await first.finish('t', '5', { status: 200 });
      const whole = await second.sum('t');
      assert.deepEqual(whole, {
        requests: 4,
        toolRounds: 1,
        compactions: 1,
        usage: USAGE,
        paidTokens: 105.5,
        fullTokens: 400,
        summaryTokens: 42,
        savedTokens: 252.5,
      });
      assert.equal((await second.sum()).requests, 5);
      assert.deepEqual(await second.entries('t', A as ThreadId, 3_000), [
        request('4', { isToolRound: true }),
      ]);
      assert.equal((await second.sum('t', B as ThreadId)).requests, 1);
      assert.equal((await second.sum('t', undefined, 2_500)).requests, 2);
      const noted = await second.threads('t');
      assert.deepEqual(
        noted.map((each) => ({ ...each })).toSorted((a, b) => a.at - b.at),
        [
          { thread: 'b', at: 2_000 },
          { thread: 'b-side', at: 3_000 },
          { thread: 'a', at: 4_000 },
        ],
      );
      await first.delete({ tenant: 't', threads: [A as ThreadId] });
      const left = await second.sum('t');
      assert.deepEqual([left.requests, left.summaryTokens], [3, 0]);
      await first.delete({ tenant: 't' });
      assert.equal((await second.sum()).requests, 1);
    });
  });
}

const folder = mkdtempSync(join(tmpdir(), 'bobbin-ledger-'));
after(() => rmSync(folder, { recursive: true, force: true }));

ledgerSuite('SQLite', async () => sqliteLedger(join(folder, 'ledger.db')));

describe('a server', () => {
  let url = '';
  before(async () => {
    url = await newDatabase();
  });
  ledgerSuite('PostgreSQL', () => postgresLedger(url));

  test('a ledger that lacks a table is found and completed; none is made where none is', async () => {
    const older = await newDatabase();
    assert.equal(await existingPostgresLedger(older), undefined);
    await (await postgresLedger(older)).close();
    const sql = postgres(older, { max: 1 });
    await sql`DROP TABLE bobbin_ledger.rounds`;
    await sql.end();
    const ledger = await existingPostgresLedger(older);
    await ledger?.begin(request('1'));
    await ledger?.delete({ tenant: 't' });
    assert.deepEqual(await ledger?.threads('t'), []);
    await ledger?.close();
  });
});

test('17 an erasure waits until no reader keeps what was erased in the log, or says that one does', async (t) => {
  const path = join(folder, 'read.db');
  const ledger = sqliteLedger(path);
  t.after(() => ledger.close());
  for (const [id, thread] of [
    ['1', A],
    ['2', B],
  ] as const) {
    await ledger.begin(request(id, { thread: thread as ThreadId }));
    await ledger.finish('t', id, { status: 200, answer: `zebrafinch ${id}` });
  }
  const holds = (text: string): readonly string[] =>
    readdirSync(folder).filter(
      (name) => name.startsWith('read.db') && readFileSync(join(folder, name)).includes(text),
    );
  const reader = new DatabaseSync(path, { readOnly: true });
  t.after(() => reader.close());
  const beginReading = (): void => {
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM requests').get();
  };
  beginReading();
  let isErased = false;
  const erasing = ledger
    .delete({ tenant: 't', threads: [A as ThreadId] })
    .finally(() => (isErased = true));
  await setTimeout(300);
  assert.deepEqual([isErased, holds('zebrafinch 1').length > 0], [false, true]);
  reader.exec('COMMIT');
  await erasing;
  assert.deepEqual(holds('zebrafinch 1'), []);

  beginReading();
  const now = performance.now.bind(performance);
  let passed = 0;
  t.mock.method(performance, 'now', () => now() + passed);
  const refused = assert.rejects(ledger.delete({ tenant: 't' }), {
    name: 'StoreError',
    message: `${path}: what was erased may still be in its log, because another program is reading: end its transaction, then erase again`,
  });
  const isDeleted = (): boolean => readRows(path) === 0;
  await until(isDeleted);
  passed = 31_000;
  await refused;
  assert.ok(holds('zebrafinch 2').length > 0);
  reader.exec('COMMIT');
  await ledger.delete({ tenant: 't' });
  assert.deepEqual(holds('zebrafinch 2'), []);
});

/** How many requests a file has for somebody who reads it now. */
function readRows(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare('SELECT count(*) AS rows FROM requests').get();
  database.close();
  return row?.['rows'];
}

/** A ledger whose file another program locks, and a clock that can be set forward. */
function lockedLedger(t: TestContext): {
  readonly ledger: Ledger;
  readonly unlock: () => void;
  readonly forward: (ms: number) => void;
} {
  const path = join(folder, `${t.name.slice(0, 12)}.db`);
  const ledger = sqliteLedger(path);
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const now = performance.now.bind(performance);
  let passed = 0;
  t.mock.method(performance, 'now', () => now() + passed);
  return { ledger, unlock: () => other.exec('ROLLBACK'), forward: (ms) => (passed += ms) };
}

/** Longer than changes are gathered, and than the writer pauses between two attempts. */
const A_MOMENT_MS = 150;

test('while another program has the lock, only what is to be written waits, and nothing is lost', async (t) => {
  const { ledger, unlock, forward } = lockedLedger(t);
  const hidden = { key: 'k', rounds: '[1]' };
  const writes = [
    ledger.begin(request('1')),
    ledger.addRounds('t', A as ThreadId, 1, hidden),
    ledger.addSummary('t', A as ThreadId, 1, 42),
  ];
  await setTimeout(A_MOMENT_MS);
  // Longer than a transaction waits.
  forward(31_000);
  await setTimeout(A_MOMENT_MS);
  const place = { thread: 'a', head: 'head-1', sentAt: 1_000 };
  assert.deepEqual(await ledger.locate('t', ['head-1', 'head-2'] as MessageId[]), place);
  assert.deepEqual(await ledger.rounds('t', ['j', 'k']), [hidden]);
  assert.deepEqual(await ledger.rounds('u', ['k']), []);
  const answer = { status: 200, usage: USAGE };
  writes.push(ledger.finish('t', '1', answer));
  unlock();
  await Promise.all(writes);
  assert.deepEqual(await ledger.entries('t', A as ThreadId), [{ ...request('1'), ...answer }]);
  assert.equal((await ledger.sum()).summaryTokens, 42);
  await ledger.close();
});

test('a ledger whose lock does not come free can be closed, and says what is not written', async (t) => {
  const { ledger, forward } = lockedLedger(t);
  const refused = assert.rejects(ledger.begin(request('1')), {
    name: 'StoreError',
    message: /\.db: database is locked$/,
  });
  const closing = ledger.close();
  await setTimeout(A_MOMENT_MS);
  forward(31_000);
  await closing;
  await refused;
});

test('so many writes wait for a lock, and those that are too many are refused', async (t) => {
  const { ledger, unlock } = lockedLedger(t);
  const writes = Array.from({ length: 10_001 }, (_, i) => ledger.begin(request(String(i + 1))));
  await assert.rejects(writes.pop() as Promise<void>, { message: /database is locked$/ });
  unlock();
  await Promise.all(writes);
  assert.equal((await ledger.sum()).requests, 10_000);
  await ledger.close();
});

test("a file that is not a ledger's is refused in one line", () => {
  const path = join(folder, 'no.db');
  writeFileSync(path, 'no database at all, but long enough to be looked at as one');
  assert.throws(() => sqliteLedger(path), /^StoreError: .*no\.db: file is not a database$/);
});

test('a row that is refused does not take those that are written with it', async (t) => {
  const ledger = sqliteLedger(join(folder, 'refused.db'));
  t.after(() => ledger.close());
  const written = await Promise.allSettled([
    ledger.begin(request('1')),
    ledger.begin(request('2', { at: 0.5 })),
    ledger.begin(request('3')),
  ]);
  assert.deepEqual(
    written.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await ledger.entries('t', A as ThreadId), [request('1'), request('3')]);
});

test('a request that waits to be written is located', async (t) => {
  const ledger = sqliteLedger(join(folder, 'waiting.db'));
  t.after(() => ledger.close());
  void ledger.begin(request('1'));
  const place = { thread: A, head: 'head-1', sentAt: 1_000 };
  const ids = ['head-1', 'head-2'] as MessageId[];
  assert.deepEqual(await ledger.locate('t', ids), place);
  assert.equal(await ledger.locate('u', ids), undefined);
  assert.equal(await ledger.locate('t', ids, 'b'), undefined);
  void ledger.begin(request('2'));
  assert.equal((await ledger.locate('t', ['head-2'] as MessageId[]))?.head, 'head-2');
});
