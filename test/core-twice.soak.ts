import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failuresWithTwoCores } from './core-twice.ts';

test('core loaded twice in one process passes all its tests', () => {
  const { failed, passed } = failuresWithTwoCores('**/*.test.ts');
  assert.deepEqual(failed, []);
  assert.ok(passed > 700, `${passed}`);
});
