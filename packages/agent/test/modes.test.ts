import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Client, type Line } from './client.ts';
import { BIN, temporaryFolder } from './terminal.ts';
import { writeScript } from './workshop.ts';

const WRITER = `
  if (last.role === 'user' && last.text.startsWith('write')) return { calls: [{ tool: 'write', args: { path: 'a.txt', content: 'A' } }] };
  if (last.text === 'fail') return { status: 401, text: 'no such key' };
  return { text: 'Heard: ' + last.text };
`;

function place(t: TestContext): { home: string; project: string; model: readonly string[] } {
  const home = temporaryFolder(t);
  const project = join(home, 'project');
  mkdirSync(project);
  return { home, project, model: ['--model', `scripted/${writeScript(home, WRITER)}@16000`] };
}

function open(t: TestContext, ...args: readonly string[]): Client {
  const { home, project, model } = place(t);
  const client = new Client([...args, ...model], project, home);
  t.after(() => client.kill());
  return client;
}

test('B14 JSON: where the input ends with a question open, and before one is asked, the answer is no', async (t) => {
  const client = open(t, '--mode', 'json');
  client.send('write it');
  await client.until(({ type }) => type === 'permission');
  assert.equal(await client.end(), 0);
  const result = client.lines.find(({ type }) => type === 'tool-end');
  assert.match(String(result?.['text']), /did not allow this/);
  assert.deepEqual(client.lines.at(-1), { type: 'end', reason: 'done' });
});

test('print: the answer and nothing else; --verbose reports on stderr what happened on the way', (t) => {
  const { home, project, model } = place(t);
  const { PATH } = process.env;
  const printed = (...options: readonly string[]): readonly unknown[] => {
    const args = [BIN, '-p', ...options, ...model, 'write it'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: project,
      env: { PATH, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
      input: '',
      encoding: 'utf8',
    });
    return [status, stdout, stderr];
  };
  const [status, answer, quiet] = printed();
  assert.deepEqual([status, quiet], [0, '']);
  assert.match(String(answer), /^.+\n$/);
  assert.deepEqual(printed('--verbose'), [
    0,
    answer,
    '[write] {"path":"a.txt","content":"A"}\n' +
      '[write] failed: not allowed: nobody can be asked here (--yes or a permission rule allows it): write a.txt\n',
  ]);
});

test('JSON: the exit code says how the last turn ended', async (t) => {
  const unknown = open(t, '--mode', 'json');
  await unknown.command('/nothing');
  assert.equal(await unknown.end(), 1);
  const mended = open(t, '--mode', 'json');
  await mended.command('/nothing');
  await mended.turn('hello');
  assert.equal(await mended.end(), 0);
});

test('B14 RPC: only its own methods are methods, notifications get no answer, rest reports how it ended', async (t) => {
  const client = open(t, '--mode', 'rpc');
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    await assert.rejects(client.call(name), new RegExp(`-32601: there is no method ${name}`));
  const from = client.lines.length;
  client.send('{"jsonrpc":"2.0","method":"nothing"}');
  client.send('{"jsonrpc":"2.0","method":"state"}');
  await client.call('state');
  assert.deepEqual(
    client.lines.slice(from).filter(({ id }) => id === null || id === undefined),
    [],
  );
  client.send('{"jsonrpc":"2.0","params":{}}');
  const invalid = await client.until(({ error }) => error !== undefined, from);
  assert.deepEqual([invalid['id'], (invalid['error'] as Line)['code']], [null, -32_600]);
  await client.call('say', { text: 'fail' });
  assert.deepEqual(await client.call('rest'), { reason: 'failed' });
  assert.deepEqual(await client.call('rest'), { reason: 'failed' });
  const help = await client.call('command', { name: 'help' });
  const listed = help['data'] as readonly Line[];
  const { commands } = await client.call('initialize');
  assert.deepEqual(listed, commands);
});

test('B12 RPC: where the sessions cannot be written, the message comes back with the reason', async (t) => {
  const { home, project, model } = place(t);
  const data = join(home, 'data', 'bobbin');
  mkdirSync(data, { recursive: true });
  // No folder can be made where a file is.
  writeFileSync(join(data, 'sessions'), '');
  const client = new Client(['--mode', 'rpc', ...model], project, home);
  t.after(() => client.kill());
  await client.call('say', { text: 'hello' });
  assert.deepEqual(await client.call('rest'), { reason: 'failed' });
  const reported = client.events.filter(({ type }) => type === 'error' || type === 'returned');
  assert.deepEqual(
    reported.map(({ type }) => type),
    ['returned', 'error'],
  );
  assert.deepEqual(reported[0]?.['texts'], ['hello']);
  assert.equal((await client.call('state'))['phase'], 'idle');
});

test('sessions are for their owner alone', async (t) => {
  const { home, project, model } = place(t);
  const client = new Client(['--mode', 'json', 'hello', ...model], project, home);
  assert.equal(await client.end(), 0);
  assert.equal(statSync(join(home, 'data', 'bobbin')).mode & 0o777, 0o700);
});
