import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createBobbin, textMessage, type Store, type ThreadId } from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import { decodeLine, jsonlStore, StoreError, type SessionLine } from '@bobbin/stores';
import { dropPlan, nodesOf, talk, warning } from '../src/conformance/sample.ts';

const root = mkdtempSync(join(tmpdir(), 'bobbin-session-'));
after(() => rmSync(root, { recursive: true }));

const key = { tenant: 'me', thread: 's1' as ThreadId };
let folders = 0;

async function session(): Promise<{ store: () => Store; file: string; path: readonly Node[] }> {
  const folder = join(root, String(folders++));
  const path = talk(4);
  const store = jsonlStore(folder);
  await store.append(key, path);
  await store.commit(key, dropPlan(key, path, 4), 0, [warning('made')]);
  await store.append(key, nodesOf([textMessage('user', 'after the compaction')], path));
  return { store: () => jsonlStore(folder), file: join(folder, 'me', 's1.jsonl'), path };
}

test('B8 the file is one line per message and compaction, readable without Bobbin', async () => {
  const { file, path } = await session();
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SessionLine);
  assert.deepEqual(
    lines.map(({ type }) => type),
    ['session', ...path.map(() => 'message'), 'compaction', 'message'],
  );
  const compaction = lines.find((line) => line.type === 'compaction');
  assert.deepEqual(
    { ...compaction, plan: 0, events: 0 },
    {
      type: 'compaction',
      version: 1,
      timestamp: 17,
      summary: null,
      firstKeptId: path[4]?.id,
      tokensBefore: 100,
      plan: 0,
      events: 0,
    },
  );
});

test('B8 a summary is in the line, and summary, kept and later rebuild what is shown', async () => {
  const folder = join(root, String(folders++));
  const bobbin = createBobbin({
    store: jsonlStore(folder),
    tenant: 'me',
    preset: 'pi',
    window: 200_000,
  });
  const thread = await bobbin.thread('s1');
  for (let i = 0; i < 16; i++)
    await thread.append(
      textMessage('user', `ask ${i} ${'x '.repeat(6_000)}`),
      textMessage('assistant', 'done'),
    );
  const { messages } = await thread.compact();
  const text = readFileSync(join(folder, 'me', 's1.jsonl'), 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => decodeLine(line) as SessionLine);
  const compaction = lines.findLast((line) => line.type === 'compaction');
  const firstKept = lines.findIndex(
    (line) => line.type === 'message' && line.id === compaction?.firstKeptId,
  );
  const kept = lines
    .slice(firstKept)
    .flatMap((line) => (line.type === 'message' ? [line.message] : []));
  assert.ok(compaction?.summary !== null && compaction?.summary !== undefined);
  assert.ok(JSON.stringify(messages).includes(JSON.stringify(compaction.summary).slice(1, 60)));
  assert.deepEqual(messages.slice(-kept.length), kept);
});

test('a last line that is torn at any byte is repaired, and the next append follows', async () => {
  const { store, file, path } = await session();
  const whole = readFileSync(file);
  const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1;
  for (let cut = lastLine; cut < whole.length - 1; cut++) {
    writeFileSync(file, whole.subarray(0, cut));
    const opened = store();
    assert.deepEqual((await opened.window(key))?.tail, path.slice(4), `cut at ${cut}`);
    const more = nodesOf([textMessage('user', 'after the crash')], path);
    await opened.append(key, more);
    assert.deepEqual((await store().window(key))?.tail, [...path.slice(4), ...more]);
  }
  writeFileSync(file, whole.subarray(0, whole.length - 1));
  const last = nodesOf([textMessage('user', 'after the compaction')], path);
  assert.deepEqual(
    (await store().window(key))?.tail,
    [...path.slice(4), ...last],
    'only the line end is missing',
  );
  await store().append(key, nodesOf([textMessage('user', 'more')], [...path, ...last]));
  assert.equal((await store().window(key))?.tail.length, 6);
});

test('any other bad line is an error with its place, and nothing is overwritten', async () => {
  const bad: readonly [number, string, RegExp][] = [
    [3, '{"type":"message","id":"x","par', /s1\.jsonl:3: this is no JSON object$/],
    [3, '{"type":"poem"}', /:3: there are no lines of type "poem"$/],
    [3, '{"type":"constructor"}', /:3: there are no lines of type "constructor"$/],
    [
      4,
      '{"type":"message","id":"x","parent":"nobody","message":{"role":"user","parts":[]}}',
      /:4: its parent nobody is not before/,
    ],
    [
      4,
      '{"type":"message","id":"x","parent":null,"message":{"role":"user"}}',
      /:4: message is not what/,
    ],
    [11, '{"type":"head","id":"nobody"}', /:11: there is no message nobody/],
    [
      1,
      '{"type":"session","format":1,"tenant":"you","thread":"s1"}',
      /:1: this is the session of thread s1 of tenant you$/,
    ],
    [1, '{"type":"head","id":"x"}', /:1: a session file begins with/],
    [
      2,
      '{"type":"session","format":1,"tenant":"me","thread":"s1"}',
      /:2: a session begins only once/,
    ],
  ];
  for (const [line, text, expected] of bad) {
    const { store, file, path } = await session();
    const lines = readFileSync(file, 'utf8').split('\n');
    lines[line - 1] = text;
    writeFileSync(file, lines.join('\n'));
    const before = readFileSync(file);
    const refuses = (error: unknown): boolean => {
      assert.ok(error instanceof StoreError && error.problem === 'damaged');
      assert.match(error.message, expected);
      return true;
    };
    await assert.rejects(store().window(key), refuses);
    await assert.rejects(store().append(key, talk(9)), refuses);
    await assert.rejects(store().commit(key, dropPlan(key, path, 6), 1, []), refuses);
    assert.deepEqual(readFileSync(file), before);
  }
});

test('a compaction whose version does not follow is an error', async () => {
  const { store, file } = await session();
  const compaction = readFileSync(file, 'utf8')
    .split('\n')
    .find((line) => line.includes('"compaction"'));
  appendFileSync(file, `${compaction}\n`);
  await assert.rejects(store().window(key), /:12: version 1 does not follow version 1$/);
});

test('a file from the future is refused', async () => {
  const { store, file } = await session();
  writeFileSync(file, readFileSync(file, 'utf8').replace('"format":1', '"format":2'));
  await assert.rejects(store().window(key), (error: unknown) => {
    assert.ok(error instanceof StoreError && error.problem === 'from-the-future');
    assert.match(
      error.message,
      /s1\.jsonl has format 2; this Bobbin knows formats up to 1: update it$/,
    );
    return true;
  });
});

test('names of files are safe, readable and never the same', async () => {
  const folder = join(root, String(folders++));
  const names = ['plain-name_1', 'A', 'a', '..', 'a/b', '', 'x'.repeat(500), 'x'.repeat(501), 'ä'];
  for (const thread of names as ThreadId[])
    await jsonlStore(folder).append({ tenant: '..', thread }, talk(1));
  assert.deepEqual(readdirSync(folder).toSorted(), ['%2e%2e', '.lock']);
  const files = readdirSync(join(folder, '%2e%2e'));
  assert.equal(new Set(files.map((file) => file.toLowerCase())).size, names.length);
  assert.ok(files.includes('plain-name_1.jsonl'));
});
