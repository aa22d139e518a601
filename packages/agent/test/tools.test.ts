import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { memoryArtifacts, memoryStore, type CallPart, type ThreadId } from '@bobbin/core';
import { verifiedDurability, type JsonObject } from '@bobbin/core/internal';
import { lineDiff } from '../src/tools/line-diff.ts';
import { ToolRunner } from '../src/loop/tool-run.ts';
import type { ToolOutput } from '../src/tools/tool.ts';
import { toolbox, toolPolicies } from '../src/tools/toolbox.ts';
import { temporaryFolder } from './terminal.ts';

type Run = (tool: string, args: JsonObject, signal?: AbortSignal) => Promise<ToolOutput>;

function bench(t: TestContext): { root: string; run: Run; reported: string[] } {
  const reported: string[] = [];
  const root = temporaryFolder(t);
  const runner = new ToolRunner(toolbox(root), { all: true, allow: [] }, undefined);
  const context = {
    root,
    key: { tenant: 't', thread: 'th' as ThreadId },
    store: memoryStore(),
    artifacts: memoryArtifacts(),
    progress: (text: string) => void reported.push(text),
  };
  const run: Run = (tool, args, signal = new AbortController().signal) => {
    const call: CallPart = { kind: 'call', callId: 'c', tool, args: JSON.stringify(args) };
    return runner.run(call, { ...context, signal });
  };
  return { root, run, reported };
}

async function until(done: () => boolean, timeoutMs: number = 60_000): Promise<void> {
  for (const began = Date.now(); !done();) {
    assert.ok(Date.now() - began < timeoutMs, 'it never came');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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
  assert.equal(edited.diff, '   1   one\n   2 - two\n   3 - two\n   2 + $&\n   3 + $&');
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

test('what a tool cuts holds no half of a character: providers refuse a request with one', async (t) => {
  const { root, run } = bench(t);
  for (const before of ['', 'x']) {
    writeFileSync(join(root, 'faces.txt'), `${before}${'😀'.repeat(150_000)}`);
    for (const [tool, args] of [
      ['read', { path: 'faces.txt' }],
      ['grep', { pattern: '.' }],
      ['bash', { command: 'cat faces.txt' }],
    ] as const) {
      const { text } = await run(tool, args);
      assert.ok(text.length < 210_000 && text.includes('😀'), `${tool} cuts`);
      assert.ok(text.isWellFormed(), `${tool} after ${JSON.stringify(before)}`);
    }
  }
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

test('bash: what runs on in the background holds nobody up, and goes on', async (t) => {
  const { root, run } = bench(t);
  const { text } = await run('bash', {
    command: `(until [ -e go ]; do sleep 0.05; done; echo late; touch late) & echo started`,
    timeout: 20,
  });
  assert.equal(text, 'started\n[exit code 0; something of it runs on in the background]');
  writeFileSync(join(root, 'go'), '');
  await until(() => existsSync(join(root, 'late')));
});

test('bash: what leaves its group cannot outlast the time limit or an interruption', async (t) => {
  const { root, run } = bench(t);
  const began = Date.now();
  const wait = `setsid --fork bash -c 'echo $$ > ${join(root, 'pid')}; exec sleep 30'`;
  const limited = await run('bash', { command: `${wait}; sleep 30`, timeout: 1 });
  assert.equal(limited.text, '(no output)\n[stopped after 1 s]');
  process.kill(Number(readFileSync(join(root, 'pid'), 'utf8')), 'SIGKILL');
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 300);
  const stubborn = await run(
    'bash',
    { command: `trap '' TERM; ${wait}; while :; do sleep 0.1; done` },
    controller.signal,
  );
  assert.equal(stubborn.text, '(no output)\n[interrupted by the user]');
  process.kill(Number(readFileSync(join(root, 'pid'), 'utf8')), 'SIGKILL');
  // What it started would have gone on for 30 seconds, twice.
  assert.ok(Date.now() - began < 25_000, `${Date.now() - began} ms`);
});

test('bash: however much comes, little is reported of it meanwhile', async (t) => {
  const { run, reported } = bench(t);
  const { text } = await run('bash', {
    command: 'head -c 50000000 /dev/zero | tr "\\0" x; echo; echo end',
  });
  assert.match(text, /characters left out[^]*end\n\[exit code 0\]$/);
  const length = reported.join('').length;
  assert.ok(length > 4_000 && length < 2_000_000, `${length} characters`);
  assert.match(reported.at(-1) ?? '', /x\nend\n$/);
});

test('a pipe is no file: nothing waits for somebody to write to it or read from it', async (t) => {
  const { run } = bench(t);
  await run('bash', { command: 'mkfifo pipe pipe.png' });
  assert.match((await run('read', { path: 'pipe' })).text, /is no regular file/);
  assert.match((await run('read', { path: 'pipe.png' })).text, /is no regular file/);
  assert.match((await run('write', { path: 'pipe', content: 'x' })).text, /is no regular file/);
  assert.match(
    (await run('edit', { path: 'pipe', old: 'a', new: 'b' })).text,
    /is no regular file/,
  );
  assert.equal((await run('grep', { pattern: 'x' })).text, 'No matches.');
});

test('edit: a file that is not UTF-8 is refused and stays as it is; a byte order mark stays', async (t) => {
  const { root, run } = bench(t);
  const latin = Buffer.from('caf\u00E9 one\n', 'latin1');
  writeFileSync(join(root, 'latin.txt'), latin);
  const { text, outcome } = await run('edit', { path: 'latin.txt', old: 'one', new: 'two' });
  assert.deepEqual(
    [outcome, text],
    ['failure', `${join(root, 'latin.txt')} is not UTF-8; change it with bash`],
  );
  assert.deepEqual(readFileSync(join(root, 'latin.txt')), latin);
  writeFileSync(join(root, 'marked.txt'), '\uFEFFone\n');
  await run('edit', { path: 'marked.txt', old: 'one', new: 'two' });
  assert.equal(readFileSync(join(root, 'marked.txt'), 'utf8'), '\uFEFFtwo\n');
});

test('grep: links that lead out of the project are left out, those inside are followed', async (t) => {
  const outside = temporaryFolder(t);
  writeFileSync(join(outside, 'id_rsa'), 'PRIVATE KEY\n');
  const { root, run } = bench(t);
  writeFileSync(join(root, 'a.txt'), 'no PRIVATE KEY here\n');
  symlinkSync(join(outside, 'id_rsa'), join(root, 'notes.txt'));
  symlinkSync('a.txt', join(root, 'same.txt'));
  await run('bash', { command: 'git init -q && git add .' });
  assert.equal(
    (await run('grep', { pattern: 'PRIVATE KEY' })).text,
    'a.txt:1: no PRIVATE KEY here\nsame.txt:1: no PRIVATE KEY here\n(links that lead out of the project were left out: 1)',
  );
  assert.equal(
    (await run('grep', { pattern: 'KEY', path: join(outside, 'id_rsa') })).text,
    'id_rsa:1: PRIVATE KEY',
  );
});

test('a link that leads out of the project is refused by every tool, also where all is allowed', async (t) => {
  const { root, run } = bench(t);
  const outside = temporaryFolder(t);
  const target = join(outside, 'newfile');
  symlinkSync(target, join(root, 'notes.md'));
  const refused = `notes.md is a link that leads out of the project, to ${target}; name that path if you mean it`;
  const path = 'notes.md';
  for (const [tool, args] of [
    ['write', { path, content: 'x' }],
    ['edit', { path, old: 'x', new: 'y' }],
    ['read', { path }],
    ['grep', { path, pattern: 'x' }],
    ['glob', { path, pattern: '*' }],
  ] as const)
    assert.deepEqual([tool, (await run(tool, args)).text], [tool, refused]);
  assert.equal(existsSync(target), false);
});

test('grep and glob: a pattern that never ends stops nothing but itself', async (t) => {
  const { root, run } = bench(t);
  writeFileSync(join(root, 're.txt'), `${'a'.repeat(40)}!\n`);
  writeFileSync(join(root, `${'a'.repeat(120)}.txt`), '');
  let ticks = 0;
  const clock = setInterval(() => (ticks += 1), 20);
  t.after(() => clearInterval(clock));
  const calls = [
    ['grep', { pattern: '^(a+)+$', path: 're.txt' }],
    ['glob', { pattern: `${'*a'.repeat(20)}*b` }],
  ] as const;
  for (const [tool, args] of calls) {
    ticks = 0;
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 600);
    const { text } = await run(tool, args, controller.signal);
    assert.equal(text, `${tool}: interrupted by the user`);
    assert.ok(ticks > 10, `${ticks} ticks`);
  }
});

test('grep: a pattern that nobody interrupts is stopped', async (t) => {
  const { root, run } = bench(t);
  writeFileSync(join(root, 're.txt'), `${'a'.repeat(40)}!\n`);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const running = run('grep', { pattern: '^(a+)+$', path: 're.txt' });
  // The clock of the limit goes ten times as fast; the search does not.
  const clock = setInterval(() => t.mock.timers.tick(1_000), 100);
  t.after(() => clearInterval(clock));
  const { text } = await running;
  assert.equal(text, 'grep: stopped after 10 s; use a simpler pattern or a smaller path');
});

/** Repositories whose own configuration names a program that git runs when it is asked for the list of files. */
const HOSTILE: Readonly<Record<string, (program: string) => string>> = {
  'a monitor': (program) => `git config core.fsmonitor ${program}`,
  'a promised file that must be fetched': (program) => `
    git config core.repositoryformatversion 1
    git config extensions.partialclone origin
    git config remote.origin.url .
    git config remote.origin.promisor true
    git config remote.origin.uploadpack ${program}
    git update-index --add --cacheinfo 100644,${'1'.repeat(40)},.gitignore
    git update-index --skip-worktree .gitignore`,
};

for (const [name, configured] of Object.entries(HOSTILE))
  test(`glob and grep run nothing that the project configured: ${name}`, async (t) => {
    const { root, run } = bench(t);
    const program = join(root, 'program.sh');
    writeFileSync(program, `#!/bin/sh\ntouch ${join(root, 'ran')}\n`, { mode: 0o755 });
    await run('bash', { command: `git init -q; echo a > a.txt; ${configured(program)}` });
    assert.equal((await run('glob', { pattern: '*.txt' })).text, 'a.txt');
    assert.equal((await run('grep', { pattern: '^a$' })).text, 'a.txt:1: a');
    assert.equal(existsSync(join(root, 'ran')), false);
  });

test('glob leaves out what any .gitignore of the repository names, and lists what git tracks', async (t) => {
  const { run } = bench(t);
  await run('bash', {
    command: `git init -q; mkdir -p sub/deep out; echo '*.log' > .gitignore; echo private > sub/.gitignore
      touch a.log a.txt sub/private sub/b.txt sub/deep/c.log sub/deep/c.txt; git add a.txt`,
  });
  const names = async (path: string): Promise<string> =>
    (await run('glob', { pattern: '**/*', path })).text;
  assert.equal(await names('.'), '.gitignore\na.txt\nsub/.gitignore\nsub/b.txt\nsub/deep/c.txt');
  assert.equal(await names('sub'), '.gitignore\nb.txt\ndeep/c.txt');
});

test('a call that no tool takes is a result, not an end', async (t) => {
  const { run } = bench(t);
  assert.equal((await run('fly', {})).text, 'there is no tool fly');
});

test('a diff shows each change with a little around it', async () => {
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i + 1}`);
  const changed = lines.with(9, 'TEN').with(299, 'LAST');
  assert.equal(
    await lineDiff(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`),
    [
      '   8   line 8',
      '   9   line 9',
      '  10 - line 10',
      '  10 + TEN',
      '  11   line 11',
      '  12   line 12',
      '   ⋯',
      ' 298   line 298',
      ' 299   line 299',
      ' 300 - line 300',
      ' 300 + LAST',
    ].join('\n'),
  );
  assert.equal(await lineDiff('a\n', 'a\nb\n'), '   1   a\n   2 + b');
  assert.equal(await lineDiff('', 'new\n'), '   1 + new');
  assert.equal(await lineDiff('old\n', ''), '   1 - old');
  assert.equal(await lineDiff('same', 'same'), '');
});

test('a diff of two texts that share nothing is short and soon there', async () => {
  const [old, now] = ['a', 'b'].map((word) =>
    Array.from({ length: 20_000 }, (_, i) => word + i).join('\n'),
  );
  const diff = (await lineDiff(old ?? '', now ?? '')).split('\n');
  assert.deepEqual([diff.length, diff[0], diff.at(-1)], [401, '   1 - a0', '… 39600 more lines']);
});
