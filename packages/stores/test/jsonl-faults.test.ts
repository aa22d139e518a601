import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { memoryStore, textMessage, type Store, type ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { copyStore, jsonlStore, StoreError, verifyStore } from '@bobbin/stores';
import { dropPlan, nodesOf, talk, warning } from '../src/conformance/sample.ts';

const root = mkdtempSync(join(tmpdir(), 'bobbin-jsonl-faults-'));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, String(folders++));
const keyOf = (thread: string): ThreadKey => ({ tenant: 'acme', thread: thread as ThreadId });

test('C1 an append that is refused leaves no file, and hides no tenant', async () => {
  const folder = newFolder();
  const store = jsonlStore(folder);
  await assert.rejects(store.append(keyOf('a'), talk(2).slice(2)), RangeError);
  assert.equal(existsSync(join(folder, 'acme')), false);
  await store.append(keyOf('b'), talk(2));
  await assert.rejects(store.append(keyOf('a'), talk(2).slice(2)), RangeError);
  assert.deepEqual(readdirSync(join(folder, 'acme')), ['b.jsonl']);
});

test('C1 empty files, which an earlier version left, hide no tenant and no thread', async () => {
  const folder = newFolder();
  for (const tenant of ['acme', 'x'.repeat(300)]) {
    const store = jsonlStore(folder);
    await store.append({ tenant, thread: 'b' as ThreadId }, talk(2));
    for (const name of readdirSync(folder).filter((each) => !each.startsWith('.')))
      writeFileSync(join(folder, name, 'a.jsonl'), '');
  }
  const store = jsonlStore(folder);
  assert.deepEqual(await store.tenants(), ['acme', 'x'.repeat(300)]);
  assert.deepEqual(await copyStore(store, memoryStore()), {
    threads: 2,
    messages: 8,
    plans: 0,
    problems: [],
  });
});

test('C1 a folder whose tenant is unknown is an error, not an absence', async () => {
  const folder = newFolder();
  await jsonlStore(folder).append({ tenant: 'x'.repeat(300), thread: 'b' as ThreadId }, talk(2));
  const tenant = readdirSync(folder).find((each) => !each.startsWith('.')) ?? '';
  const file = join(folder, tenant, 'b.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replace('{"type":"session"', '{"type":"?"'));
  await assert.rejects(jsonlStore(folder).tenants(), /no file in it says whose/);
});

test('a header of any length is read', async () => {
  const folder = newFolder();
  const thread = 'long '.repeat(10_000) as ThreadId;
  await jsonlStore(folder).append({ tenant: 'acme', thread }, talk(1));
  assert.deepEqual(
    (await jsonlStore(folder).threads('acme', 10)).map((entry) => entry.thread),
    [thread],
  );
});

test('one damaged file is listed and verified beside the others, and hides none of them', async () => {
  const folder = newFolder();
  const store = jsonlStore(folder);
  for (const name of ['a', 'bad', 'c', 'future', 'zeros']) await store.append(keyOf(name), talk(2));
  const file = (name: string): string => join(folder, 'acme', `${name}.jsonl`);
  const spoil = (name: string, from: string, to: string): void =>
    writeFileSync(file(name), readFileSync(file(name), 'utf8').replace(from, to));
  spoil('bad', '"role":"assistant"', '"role":assistant');
  spoil('future', '"format":1', '"format":9');
  writeFileSync(file('zeros'), Buffer.alloc(300));
  const opened = jsonlStore(folder);
  const nothing = { head: '', length: 0, version: 0 };
  const whole = { head: talk(2).at(-1)?.id, length: 4, version: 0 };
  const listed = (await opened.threads('acme', 10)).map(({ thread, head, length, version }) => {
    return { thread, head, length, version };
  });
  assert.deepEqual(listed, [
    { thread: 'a', ...whole },
    { thread: 'bad', ...nothing },
    { thread: 'c', ...whole },
    { thread: 'future', ...nothing },
    { thread: 'zeros', ...nothing },
  ]);
  const { problems, ...counts } = await verifyStore(opened);
  assert.deepEqual(counts, { threads: 5, messages: 8, plans: 0 });
  assert.deepEqual(
    problems.map(({ thread, problem }) => [thread, /\.jsonl.*/.exec(problem)?.[0]]),
    [
      ['bad', '.jsonl:3: this is no JSON object'],
      ['future', '.jsonl has format 9; this Bobbin knows formats up to 1: update it'],
      ['zeros', '.jsonl:1: this is no JSON object'],
    ],
  );
});

test('C1 a plan of a format from the future is refused', async () => {
  const folder = newFolder();
  const key = keyOf('plan');
  const store = jsonlStore(folder);
  await store.append(key, talk(2));
  await store.commit(key, dropPlan(key, talk(2), 2), 0, []);
  const file = join(folder, 'acme', 'plan.jsonl');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"plan":{"format":1', '"plan":{"format":2'));
  await assert.rejects(jsonlStore(folder).window(key), (error: unknown) => {
    assert.ok(error instanceof StoreError && error.problem === 'from-the-future');
    assert.match(error.message, /plan\.jsonl:6: plan 1 has format 2; this Bobbin knows/);
    return true;
  });
});

/** A reader has seen a line that its writer then took back, because the disk did not take it. */
async function readerOfRolledBack(): Promise<{ reader: Store; file: string; size: number }> {
  const folder = newFolder();
  const writer = jsonlStore(folder);
  await writer.append(keyOf('t'), talk(2));
  const file = join(folder, 'acme', 't.jsonl');
  const size = readFileSync(file).length;
  await writer.append(keyOf('t'), nodesOf([textMessage('user', 'taken back')], talk(2)));
  const reader = jsonlStore(folder);
  assert.equal((await reader.window(keyOf('t')))?.tail.length, 5);
  return { reader, file, size };
}

test('a line that was taken back is forgotten by its readers, also if another one replaces it', async () => {
  for (const said of ['a much longer text than that', 'taken hand', 'short']) {
    const { reader, file, size } = await readerOfRolledBack();
    truncateSync(file, size);
    const other = jsonlStore(join(file, '..', '..'));
    const more = nodesOf([textMessage('user', said)], talk(2));
    await other.append(keyOf('t'), more);
    assert.deepEqual((await reader.window(keyOf('t')))?.tail, [...talk(2), ...more], said);
    const next = nodesOf([textMessage('assistant', 'next')], [...talk(2), ...more]);
    await reader.append(keyOf('t'), next);
    assert.equal((await verifyStore(jsonlStore(join(file, '..', '..')))).problems.length, 0);
  }
});

test('a file that was replaced by another is read anew', async () => {
  const { reader, file } = await readerOfRolledBack();
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  writeFileSync(file, text.split('\n').slice(0, 3).join('\n'));
  assert.equal((await reader.window(keyOf('t')))?.tail.length, 2);
});

const FILES = 1_000;
const PAGES = 40;

test('a folder is listed with one look at each file', async () => {
  const folder = newFolder();
  const store = jsonlStore(folder, { sync: 'normal' });
  await store.append(keyOf('t0'), talk(1));
  const text = readFileSync(join(folder, 'acme', 't0.jsonl'), 'utf8');
  for (let i = 1; i < FILES; i++)
    writeFileSync(
      join(folder, 'acme', `t${i}.jsonl`),
      text.replace('"thread":"t0"', `"thread":"t${i}"`),
    );
  /** The processor time that it takes to list all of them, so many at a time. */
  const listing = async (most: number): Promise<number> => {
    const before = process.cpuUsage();
    let listed = 0;
    for (let page = await store.threads('acme', most); page.length > 0;) {
      listed += page.length;
      page = await store.threads('acme', most, page.at(-1)?.thread);
    }
    assert.equal(listed, FILES);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const atOnce = await listing(FILES);
  const inPages = await listing(FILES / PAGES);
  assert.ok(inPages < 15 * atOnce, `at once ${atOnce} ms, in pages ${inPages} ms`);
});

function isAbsent(error: unknown): boolean {
  return error instanceof StoreError && /there is no store/.test(error.message);
}

test('a store that must be there is not made, and a folder that is none is no store', async () => {
  const folder = newFolder();
  assert.throws(() => jsonlStore(folder, { existing: true }), isAbsent);
  mkdirSync(join(folder, 'certs'), { recursive: true });
  writeFileSync(join(folder, 'certs', 'x.pem'), '');
  assert.throws(() => jsonlStore(folder, { existing: true }), isAbsent);
  assert.deepEqual(readdirSync(folder), ['certs']);
  await jsonlStore(folder).append(keyOf('t'), talk(1));
  await jsonlStore(folder).record(keyOf('t'), [warning('x')]);
  rmSync(join(folder, '.lock'));
  assert.deepEqual(await jsonlStore(folder, { existing: true }).tenants(), ['acme']);
});
