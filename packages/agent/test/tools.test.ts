import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  memoryArtifacts,
  memoryStore,
  verifiedDurability,
  type CallPart,
  type JsonObject,
  type ThreadId,
} from '@bobbin/core';
import { lineDiff } from '../src/line-diff.ts';
import { ToolRunner } from '../src/tool-run.ts';
import type { ToolOutput } from '../src/tools/tool.ts';
import { toolbox, toolPolicies } from '../src/tools/toolbox.ts';
import { temporaryFolder } from './terminal.ts';

type Run = (tool: string, args: JsonObject, signal?: AbortSignal) => Promise<ToolOutput>;

function bench(t: TestContext): { root: string; run: Run } {
  const root = temporaryFolder(t);
  const runner = new ToolRunner(toolbox(root), { all: true, allow: [] }, undefined);
  const context = {
    root,
    key: { tenant: 't', thread: 'th' as ThreadId },
    store: memoryStore(),
    artifacts: memoryArtifacts(),
    progress: () => undefined,
  };
  const run: Run = (tool, args, signal = new AbortController().signal) => {
    const call: CallPart = { kind: 'call', callId: 'c', tool, args: JSON.stringify(args) };
    return runner.run(call, { ...context, signal });
  };
  return { root, run };
}

test('C10 every tool declares how long its results matter', () => {
  const durabilities = Object.entries(toolPolicies(toolbox('/'))).map(([name, { durability }]) => [
    name,
    durability,
  ]);
  assert.deepEqual(Object.fromEntries(durabilities), {
    read: 'replayable',
    write: 'anchoring',
    edit: 'anchoring',
    bash: 'non-replayable',
    grep: 'ephemeral',
    glob: 'ephemeral',
    read_artifact: 'ephemeral',
    recall: 'ephemeral',
  });
});

test('read: line numbers, parts, what is no text, what is not there', async (t) => {
  const { root, run } = bench(t);
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(root, 'b.bin'), Buffer.from([1, 0, 2]));
  const whole = await run('read', { path: 'a.txt' });
  assert.equal(whole.text, '    1\tone\n    2\ttwo\n    3\tthree');
  assert.deepEqual(whole.keyFields, { path: join(root, 'a.txt'), lines: '1-3 of 3' });
  const part = await run('read', { path: 'a.txt', offset: 2, limit: 1 });
  assert.deepEqual(
    [part.text, part.outcome],
    ['    2\ttwo\n(1 more lines; go on with offset 3)', 'partial'],
  );
  assert.match((await run('read', { path: 'b.bin' })).text, /is no text file/);
  assert.match((await run('read', { path: 'none' })).text, /there is no file/);
  assert.match((await run('read', { path: '.' })).text, /is a folder/);
  assert.match((await run('read', {})).text, /read: path is missing/);
  assert.match(
    (await run('read', { path: 'a.txt', offset: -1 })).text,
    /offset must be a whole number/,
  );
});

test('C9 what read gave is replayable as long as the file is the same', async (t) => {
  const { root, run } = bench(t);
  const path = join(root, 'a.txt');
  writeFileSync(path, 'one\n');
  const { determinism } = await run('read', { path: 'a.txt' });
  const result = {
    kind: 'result',
    callId: 'c',
    tool: 'read',
    content: [],
    ...(determinism === undefined ? {} : { determinism }),
  } as const;
  const tools = toolPolicies(toolbox(root));
  assert.equal(await verifiedDurability(result, '{"path":"a.txt"}', tools), 'replayable');
  writeFileSync(path, 'two\n');
  assert.equal(await verifiedDurability(result, '{"path":"a.txt"}', tools), 'non-replayable');
});

test('write and edit: what was changed comes back as a diff; an edit must be unambiguous', async (t) => {
  const { root, run } = bench(t);
  const made = await run('write', { path: 'deep/down/a.txt', content: 'one\ntwo\ntwo\n' });
  assert.match(made.text, /^Made .*a\.txt \(4 lines\)\.$/);
  assert.match(
    (await run('edit', { path: 'deep/down/a.txt', old: 'two', new: '2' })).text,
    /occurs 2 times/,
  );
  assert.match(
    (await run('edit', { path: 'deep/down/a.txt', old: 'none', new: '2' })).text,
    /does not occur/,
  );
  const edited = await run('edit', { path: 'deep/down/a.txt', old: 'two', new: '$&', all: true });
  assert.equal(readFileSync(join(root, 'deep/down/a.txt'), 'utf8'), 'one\n$&\n$&\n');
  assert.equal(edited.diff, '   1   one\n   2 - two\n   3 - two\n   2 + $&\n   3 + $&\n   4   ');
});

test('bash: output, exit code, time limit, interruption of all that it started', async (t) => {
  const { root, run } = bench(t);
  const ok = await run('bash', { command: 'echo out; echo err >&2; exit 3' });
  assert.deepEqual(
    [ok.text.split('\n').toSorted(), ok.outcome],
    [['[exit code 3]', 'err', 'out'], 'failure'],
  );
  assert.deepEqual(ok.keyFields, { command: 'echo out; echo err >&2; exit 3', exit: 3 });
  assert.equal((await run('bash', { command: 'true' })).text, '(no output)\n[exit code 0]');
  assert.match(
    (await run('bash', { command: 'sleep 30', timeout: 1 })).text,
    /\[stopped after 1 s\]/,
  );
  const controller = new AbortController();
  const running = run(
    'bash',
    { command: `(sleep 1.5; touch ${join(root, 'late')}) & wait` },
    controller.signal,
  );
  setTimeout(() => controller.abort(), 200);
  assert.match((await running).text, /\[interrupted by the user\]/);
  await new Promise((resolve) => setTimeout(resolve, 1_700));
  assert.equal(existsSync(join(root, 'late')), false);
});

test('bash: an output of any length is capped, with its beginning and its end', async (t) => {
  const { run } = bench(t);
  const { text } = await run('bash', { command: 'seq 1 200000' });
  assert.ok(text.length < 210_000);
  assert.match(text, /^1\n2\n/);
  assert.match(text, /characters left out[^]*200000\n\[exit code 0\]$/);
});

test('grep and glob: matches, filters, what git ignores is left out', async (t) => {
  const { root, run } = bench(t);
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/a.ts'), 'const x = 1;\nconst Y = 2;\n');
  writeFileSync(join(root, 'b.md'), 'const in prose\n');
  await run('bash', {
    command: 'git init -q && echo dist > .gitignore && mkdir dist && echo const > dist/c.ts',
  });
  assert.equal(
    (await run('grep', { pattern: 'const y', ignoreCase: true })).text,
    'src/a.ts:2: const Y = 2;',
  );
  assert.equal(
    (await run('grep', { pattern: 'const', glob: '*.md' })).text,
    'b.md:1: const in prose',
  );
  assert.match((await run('grep', { pattern: 'const', most: 1 })).text, /more than 1 matches/);
  assert.match((await run('grep', { pattern: '(' })).text, /no regular expression/);
  assert.equal((await run('grep', { pattern: 'none' })).text, 'No matches.');
  assert.equal((await run('glob', { pattern: '**/*.{ts,md}' })).text, 'b.md\nsrc/a.ts');
  assert.equal((await run('glob', { pattern: '*.ts', path: 'src' })).text, 'a.ts');
});

test('a call that no tool takes is a result, not an end', async (t) => {
  const { run } = bench(t);
  assert.equal((await run('fly', {})).text, 'there is no tool fly');
});

test('a diff shows the block that changed with a little around it', () => {
  assert.equal(
    lineDiff('a\nb\nc\nd\ne\nf', 'a\nb\nc\nX\ne\nf'),
    '   2   b\n   3   c\n   4 - d\n   4 + X\n   5   e\n   6   f',
  );
  assert.equal(lineDiff('', 'new'), '   1 + new');
  assert.equal(lineDiff('same', 'same'), '');
});
