import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type ThreadId } from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import { seededRandom } from '@bobbin/testing';
import { postgresStore } from '@bobbin/stores/postgres';
import postgres from 'postgres';
import { nodesOf, talk } from '../src/conformance/sample.ts';
import { jumpPosition } from '../src/jump-position.ts';
import { newDatabase } from './shared-postgres.ts';

test('E12 any ancestor is met in a number of steps that grows with the logarithm of the way', () => {
  for (const from of [100, 10_000, 1_000_000]) {
    for (let target = 0; target < from; target += Math.ceil(from / 997)) {
      let steps = 0;
      for (let at: number = from; at > target; steps++)
        at = jumpPosition(at) >= target ? jumpPosition(at) : at - 1;
      assert.ok(steps <= 3 * Math.log2(from), `from ${from} to ${target} in ${steps}`);
    }
  }
});

test('E12 PostgreSQL jumps to where SQLite does', async () => {
  const url = await newDatabase();
  await (await postgresStore(url)).close();
  const sql = postgres(url, { max: 1 });
  const rows =
    await sql`SELECT bobbin.jump_position(i) AS position FROM generate_series(0, 3000) AS i ORDER BY i`;
  await sql.end();
  assert.deepEqual(
    rows.map((row) => row['position'] as number),
    Array.from({ length: 3_001 }, (_, i) => jumpPosition(i)),
  );
});

function said(text: string, after: readonly Node[]): readonly Node[] {
  return nodesOf([textMessage('user', text), textMessage('user', `${text} again`)], after);
}

test('E12 PostgreSQL keeps the jumps of every message and of the head, however messages come in', async () => {
  const url = await newDatabase();
  const store = await postgresStore(url);
  const sql = postgres(url, { max: 1 });
  const random = seededRandom(7);
  const key = { tenant: 'jumps', thread: 'grown' as ThreadId };
  // A thread that begins with two forks.
  let path = talk(4);
  const begun = [...path, ...said('at first', path.slice(0, 1))];
  await store.append(key, begun);
  await assertJumps(begun);
  for (let round = 0; round < 90; round++) {
    const fresh = nodesOf(
      Array.from({ length: random.pick([1, 1, 2, 5]) }, () => textMessage('user', `more ${round}`)),
      path,
    );
    // Once in a while twice, or after another message than the head.
    await store.append(key, fresh);
    if (random.chance(0.1)) await store.append(key, fresh);
    path = path.concat(fresh);
    await assertJumps(path);
    if (random.chance(0.15)) path = path.slice(0, random.int(1, path.length));
  }
  // Two forks at once: of an older message and of the head, then both of the head.
  for (const [one, other] of [
    [path.slice(0, 3), path],
    [path, path],
  ] as const) {
    await store.append(key, path.slice(-1));
    const forks = [...said('here', one), ...said('there', other)];
    await store.append(key, forks);
    await assertJumps(forks);
  }
  await sql.end();
  await store.close();

  async function assertJumps(nodes: readonly Node[]): Promise<void> {
    const rows = await sql`SELECT id, parent, position, jump FROM bobbin.messages`;
    const byId = new Map(rows.map((row) => [String(row['id']), row]));
    const ancestor = (id: string, position: number): string => {
      for (let at = id; ; at = String(byId.get(at)?.['parent']))
        if (byId.get(at)?.['position'] === position) return at;
    };
    for (const { id, index } of nodes) {
      const up = jumpPosition(index);
      const expected = up < index - 1 ? ancestor(id, up) : null;
      assert.equal(byId.get(id)?.['jump'], expected, `the jump of message ${index}`);
    }
    const [thread] = await sql`SELECT head, jumps FROM bobbin.threads`;
    const expected: string[] = [];
    let at = String(thread?.['head']);
    for (let place = Number(byId.get(at)?.['position']); place > 0;) {
      place = jumpPosition(place);
      at = ancestor(at, place);
      expected.push(at);
    }
    assert.deepEqual(thread?.['jumps'], expected, 'the jumps of the head');
  }
});
