import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Summary } from '@bobbin/core';
import { chars4, EMPTY_SUMMARY, verify } from '@bobbin/core/internal';
import { thread, user } from '@bobbin/testing';
import { KnownTexts } from '../src/verify/known.ts';

/** A model's summary over what the messages say. */
function merged(truth: Partial<Summary>): Summary {
  const nodes = thread(user('Go on.')).path();
  const known = { ...EMPTY_SUMMARY, ...truth };
  const grounds = { nodes, kept: [], previous: null, truth: known, maxTokens: 9_000 };
  return verify({ ...EMPTY_SUMMARY, prose: 'Work goes on.' }, { ...grounds, counter: chars4() })
    .summary;
}

test('C6 a summary carries the newest 60 decisions', () => {
  const decisions = Array.from({ length: 61 }, (_, i) => ({ text: `Choice ${i}`, turn: i }));
  assert.deepEqual(merged({ decisions }).decisions, decisions.slice(1));
});

test('C6 a summary carries 80 items; finished ones leave first, the oldest of them before the others', () => {
  const items = Array.from({ length: 82 }, (_, i) => ({
    text: `Item ${i}`,
    state: i % 2 === 0 ? ('done' as const) : ('open' as const),
    priority: 'medium' as const,
  }));
  assert.deepEqual(
    merged({ items }).items,
    items.filter((_, i) => i !== 0 && i !== 2),
  );
});

test('C6 texts say the same if they share three of five words', () => {
  const known = new KnownTexts([{ text: 'scanner reads tokens quickly upstream' }]);
  assert.equal(known.has('scanner reads tokens slowly downstream'), true);
  assert.equal(known.has('scanner reads bytes slowly downstream'), false);
});
