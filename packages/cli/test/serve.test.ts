import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { providerServer } from '@bobbin/testing';
import { bobbin, here, SHIM, start } from './run.ts';

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-serve-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The address of a gateway, once it listens, and what it has written so far. */
async function listening(child: ChildProcess): Promise<[url: string, stderr: () => string]> {
  let stderr = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (data) => {
      stderr += String(data);
      const found = /gateway at (http:\S+),/.exec(stderr)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(stderr)));
  });
  return [url, () => stderr];
}

test('a signal that ends npx and its shell ends the gateway too', async (t) => {
  const folder = folderFor(t);
  // As npx starts it: in a shell, which waits for it.
  const command = `"${process.execPath}" "${SHIM}" serve --port 0 --log-level silent & echo $! ; wait`;
  const shell = spawn('sh', ['-c', command], {
    env: { ...process.env, npm_command: 'exec', BOBBIN_STORE: folder },
  });
  const pid = new Promise<number>((resolve) =>
    shell.stdout.once('data', (data) => resolve(Number(String(data)))),
  );
  const [url] = await listening(shell);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  shell.kill('SIGTERM');
  for (let tries = 0; isRunning(await pid) && tries < 200; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const isLeft = isRunning(await pid);
  if (isLeft) process.kill(await pid, 'SIGKILL');
  assert.equal(isLeft, false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('serve takes its settings from options, the environment and a file, and ends on a signal', async (t) => {
  const provider = await providerServer('openai-chat', { kind: 'answer', text: 'Through.' });
  t.after(() => provider.close());
  const folder = folderFor(t);
  const config = join(folder, 'gateway.json');
  const policies = [{ model: 'gpt-', windowTokens: 50_000, preset: 'pi' }];
  writeFileSync(config, JSON.stringify({ port: 1, openai: 'http://127.0.0.1:9', policies }));
  const child = start(['serve', '--port', '0', '--config', config, '--log-level', 'silent'], {
    env: { BOBBIN_OPENAI: provider.origin, BOBBIN_STORE: join(folder, 'store') },
  });
  t.after(() => child.kill('SIGKILL'));
  const [url, stderr] = await listening(child);
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer 1', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] }),
  });
  assert.match(await response.text(), /Through\./);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  assert.match(stderr(), /ending: streams under way are finished/);
});

const MISTAKES: readonly (readonly [args: readonly string[], stderr: RegExp])[] = [
  [['serve', 'now'], /^bobbin: serve takes no "now"; see bobbin serve --help$/],
  [['serve', '--port', 'x'], /^bobbin: --port must be a number of at least 0, not "x"; see/],
  [['serve', '--host', '0.0.0.0'], /^bobbin: host 0\.0\.0\.0 can be reached .*: give a token/],
  [['serve', '--openai', 'here'], /^bobbin: upstream "here": must be an address such as/],
  [['serve', '--preset', 'no'], /^bobbin: --preset must be one of ladder, .*, not "no"; see/],
  [['serve', '--artifacts', 's3://b'], /^bobbin: artifacts s3:\/\/b: set AWS_ACCESS_KEY_ID and/],
  [['wrap'], /^bobbin: give -- and one of claude, codex, opencode, pi; see bobbin wrap --help$/],
  [['wrap', '--', 'vim'], /^bobbin: give -- and one of .*, not "vim"; see bobbin wrap --help$/],
];

for (const [args, stderr] of MISTAKES)
  test(`bobbin ${args.join(' ')} is refused in one line`, async (t) => {
    const env = { XDG_DATA_HOME: folderFor(t), AWS_ACCESS_KEY_ID: '' };
    const outcome = await here(args, { env });
    assert.equal(outcome.status, 2);
    assert.match(outcome.stderr.trim(), stderr);
  });

test('wrap gives an agent the base URL, hands on its exit code, and says what was saved', async (t) => {
  const usage = { inputTokens: 120, outputTokens: 3 };
  const provider = await providerServer('anthropic', { kind: 'answer', text: 'Hello.', usage });
  t.after(() => provider.close());
  const folder = folderFor(t);
  const agent = join(folder, 'claude');
  writeFileSync(
    agent,
    `#!${process.execPath}
const url = process.env.ANTHROPIC_BASE_URL + '/v1/messages';
const body = { model: 'claude-haiku-4-5', max_tokens: 9, messages: [{ role: 'user', content: process.argv[2] }] };
const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  .then((response) => response.json())
  .then(({ content }) => { console.log(content[0].text); process.exitCode = 3; });
`,
  );
  chmodSync(agent, 0o755);
  const env = {
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    XDG_DATA_HOME: folder,
  };
  const args = ['wrap', '--port', '0', '--anthropic', provider.origin, '--', 'claude', '--help'];
  const { status, stdout, stderr } = await bobbin(args, { env });
  provider.expectDone();
  assert.deepEqual([status, stdout], [3, 'Hello.\n']);
  assert.equal(
    stderr,
    'bobbin: 1 step, 0 compactions; input worth 0 tokens saved, net (0 % of 120)\n',
  );
  assert.deepEqual(provider.requests[0]?.body['messages'], [{ role: 'user', content: '--help' }]);
});
