import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Client } from './client.ts';
import { temporaryFolder, TestTerminal } from './terminal.ts';
import { writeScript } from './workshop.ts';

/** Runs the command that it is given, and says how it ended. */
const RUNNER = `
  if (last.role === 'tool') return { text: 'Result: ' + last.text };
  return { calls: [{ tool: 'bash', args: { command: last.text } }] };
`;

interface Place {
  readonly home: string;
  readonly cwd: string;
  readonly args: readonly string[];
}

function place(t: TestContext): Place {
  const home = temporaryFolder(t);
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  return { home, cwd, args: ['--yes', '--model', `scripted/${writeScript(home, RUNNER)}`] };
}

async function until(done: () => boolean, what: string): Promise<void> {
  for (const began = Date.now(); !done();) {
    assert.ok(Date.now() - began < 60_000, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The process that a tool wrote down, once it is there. */
async function started({ cwd }: Place): Promise<number> {
  const path = join(cwd, 'pid');
  await until(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'), 'no process');
  return Number(readFileSync(path, 'utf8'));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const SLEEPER = 'echo $$ > pid; sleep 300 & wait';

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGHUP', 129],
  ['SIGINT', 130],
] as const)
  test(`${signal} ends the agent in order: its tool is dead, the session has its result`, async (t) => {
    const where = place(t);
    const client = new Client(['--mode', 'rpc', ...where.args], where.cwd, where.home);
    t.after(() => client.kill());
    const { file } = await client.call('initialize');
    await client.call('say', { text: SLEEPER });
    const pid = await started(where);
    process.kill(client.pid, signal);
    assert.equal(await client.ended(), code);
    await until(() => !isAlive(pid), 'the tool lives');
    assert.match(readFileSync(String(file), 'utf8'), /\[interrupted by the user\]/);
  });

test('SIGTERM gives the terminal back as it was', async (t) => {
  const where = place(t);
  const terminal = new TestTerminal(where.args, where);
  t.after(() => terminal.kill());
  await terminal.until('context');
  terminal.line(SLEEPER);
  const pid = await started(where);
  process.kill(terminal.pid, 'SIGTERM');
  assert.equal(await terminal.ended(), 143);
  await until(() => !isAlive(pid), 'the tool lives');
  // Pastes are plain again, and the cursor is there.
  const { written } = terminal;
  assert.ok(written.lastIndexOf('\u001B[?2004l') > written.lastIndexOf('\u001B[?2004h'));
  assert.ok(written.lastIndexOf('\u001B[?25h') > written.lastIndexOf('\u001B[?25l'));
});

test('what a command left in the background lives until the agent ends', async (t) => {
  const where = place(t);
  const client = new Client(['--mode', 'rpc', ...where.args], where.cwd, where.home);
  t.after(() => client.kill());
  await client.call('initialize');
  await client.call('say', { text: 'sleep 300 > /dev/null 2>&1 & echo $! > pid' });
  await client.call('rest');
  const pid = await started(where);
  await client.call('say', { text: 'echo more' });
  await client.call('rest');
  assert.equal(isAlive(pid), true);
  assert.equal(await client.end(), 0);
  await until(() => !isAlive(pid), 'the background process lives');
});
