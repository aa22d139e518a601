import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type Store } from '@bobbin/core';
import { queryWords, type ThreadKey } from '@bobbin/core/internal';
import { dropPlan, freshKey, nodesOf, seeded } from './sample.ts';

const COMMON =
  'the server request error handler module value config update returns build deploy cache token user session table'.split(
    ' ',
  );
const CASES = 40;
const AT_LEAST = 38;
const SYLLABLES = 'bra cor den fil gam hul jor kip lum nev'.split(' ');

/** What is found, and in which order. */
export function rankingTests(store: () => Store): void {
  const compacted = async (key: ThreadKey, texts: readonly string[]): Promise<void> => {
    const path = nodesOf(texts.map((text) => textMessage('user', text)));
    for (let i = 0; i < path.length; i += 100) await store().append(key, path.slice(i, i + 100));
    await store().commit(key, dropPlan(key, path, path.length), 0, []);
  };

  for (const [name, words, rounds] of [
    ['short', 12, 400],
    ['long', 400, 120],
  ] as const) {
    test(`C26 a rare word among common ones is in the top 5, in ${name} messages`, async () => {
      const random = seeded(11);
      const key = freshKey('ranking');
      const common = (count: number): string[] =>
        Array.from({ length: count }, () => COMMON[random(COMMON.length)] as string);
      const texts = Array.from({ length: rounds }, () => common(words + random(words)));
      const rare = Array.from(
        { length: CASES },
        (_, i) => `${SYLLABLES[i % 10]}${SYLLABLES[Math.floor(i / 10)]}ix`,
      );
      const places = rare.map((word, i) => {
        const place = Math.floor((i * rounds) / CASES);
        texts[place]?.splice(random(words), 1, word);
        return place;
      });
      await compacted(
        key,
        texts.map((each) => each.join(' ')),
      );
      let hits = 0;
      for (const [i, word] of rare.entries()) {
        const question = [...common(6), word].join(' ');
        const found = await store().search(key, queryWords(question), 5);
        hits += Number(found.some(({ node }) => node.index === places[i]));
      }
      assert.ok(hits >= AT_LEAST, `${hits} of ${CASES}`);
    });
  }

  test('C26 other ways to write a word find it', async () => {
    const key = freshKey('words');
    const texts = [
      'The tables were rotated by the scheduler.',
      'Café au lait is in the résumé.',
      'nai\u0308ve approach',
      'class ParserState extends HTTPServerBase',
      'raise the time-out of kv_rotation',
      'order ４２１ was paid',
      'see src/9.ts and MARKER_9',
      "it's O'Brien\\'s turn",
      'see src/8.ts and MARKER_8',
    ];
    await compacted(key, texts);
    const first = async (question: string): Promise<number | undefined> =>
      (await store().search(key, queryWords(question), 1))[0]?.node.index;
    for (const [question, index] of [
      ['rotating table', 0],
      ['schedulers', 0],
      ['cafe', 1],
      ['resume\u0301', 1],
      ['naïve', 2],
      ['naive', 2],
      ['parser', 3],
      ['parserstate', 3],
      ['server base', 3],
      ['timeout', 4],
      ['kvRotation', 4],
      ['421', 5],
      ['src/9.ts', 6],
      ['MARKER_9', 6],
      ["O'Brien", 7],
      ['src/8.ts', 8],
      ['MARKER_8', 8],
    ] as const)
      assert.equal(await first(question), index, question);
    for (const odd of ["'", "''", '\\', "it's", 'a & b', '', '!', ':*'])
      assert.ok(Array.isArray(await store().search(key, [odd, 'parser'], 5)), odd);
  });

  test("C26 a tenant's threads are searched together, and no other tenant's", async () => {
    const tenant = `all-${crypto.randomUUID()}`;
    const [one, two, other] = [
      freshKey('one', tenant),
      freshKey('two', tenant),
      freshKey('one', `other-${tenant}`),
    ];
    await compacted(one, ['the port is 8080', 'the deploy failed', 'a walrus on the ice']);
    await compacted(two, ['walrus and walrus', 'the port is open', 'the port is shut']);
    await compacted(other, ['the walrus of another tenant']);
    const found = await store().searchTenant(tenant, queryWords('walrus port 8080'), 10);
    const [best] = found;
    assert.deepEqual([best?.thread, best?.node.index], [one.thread, 0]);
    assert.deepEqual(
      found.map(({ thread, node }) => `${thread} ${node.index}`).toSorted(),
      [
        ...[0, 2].map((index) => `${one.thread} ${index}`),
        ...[0, 1, 2].map((index) => `${two.thread} ${index}`),
      ].toSorted(),
    );
    assert.deepEqual(await store().searchTenant(`no-${tenant}`, queryWords('walrus'), 10), []);
    assert.equal((await store().searchTenant(tenant, queryWords('walrus'), 1)).length, 1);
  });
}
