import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownItem, Selection, type Group } from '../src/extract/quotes/select.ts';

const GROUP: Group = { headingChars: 0, ids: [], items: [], open: true };

/** Which of some items, each for a name of its own, are taken. */
function taken(
  needs: readonly number[],
  sizes: readonly number[],
  chars: number,
): readonly number[] {
  const selection = new Selection(Float64Array.from(needs), chars);
  const items = sizes.map((size, id) => knownItem(GROUP, size, [id]));
  for (const each of items) selection.offer(each);
  selection.spend();
  return items.flatMap((each, id) => (each.taken ? [id] : []));
}

test('a line that takes exactly what is left is quoted, a longer one is not', () => {
  assert.deepEqual(taken([1], [100], 100), [0]);
  assert.deepEqual(taken([1], [101], 100), []);
});

test('the most need for each character comes first, and a line that is too long ends nothing', () => {
  assert.deepEqual(taken([1, 1, 4], [50, 60, 200], 260), [0, 2]);
  assert.deepEqual(taken([1, 8], [50, 300], 200), [0]);
});

test('a name that is shown already is worth nothing again', () => {
  const selection = new Selection(Float64Array.from([1, 1]), 1_000);
  selection.show(0);
  const items = [knownItem(GROUP, 50, [0]), knownItem(GROUP, 50, [1])];
  for (const each of items) selection.offer(each);
  selection.spend();
  assert.deepEqual(
    items.map((each) => each.taken),
    [false, true],
  );
});
