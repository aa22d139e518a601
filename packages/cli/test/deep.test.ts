import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { folder, here } from './run.ts';

/** Anthropic messages with a call whose arguments are nested, as text: `JSON.stringify` could not write it. */
function transcript(levels: number): string {
  const nested = `${'{"a":['.repeat(levels)}1${']}'.repeat(levels)}`;
  const turn = (i: number): string => `
    {"role":"user","content":"Write file ${i}."},
    {"role":"assistant","content":[{"type":"tool_use","id":"c${i}","name":"write","input":{"n":${i},"rows":${nested}}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c${i}","content":"${'Row. '.repeat(800)}"}]},
    {"role":"assistant","content":"File ${i} is written."}`;
  return `[${[0, 1, 2, 3, 4, 5].map(turn).join(',')},{"role":"user","content":"Go on."}]`;
}

for (const [levels, commands] of [
  [5_000, isSoak() ? ['inspect', 'compact', 'replay'] : ['compact']],
  [20_000, ['inspect']],
] as const)
  test(`18 ${commands.join(', ')}: arguments nested ${levels} deep are read`, async (t) => {
    const cwd = folder(t);
    writeFileSync(join(cwd, 'deep.json'), transcript(levels));
    const budget = ['--budget', String(levels * 2), '--counter', 'chars4'];
    for (const command of commands) {
      const args = [command, 'deep.json', ...(command === 'replay' ? [] : budget)];
      const { status, stdout, stderr } = await here(args, { cwd });
      assert.deepEqual(
        { status, hasOutput: stdout !== '' },
        { status: 0, hasOutput: true },
        stderr,
      );
    }
  });
