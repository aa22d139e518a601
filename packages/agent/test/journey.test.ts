import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { assertScreen, assertSettled } from './golden-screen.ts';
import { open, place, SEEN_MS, type Place } from './place.ts';
import { bobbinFile, claudeFile, codexFile, opencodeFile, piFile } from './session-samples.ts';
import { HUNG_STEP, taskServer, type TaskServer } from './task-server.ts';
import { TestTerminal } from './terminal.ts';

const COLUMNS = [40, 80, 140] as const;

/** A folder whose model is on a server that does tasks. */
async function workplace(t: TestContext, columns: number): Promise<[Place, TaskServer]> {
  const server = await taskServer(t);
  const where = { ...place(t, ''), columns, rows: 30, model: 'own/worker@16000' };
  mkdirSync(join(where.home, 'config', 'bobbin'), { recursive: true });
  const settings = { providers: { own: { baseURL: server.url } } };
  writeFileSync(join(where.home, 'config', 'bobbin', 'settings.json'), JSON.stringify(settings));
  return [where, server];
}

for (const columns of isSoak() ? COLUMNS : [80])
  test(`Must show: a task of 30 steps with approvals at ${columns} columns, compaction, kill -9 and resume`, async (t) => {
    const [where, server] = await workplace(t, columns);
    const first = open(t, where);
    await first.until('context');
    first.line('do 30 steps');
    for (let step = 1; step <= 3; step++) {
      await first.until(
        new RegExp(`bash wants to run: seq -f "line\\s+%g\\s+of\\s+step\\s+${step}\\s`),
      );
      const screen = await first.settled(SEEN_MS);
      if (step === 1) assertScreen(`approval-${columns}`, screen);
      first.type('y');
    }
    await first.until(/step\s+4\s+of 30" 1 150\n[^]*2 yes, all: seq …/);
    await first.settled(SEEN_MS);
    first.type('2');
    await first.until(new RegExp(`Step ${HUNG_STEP - 1}\\.[^]*exit code 0[^]*Working… `), 60_000);
    assert.match(first.all(), /┌ compaction 1: /);
    first.kill();
    await first.ended();
    const second = new TestTerminal(['--continue', '--yes'], where);
    t.after(() => second.kill());
    await second.until('context');
    second.line('go on');
    await second.until('All 30 are done.', 90_000);
    await assertSettled(`task-done-${columns}`, second);
    assert.match(second.all(), /Step 30\./);
    assert.deepEqual(server.problems, []);
  });

const FORMATS = [
  ['bobbin', bobbinFile],
  ['claude-code', claudeFile],
  ['codex', codexFile],
  ['opencode', opencodeFile],
  ['pi', piFile],
] as const;

for (const [format, content] of isSoak() ? FORMATS : [])
  test(`Must show: a session of ${format} is imported and gets one more answer, at ${COLUMNS.join(', ')} columns`, async (t) => {
    const [where, server] = await workplace(t, COLUMNS[0]);
    writeFileSync(join(where.cwd, 'session.jsonl'), content);
    const args = ['import', 'session.jsonl', '--model', where.model];
    const terminal = new TestTerminal(args, where);
    t.after(() => terminal.kill());
    await terminal.until('I see the bug.');
    terminal.line('thank you');
    await terminal.until('One more answer.');
    const screens: string[] = [];
    for (const columns of COLUMNS) {
      terminal.resize(columns, 30);
      screens.push(`${columns} columns:\n${await terminal.settled(SEEN_MS)}`);
    }
    assertScreen(`imported-${format}`, screens.join('\n\n'));
    assert.deepEqual(server.problems, []);
  });
