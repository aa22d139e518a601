import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { assertSettled } from './golden-screen.ts';
import { localServer, OLLAMA } from './local-server.ts';
import { temporaryFolder, TestTerminal, type TerminalOptions } from './terminal.ts';

/** A home where nothing is set up but a server, whose address is in the settings. */
async function newHome(t: TestContext, columns: number): Promise<TerminalOptions> {
  const home = temporaryFolder(t);
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  mkdirSync(join(home, 'config', 'bobbin'), { recursive: true });
  const answer = {
    choices: [{ index: 0, delta: { content: 'Here I am.' }, finish_reason: 'stop' }],
  };
  const baseURL = `${await localServer(t, { ...OLLAMA, '/v1/chat/completions': answer })}/v1`;
  const settings = { providers: { ollama: { baseURL } } };
  writeFileSync(join(home, 'config', 'bobbin', 'settings.json'), JSON.stringify(settings));
  return { home, cwd, columns, rows: 30 };
}

function started(t: TestContext, where: TerminalOptions, ...args: readonly string[]): TestTerminal {
  const terminal = new TestTerminal(args, where);
  t.after(() => terminal.kill());
  return terminal;
}

for (const columns of isSoak() ? [40, 80, 140] : [140])
  test(`the first start at ${columns} columns says what to set and what works without; /model chooses and is kept`, async (t) => {
    const where = await newHome(t, columns);
    const first = started(t, where);
    await first.until(/No model is set up/);
    await first.until('context');
    await assertSettled(`first-start-${columns}`, first);
    first.line('/model');
    await first.until('Which model?');
    await assertSettled(`model-choice-${columns}`, first);
    first.type('\u001B[B');
    first.type('\r');
    await first.until(/ollama\/gemma4:latest, a window of\s+16\.4k/);
    await assertSettled(`model-chosen-${columns}`, first);
    first.type('\u0004');
    assert.equal(await first.ended(), 0);
    const second = started(t, where);
    await second.until('context');
    await second.settled();
    assert.match(second.screen(), /gemma4:latest$/m);
    assert.doesNotMatch(second.screen(), /No model is set up/);
  });
