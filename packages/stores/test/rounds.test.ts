import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Rounds } from '../src/postgres/rounds.ts';

/** Rounds that end when the test says so, with the double of each item. */
function heldRounds(mostUnderWay: number) {
  const sizes: number[] = [];
  const ends: (() => void)[] = [];
  const rounds = new Rounds<number, number>(async (items) => {
    sizes.push(items.length);
    await new Promise<void>((resolve) => ends.push(resolve));
    return items.map((item) => 2 * item);
  }, mostUnderWay);
  const askFor = (from: number, count: number): Promise<readonly number[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => rounds.ask(from + i)));
  return { sizes, ends, askFor };
}

test('free rounds share what is asked for in one turn, and each item gets its own answer', async () => {
  const { sizes, ends, askFor } = heldRounds(2);
  const asked = askFor(0, 5);
  await nextTurn();
  assert.deepEqual(sizes, [3, 2]);
  for (const end of ends) end();
  assert.deepEqual(await asked, [0, 2, 4, 6, 8]);
});

test('what is asked for while all rounds are under way goes together in the next one', async () => {
  const { sizes, ends, askFor } = heldRounds(1);
  const first = askFor(0, 1);
  await nextTurn();
  const second = [askFor(1, 2)];
  await nextTurn();
  second.push(askFor(3, 1));
  await nextTurn();
  assert.deepEqual(sizes, [1]);
  ends[0]?.();
  await first;
  await nextTurn();
  assert.deepEqual(sizes, [1, 3]);
  ends[1]?.();
  assert.deepEqual(await Promise.all(second), [[2, 4], [6]]);
});

test('a round has at most 32 items, and what follows one that ends starts by itself', async () => {
  const { sizes, ends, askFor } = heldRounds(2);
  const asked = askFor(0, 100);
  for (let ended = 0; ended < 4; ended++) {
    // One turn for the end of a round, one for the start of the next.
    await nextTurn();
    await nextTurn();
    ends[ended]?.();
  }
  assert.deepEqual(
    await asked,
    Array.from({ length: 100 }, (_, i) => 2 * i),
  );
  assert.deepEqual(sizes, [32, 32, 32, 4]);
});
