import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bobbinOnTerminal, folder, here, type Outcome } from './run.ts';

let shown: Promise<Outcome> | undefined;

function demo(): Promise<Outcome> {
  shown ??= here(['demo']);
  return shown;
}

test('demo draws the window before and after, rungs, spans, what is read, the time, and what to try', async () => {
  const { status, stdout, stderr } = await demo();
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.match(
    stdout,
    /\d+ turns, \d+ messages, 1[45]\d,\d{3} tokens by o200k; the window holds 64,000\./,
  );
  assert.match(stdout, /\n {2}before .*│▒+ +1[45]\d\.\dk\n {2}after .*│ +\d+\.\dk\n/);
  assert.match(stdout, /\nWhat each rung freed\n(?: .*\n)* {2}\S+ +−\d+\.\dk {2}█+ +\d+ \w+/);
  assert.match(stdout, /\nWhich spans became what\n {2}turns? [\d–]+ +\d+ \w+ +→ \w+/);
  assert.match(stdout, /\nWhat the model reads now\n {2}system +You are a coding agent/);
  assert.match(stdout, /\n {2}trim +−\d+\.\dk {2}█+ +\d+ messages shortened\n/);
  assert.match(stdout, /\n +… \d+ messages, \d+ shortened\n/);
  assert.match(stdout, /\n {2}Compacted in [\d.]+ m?s, without asking a model\./);
  assert.match(stdout, /\nTry next\n {2}npx bobbin demo --save session\.json/);
  assert.ok(!stdout.includes('\u001B'), 'a pipe gets no colours');
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.length > 80),
    [],
  );
});

test('demo --save gives the session to the other commands', async (t) => {
  const home = folder(t);
  const saved = await here(['demo', '--save', 'session.json'], { cwd: home });
  assert.deepEqual(saved, { status: 0, stdout: '', stderr: '' });
  const inspected = await here(['inspect', 'session.json', '--counter', 'o200k'], { cwd: home });
  const tokens = [await demo(), inspected].map(
    ({ stdout }) => /[\d,]+ tokens by o200k/.exec(stdout)?.[0],
  );
  assert.ok(tokens[0] !== undefined);
  assert.equal(tokens[1], tokens[0]);
  const args = ['compact', 'session.json', '--budget', '20000', '--out', 'compacted.json'];
  const { status } = await here(args, { cwd: home });
  assert.equal(status, 0);
  const [session, result] = ['session.json', 'compacted.json'].map(
    (name) => JSON.parse(readFileSync(join(home, name), 'utf8')) as object[],
  );
  assert.ok((result?.length ?? 0) < (session?.length ?? 0));
  assert.deepEqual(result?.[0], session?.[0]);
});

test('demo keeps within a narrow terminal; commands to copy stay on one line', async (t) => {
  const { written } = await bobbinOnTerminal(['demo'], {
    cwd: folder(t),
    cols: 40,
    env: { NO_COLOR: '1' },
  });
  const lines = written.split('\r\n');
  assert.deepEqual(
    lines.filter((line) => line.length > 40 && !line.startsWith('  npx bobbin ')),
    [],
  );
  assert.ok(
    lines.includes('  npx bobbin compact session.json --window 64000 --out compacted.json'),
  );
});
