import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { providerServer, type ProviderServer } from '@bobbin/testing';
import { upstreamsFrom } from '../src/gateway/wrapping.ts';
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
  // A folder of an earlier version may have the name of a file.
  const store = join(folder, 'store.db');
  mkdirSync(store);
  const child = start(['serve', '--port', '0', '--config', config, '--log-level', 'silent'], {
    env: { BOBBIN_OPENAI: provider.origin, BOBBIN_STORE: store },
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

const LEVELS = 'trace, debug, info, warn, error, fatal, silent';

const MISTAKES: readonly (readonly [args: readonly string[], stderr: RegExp])[] = [
  [
    ['serve', '--log-level', 'loud'],
    new RegExp(`^bobbin: --log-level must be one of ${LEVELS}, not "loud"; see`),
  ],
  [['serve', 'now'], /^bobbin: serve takes no "now"; see bobbin serve --help$/],
  [['serve', '--port', 'x'], /^bobbin: --port must be a number of at least 0, not "x"; see/],
  [['serve', '--port', '99999'], /^bobbin: --port must be a port from 0 to 65535, not 99999; see/],
  [['serve', '--window', '1'], /^bobbin: --window must be a number of at least 500, not 1; see/],
  [
    ['serve', '--soft-share', '3'],
    /^bobbin: --soft-share must be a number above 0 and at most 1, not 3; see/,
  ],
  [
    ['serve', '--config', 'no.json'],
    /^bobbin: there is no file no\.json to read settings from; see/,
  ],
  [
    ['serve', '--openai', 'http://127.0.0.1:7077/v1'],
    /^bobbin: upstream openai: .* is this gateway/,
  ],
  [['serve', '--host', '0.0.0.0'], /^bobbin: host 0\.0\.0\.0 can be reached .*: give --token \(or/],
  [['serve', '--openai', 'here'], /^bobbin: upstream "here": must be an address such as/],
  [['serve', '--preset', 'no'], /^bobbin: --preset must be one of ladder, .*, not "no"; see/],
  [
    ['serve', '--store', 'none.db'],
    /^bobbin: store none\.db must be a folder or a postgres:\/\/ address, not a file; see/,
  ],
  [
    ['serve', '--store', import.meta.filename],
    /^bobbin: store .* must be a folder .*, not a file; see/,
  ],
  [['serve', '--artifacts', 's3://b'], /^bobbin: artifacts s3:\/\/b: set AWS_ACCESS_KEY_ID and/],
  [
    ['wrap', '--host=0.0.0.0', '--', 'claude'],
    /^bobbin: wrap takes no --host: .* 127\.0\.0\.1 only/,
  ],
  [['wrap'], /^bobbin: give -- and one of claude, codex, opencode, pi; see bobbin wrap --help$/],
  [['wrap', '--', 'vim'], /^bobbin: give -- and one of .*, not "vim"; see bobbin wrap --help$/],
];

for (const [args, stderr] of MISTAKES)
  test(`bobbin ${args.join(' ')} is refused in one line`, async (t) => {
    const cwd = folderFor(t);
    const env = { XDG_DATA_HOME: cwd, AWS_ACCESS_KEY_ID: '' };
    const outcome = await here(args, { cwd, env });
    assert.equal(outcome.status, 2);
    assert.match(outcome.stderr.trim(), stderr);
    assert.doesNotMatch(outcome.stderr.trim(), /\n/);
    assert.equal(existsSync(join(cwd, 'none.db')), false);
  });

/** A folder with an agent of a name, and the environment in which it is found. */
function agentNamed(
  t: TestContext,
  name: string,
  program: string,
): { readonly folder: string; readonly env: Record<string, string> } {
  const folder = folderFor(t);
  const path = join(folder, name);
  writeFileSync(path, `#!${process.execPath}\n${program}`);
  chmodSync(path, 0o755);
  const PATH = `${folder}${delimiter}${process.env['PATH'] ?? ''}`;
  return { folder, env: { PATH, XDG_DATA_HOME: folder } };
}

/** Asks once, and ends with 3. It sends the headers that Claude Code was given. */
const ASKS = `const own = Object.fromEntries((process.env.ANTHROPIC_CUSTOM_HEADERS ?? '').split('\\n').filter(Boolean).map((line) => line.split(': ')));
const url = process.env.ANTHROPIC_BASE_URL + '/v1/messages';
const body = { model: 'claude-haiku-4-5', max_tokens: 9, messages: [{ role: 'user', content: process.argv[2] }] };
const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'content-type': 'application/json', ...own };
fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  .then((response) => response.json())
  .then((answer) => { console.log(answer.content?.[0].text ?? answer.error.message); process.exitCode = 3; });
`;

const SAVED = 'bobbin: 1 step, 0 compactions; input worth 0 tokens saved, net (0 % of 120)';

async function answering(t: TestContext): Promise<ProviderServer> {
  const usage = { inputTokens: 120, outputTokens: 3 };
  const provider = await providerServer('anthropic', { kind: 'answer', text: 'Hello.', usage });
  t.after(() => provider.close());
  return provider;
}

test('wrap gives an agent the base URL, hands on its exit code, and says what was saved', async (t) => {
  const provider = await answering(t);
  const { env } = agentNamed(t, 'claude', ASKS);
  const args = ['wrap', '--port', '0', '--anthropic', provider.origin, '--', 'claude', '--help'];
  const { status, stdout, stderr } = await bobbin(args, { env });
  provider.expectDone();
  assert.deepEqual([status, stdout, stderr], [3, 'Hello.\n', `${SAVED}\n`]);
  assert.deepEqual(provider.requests[0]?.body['messages'], [{ role: 'user', content: '--help' }]);
});

test('wrap relays to the address that the agent would have asked; its own gateway needs no token', async (t) => {
  const provider = await answering(t);
  const { env } = agentNamed(t, 'claude', ASKS);
  const args = ['wrap', '--port', '0', '--token', 'abc', '--', 'claude', '-p'];
  const outcome = await bobbin(args, { env: { ...env, ANTHROPIC_BASE_URL: provider.origin } });
  provider.expectDone();
  assert.deepEqual([outcome.status, outcome.stdout], [3, 'Hello.\n']);
});

test('wrap uses a gateway that runs: with its token, without other options, and the sum is of all clients', async (t) => {
  const provider = await answering(t);
  const { folder, env } = agentNamed(t, 'claude', ASKS);
  const serving = ['serve', '--port', '0', '--token', 'abc', '--anthropic', provider.origin];
  const child = start([...serving, '--api-token', 'xyz', '--log-level', 'silent'], {
    env: { BOBBIN_STORE: folder },
  });
  t.after(() => child.kill('SIGKILL'));
  const [url] = await listening(child);
  const at = ['wrap', '--port', new URL(url).port];
  const tokens = ['--token', 'abc', '--api-token', 'xyz'];
  const addresses = { ANTHROPIC_BASE_URL: 'http://team:7077', OPENAI_BASE_URL: `${url}/v1` };
  const wrapped = await bobbin([...at, ...tokens, '--window', '9000', '--', 'claude', '-p'], {
    env: { ...env, ...addresses },
  });
  provider.expectDone();
  assert.deepEqual([wrapped.status, wrapped.stdout], [3, 'Hello.\n']);
  assert.deepEqual(wrapped.stderr.split('\n').slice(0, 2), [
    `bobbin: --window, ANTHROPIC_BASE_URL not used: the gateway at ${url} runs already, with settings of its own`,
    `${SAVED}, by all clients of the gateway`,
  ]);
  const refused = await bobbin([...at, '--', 'claude', '-p'], { env });
  assert.equal(refused.status, 3);
  assert.match(refused.stdout, /send its token in the header x-bobbin-token/);
  assert.match(refused.stderr, /what was saved is not known: .* give --api-token\n$/);
  const codex = await bobbin([...at, '--token', 'abc', '--', 'codex'], { env });
  assert.deepEqual([codex.status, codex.stdout], [2, '']);
  assert.match(codex.stderr, /^bobbin: codex cannot send the token .*: give another --port/);
});

function taken(url: string): string | undefined {
  return upstreamsFrom({ ANTHROPIC_BASE_URL: url }).anthropic;
}

test('wrap ignores an address that the agent has only if it is a gateway of this machine', async (t) => {
  const local = ['localhost', '127.0.0.1', '127.1', '127.9.9.9', '[::1]', '0.0.0.0'];
  for (const host of local) assert.equal(taken(`http://${host}:7077`), undefined, host);
  const others = ['http://team:7077', 'http://localhost:8080', 'http://127.0.0.1.example:7077'];
  assert.deepEqual(others.map(taken), others);
  assert.deepEqual(upstreamsFrom({ OPENAI_BASE_URL: 'http://a', BOBBIN_OPENAI: 'http://b' }), {});

  const { env } = agentNamed(t, 'claude', ASKS);
  const { stdout } = await bobbin(['wrap', '--port', '0', '--', 'claude', '-p'], {
    env: { ...env, ANTHROPIC_BASE_URL: 'http://team.invalid:7077' },
  });
  assert.match(stdout, /the upstream did not answer: .*team\.invalid/);
});

test('wrap says so if no request came through the gateway, or if no provider answered', async (t) => {
  const idle = agentNamed(t, 'claude', "console.log(process.env.ANTHROPIC_BASE_URL + '.');");
  const none = await bobbin(['wrap', '--port', '0', '--', 'claude'], { env: idle.env });
  const url = none.stdout.trim().slice(0, -1);
  assert.equal(
    none.stderr,
    `bobbin: no request to a model came through the gateway at ${url}, the address that the agent was given\n`,
  );
  const asking = agentNamed(t, 'claude', ASKS);
  const nobody = ['--anthropic', 'http://127.0.0.1:9'];
  const lost = await bobbin(['wrap', '--port', '0', ...nobody, '--', 'claude'], {
    env: asking.env,
  });
  assert.equal(
    lost.stderr,
    'bobbin: 1 step, 0 compactions; what was saved is not known: the provider did not answer, refused, or reported no usage\n',
  );
});

test('wrap passes a signal on to its agent, and its exit code says which one ended the agent', async (t) => {
  const { env } = agentNamed(t, 'claude', "console.log('ready'); setInterval(() => {}, 1_000);");
  const child = start(['wrap', '--port', '0', '--', 'claude'], { env });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  assert.equal(await ended, 143);
});

test('a second signal cuts streams off', async (t) => {
  const provider = await providerServer('openai-chat', { kind: 'hang' });
  t.after(() => provider.close());
  const args = ['serve', '--port', '0', '--openai', provider.origin, '--log-level', 'silent'];
  const child = start(args, { env: { BOBBIN_STORE: folderFor(t) } });
  t.after(() => child.kill('SIGKILL'));
  const [url, stderr] = await listening(child);
  const body = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] });
  const headers = { authorization: 'Bearer 1', 'content-type': 'application/json' };
  const asking = fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  const cutOff = assert.rejects(asking, /fetch failed/);
  while (provider.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  while (!stderr().includes('ending:')) await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill('SIGTERM');
  assert.equal(await ended, 1);
  await cutOff;
});
