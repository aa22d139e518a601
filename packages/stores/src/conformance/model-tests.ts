import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore, textMessage, type Message, type Store } from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import { everything } from './everything.ts';
import { dropPlan, freshKey, nodesOf, seeded, warning } from './sample.ts';

/** Random use, compared with the memory store step by step. */
export function modelTests(store: () => Store, runs: number): void {
  const first = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
  for (let seed = first; seed < first + runs; seed++) {
    test(`any use gives what the memory store gives (SEED=${seed})`, async () => {
      const random = seeded(seed);
      const model = memoryStore();
      const key = freshKey('model');
      const heads: Node[][] = [];
      for (let step = 0; step < 30; step++) {
        const both = async <T>(use: (each: Store) => Promise<T>): Promise<void> =>
          assert.deepEqual(await use(store()), await use(model), `step ${step}`);
        const path = heads[random(heads.length)] ?? [];
        switch (random(6)) {
          case 0:
          case 1:
          case 2: {
            const kept = random(4) === 0 ? path.slice(0, random(path.length + 1)) : path;
            const grown = [...kept, ...nodesOf(randomMessages(random), kept)];
            heads.push(grown);
            const resent = random(kept.length + 1);
            await both((each) => each.append(key, grown.slice(resent)));
            break;
          }
          case 3:
          case 4: {
            const start = random(path.length + 1);
            const plan = dropPlan(
              key,
              path,
              start,
              path.slice(0, start).filter(() => random(4) === 0),
            );
            const version = (await model.window(key))?.version ?? 0;
            const expected = Math.max(0, version - Number(random(4) === 0));
            await both((each) => each.commit(key, plan, expected, [warning(`${step}`)]));
            break;
          }
          case 5: {
            await both((each) => each.record(key, [warning(`alone ${step}`)]));
            const vector = [random(10) + 1, random(10)];
            const vectors = path.slice(0, 3).map(({ id }) => ({ id, vector }));
            await both((each) => each.keepVectors(key, 'e', vectors));
          }
        }
        const ends = heads.map((nodes) => nodes.at(-1)?.id).filter((id) => id !== undefined);
        await both((each) => everything(each, key, ends.slice(-4)));
      }
    });
  }
}

function randomMessages(random: (below: number) => number): readonly Message[] {
  return Array.from({ length: 1 + random(4) }, () =>
    textMessage(
      random(2) === 0 ? 'user' : 'assistant',
      `${['spool', 'rare', 'needle', 'thread'][random(4)]} ${random(1000)}`,
    ),
  );
}
