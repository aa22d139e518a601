import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { assertSettled } from './golden-screen.ts';
import { open, place, STEPPER } from './place.ts';
import { TestTerminal } from './terminal.ts';

for (const columns of isSoak() ? [40, 80, 140] : [40])
  test(`B15 a resume at ${columns} columns shows the compaction, restores the model and what was typed, and can undo`, async (t) => {
    const where = { ...place(t, STEPPER), columns, rows: 30 };
    const first = open(t, where, '--yes');
    await first.until('context');
    first.line('do 6 steps');
    await first.until(/All 6 steps are\s+done\./, 30_000);
    first.line('/compact keep the numbers');
    await first.until('┌ compaction 1', 30_000);
    first.line('and now?');
    await first.until('Heard: and now?');
    const card = /┌ compaction 1: ([\d.]+k) → [\d.]+k/.exec(first.all());
    await first.settled();
    first.type('\u0004');
    assert.equal(await first.ended(), 0);
    const [, command = ''] = /To go on: bobbin (--resume \S+)/.exec(first.all()) ?? [];
    const second = new TestTerminal([...command.split(' '), '--yes'], where);
    t.after(() => second.kill());
    await second.until('Heard: and now?');
    await assertSettled(`resumed-${columns}`, second);
    assert.equal(/┌ compaction 1: ([\d.]+k) →/.exec(second.all())?.[1], card?.[1]);
    second.type('\u000F');
    await second.settled();
    assert.match(second.all(), /SUMMARY of the\s+(?:│ )?steps so far/);
    second.type('\u001B[A');
    await second.until(/─\nand now\?\n─/);
    second.type('\u001B[A');
    await second.until(/─\n\/compact keep the numbers\n─/);
    second.type('\u0003');
    second.line('/undo compaction');
    await second.until(/The last compaction is\s+undone/);
  });

test('the session’s model is the one that answered last; --model wins', async (t) => {
  const where = place(t, STEPPER);
  const first = open(t, where, 'hello');
  await first.until('Heard: hello');
  first.kill();
  const other = new TestTerminal(['--continue', '--model', 'scripted/echo', 'again'], where);
  t.after(() => other.kill());
  await other.until('You said: again');
  other.kill();
  const kept = new TestTerminal(['--continue', 'once more'], where);
  t.after(() => kept.kill());
  await kept.until('You said: once more');
  assert.match(kept.screen(), /scripted\/echo$/m);
});
