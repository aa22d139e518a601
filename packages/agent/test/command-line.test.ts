import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };
import { chooseModel, defaultModel } from '../src/model/models.ts';
import { loadSettings } from '../src/settings.ts';
import { piFile } from './session-samples.ts';
import { BIN, temporaryFolder } from './terminal.ts';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the program as a shell would. A held input stays open until the program reports it. */
async function run(t: TestContext, args: readonly string[], input: string = ''): Promise<Ended> {
  const home = temporaryFolder(t);
  const project = join(home, 'project');
  mkdirSync(project);
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: project,
    env: { PATH, HOME: home },
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => (ended.out += data.toString()));
  child.stderr.on('data', (data: Buffer) => {
    ended.err += data.toString();
    if (/reading stdin to its end/.test(ended.err)) child.stdin.end();
  });
  if (input !== HELD) child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, ...ended };
}

const HELD = '(held)';
const ECHO = ['--model', 'scripted/echo'];

test('--help fits in 80 columns, with an example and the exit codes; --version is the version', async (t) => {
  const { code, out } = await run(t, ['agent', '--help']);
  assert.equal(code, 0);
  assert.ok(Math.max(...out.split('\n').map(({ length }) => length)) <= 80);
  assert.match(out, /Example:\n {2}bobbin -p "[^"]+"\n\nExit codes:\n {2}0 [^]*\n {2}130 /);
  assert.deepEqual(await run(t, ['agent', '--version']), {
    code: 0,
    out: `${packageJson.version}\n`,
    err: '',
  });
});

test('what cannot be answered is refused with a reason and exit code 2', async (t) => {
  const nothing = await run(t, ['-p', ...ECHO]);
  assert.deepEqual([nothing.code, nothing.out], [2, '']);
  assert.match(nothing.err, /there is nothing to answer/);
  for (const args of [
    ['-p', 'hello'],
    ['--mode', 'json', 'hello'],
    ['--mode', 'rpc'],
  ]) {
    const { code, err } = await run(t, args);
    assert.equal(code, 2);
    assert.match(err, /there is no model to ask: set ANTHROPIC_API_KEY or OPENAI_API_KEY/);
  }
});

test('a prompt may hold any words, and stdin is added to it; a held pipe is reported', async (t) => {
  const words = await run(t, ['-p', ...ECHO, 'import', 'the', 'file'], 'and this\n');
  assert.deepEqual([words.code, words.out], [0, 'You said: import the file\n\nand this\n']);
  const held = await run(t, ['-p', ...ECHO, 'hi'], HELD);
  assert.deepEqual([held.code, held.out], [0, 'You said: hi\n']);
});

test('a prompt of several words starts the agent; a single word is a command', async (t) => {
  const prompt = await run(t, ['fix the bug', ...ECHO]);
  assert.deepEqual([prompt.code, prompt.err.slice(0, 28)], [2, 'bobbin: this is no terminal:']);
  assert.match((await run(t, ['fix'])).err, /unknown command "fix"/);
});

test('import takes stdin as -; what is no session is a failure', async (t) => {
  const imported = await run(t, ['import', '-'], piFile);
  assert.equal(imported.code, 0, imported.err);
  const direct = await run(t, ['agent', 'import', '-'], piFile);
  assert.match(direct.out, /^Imported 4 messages of pi as session \d{8}-/);
  const damaged = await run(t, ['agent', 'import', '-'], '{"a":1}\n');
  assert.equal(damaged.code, 1);
  assert.match(damaged.err, /is no session file of Bobbin, pi, Claude Code, Codex or OpenCode/);
});

test('an empty key is no key', (t) => {
  const folder = temporaryFolder(t);
  const settings = loadSettings({ project: folder, config: folder, data: folder }, {});
  assert.equal(
    defaultModel(settings, { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: 'x' }),
    'openai/gpt-6.1',
  );
  assert.equal(defaultModel(settings, {}), undefined);
  assert.throws(
    () => chooseModel('anthropic/claude-sonnet-5', settings, { ANTHROPIC_API_KEY: '' }, folder),
    /needs a key in the environment variable ANTHROPIC_API_KEY/,
  );
});
