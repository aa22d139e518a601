import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, place, STEPPER } from './place.ts';

test('B8 B16 kill -9 in the middle of a task, then --continue goes on', async (t) => {
  const where = place(t, STEPPER);
  const first = open(t, where, '--yes');
  await first.until('context');
  first.line('do 9 steps');
  await first.until('Step 3');
  first.kill();
  await first.ended();
  const second = open(t, where, '--yes', '--continue');
  await second.until('context');
  await second.until('Step 3');
  assert.match(second.all(), /> do 9 steps[^]*✓ bash echo step 1 of 9/);
  second.line('go on');
  await second.until('Heard: go on');
  await second.until(/All 9 steps are done\./, 60_000);
});

test('the program stays up in a terminal of eight columns', async (t) => {
  const where = { ...place(t, STEPPER), columns: 8, rows: 40 };
  const terminal = open(t, where);
  await terminal.until('conte');
  terminal.line('do 6 steps');
  await terminal.until('→ 3');
  terminal.type('\u001B');
  await terminal.until('Interrup');
  terminal.line('/settings');
  terminal.type('\u0004');
  await terminal.ended();
  const allowed = open(t, where, '--yes', 'do 6 steps');
  await allowed.until(/steps\s+are\s+done/, 30_000);
  allowed.line('/compact');
  await allowed.until('└───────', 30_000);
  allowed.line('/context');
  await allowed.until('tools');
  allowed.resize(3, 30);
  await allowed.settled();
  assert.equal(allowed.exitCode, undefined, allowed.screen());
});
