import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openaiChatProblems, type ChatMessage } from '@bobbin/codecs';
import { chars4Tokens } from './conversation.ts';
import { folder, here, SHIM, type Outcome } from './run.ts';
import { BUDGET, long } from './compact-run.ts';

test('a long transcript is compacted within the budget, in the format it came in', async () => {
  const { status, stdout, stderr } = await here(['compact', ...BUDGET], {
    stdin: JSON.stringify(long),
  });
  assert.equal(status, 0);
  const messages = JSON.parse(stdout) as ChatMessage[];
  assert.ok(chars4Tokens(messages) <= 3000 && chars4Tokens(messages) > 1000);
  assert.deepEqual(openaiChatProblems(messages), []);
  assert.deepEqual(messages[0], long[0]);
  assert.deepEqual(messages.at(-1), long.at(-1));
  assert.match(
    stderr,
    /^stdin: [\d,]+ → [\d,]+ tokens \(limit 3,000, by chars4\) · \d+ → \d+ messages · /,
  );
  assert.ok(stderr.trim().split('\n').length <= 2);
});

test('--out gets the output when all of it is done, and keeps its mode and its links', async (t) => {
  const home = folder(t);
  const [result, link] = [join(home, 'compacted.json'), join(home, 'link.json')];
  writeFileSync(join(home, 'session.json'), JSON.stringify(long, null, 2));
  writeFileSync(result, '[]');
  chmodSync(result, 0o640);
  symlinkSync('compacted.json', link);
  const args = ['compact', 'session.json', ...BUDGET, '--out', 'link.json'];
  const { status, stdout } = await here(args, { cwd: home });
  assert.deepEqual({ status, stdout }, { status: 0, stdout: '' });
  const messages = JSON.parse(readFileSync(result, 'utf8')) as ChatMessage[];
  assert.ok(chars4Tokens(messages) <= 3000);
  assert.equal(statSync(result).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(home).toSorted(), ['compacted.json', 'link.json', 'session.json']);
});

function refused(out: string): Outcome {
  return {
    status: 2,
    stdout: '',
    stderr: `bobbin: --out ${out} is the file that is read, the only whole copy; see bobbin compact --help\n`,
  };
}

test('--out is never the file that is read, whatever it is called', async (t) => {
  const home = folder(t);
  const text = JSON.stringify(long);
  writeFileSync(join(home, 's.json'), text);
  symlinkSync('s.json', join(home, 'link.json'));
  for (const args of [
    ['s.json', '--out', 's.json'],
    ['s.json', '--out', join(home, 's.json')],
    ['s.json', '--out', 'link.json', '--json'],
    ['link.json', '--out', 's.json'],
    ['-', 's.json', '--jsonl', '--out', 's.json'],
  ])
    assert.deepEqual(
      await here(['compact', ...BUDGET, ...args], { cwd: home }),
      refused(args.at(args.indexOf('--out') + 1) ?? ''),
    );
  const command = `"${process.execPath}" "${SHIM}" compact ${BUDGET.join(' ')} --out s.json < s.json`;
  const piped = spawnSync('sh', ['-c', command], { cwd: home, encoding: 'utf8' });
  const { status, stdout, stderr } = piped;
  assert.deepEqual({ status, stdout, stderr }, refused('s.json'));
  assert.equal(readFileSync(join(home, 's.json'), 'utf8'), text);
});

test('several files come out on stdout, one after the other; --out takes what one becomes', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'a.json'), '[{"role":"user","content":"a"}]');
  writeFileSync(join(home, 'b.json'), '[{"role":"user","content":"b"}]\n');
  const both = await here(['compact', 'a.json', 'b.json'], { cwd: home });
  assert.equal(both.stdout, '[{"role":"user","content":"a"}]\n[{"role":"user","content":"b"}]\n');
  assert.deepEqual(
    await here(['compact', 'a.json', 'b.json', '--out', 'both.json'], { cwd: home }),
    {
      status: 2,
      stdout: '',
      stderr:
        'bobbin: --out takes what one FILE becomes: compact them one by one; see bobbin compact --help\n',
    },
  );
  const lines = await here(['compact', '--jsonl', 'a.json', 'b.json', '--out', 'both.jsonl'], {
    cwd: home,
  });
  assert.equal(lines.status, 0);
  assert.equal(readFileSync(join(home, 'both.jsonl'), 'utf8').split('\n').length, 3);
});

test('a bad file leaves the output file untouched', async (t) => {
  const home = folder(t);
  writeFileSync(
    join(home, 'bad.json'),
    '[{"role":"user","content":"c"},\n {"role":"user","content":3}]',
  );
  writeFileSync(join(home, 'out.json'), 'precious');
  assert.deepEqual(await here(['compact', 'bad.json', '--out', 'out.json'], { cwd: home }), {
    status: 2,
    stdout: '',
    stderr:
      'bobbin: bad.json:2:27: messages[1].content: must be a string or a list of parts, is 3\n',
  });
  assert.equal(readFileSync(join(home, 'out.json'), 'utf8'), 'precious');
  assert.deepEqual(readdirSync(home).toSorted(), ['bad.json', 'out.json']);
});

test('- is stdin among files, and stdout for --out', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'a.json'), '[{"role":"user","content":"a"}]\n');
  const stdin = '[{"role":"user","content":"b"}]\n';
  const args = ['compact', '-', 'a.json', '--out', '-'];
  const { status, stdout, stderr } = await here(args, { cwd: home, stdin });
  assert.deepEqual(
    { status, stdout },
    { status: 0, stdout: `${stdin}[{"role":"user","content":"a"}]\n` },
  );
  assert.match(stderr, /^stdin: .*\na\.json: .*\n$/);
  assert.deepEqual(readdirSync(home), ['a.json']);
});

test('--out writes to what is no file without putting a file in its place', (t) => {
  const home = folder(t);
  const pipe = join(home, 'pipe');
  const command = `mkfifo pipe && cat pipe & sleep 0.2; "${process.execPath}" "${SHIM}" compact --out pipe < a.json; wait`;
  writeFileSync(join(home, 'a.json'), '[]');
  const options = { cwd: home, encoding: 'utf8', timeout: 20_000 } as const;
  const { stdout } = spawnSync('sh', ['-c', command], options);
  assert.deepEqual([stdout, statSync(pipe).isFIFO()], ['[]', true]);
});

test('--artifacts keeps the whole of what became an excerpt, and prints the command that shows it', async (t) => {
  const home = folder(t);
  const large = long.map((message) =>
    message.role === 'tool'
      ? { ...message, content: `${message.content as string}\n`.repeat(5) }
      : message,
  );
  writeFileSync(join(home, 's.json'), JSON.stringify(large));
  const compact = ['compact', 's.json', ...BUDGET];
  const without = await here(compact, { cwd: home });
  const kept = await here([...compact, '--artifacts', 'moved out'], { cwd: home });
  assert.equal(kept.stdout, without.stdout);
  assert.match(
    without.stderr,
    /\n {2}(?:1 message is an excerpt|\d+ messages are excerpts), whole only in s\.json; --artifacts FOLDER keeps the whole\n$/,
  );
  const named =
    /\n {2}\d+ artifacts? in moved out: bobbin artifact 'moved out' ([0-9a-f]+)\n$/.exec(
      kept.stderr,
    );
  const pointers = [...kept.stdout.matchAll(/Content - artifact:([0-9a-f]+)\]/g)].map(
    ([, id]) => id,
  );
  assert.ok(pointers.includes(named?.[1]));
  for (const id of new Set(pointers)) {
    const shown = await here(['artifact', 'moved out', `artifact:${id}`], { cwd: home });
    assert.deepEqual([shown.status, shown.stderr], [0, '']);
    assert.ok(large.some(({ role, content }) => role === 'tool' && content === shown.stdout));
  }
  assert.deepEqual(await here(['artifact', 'moved out', 'abc'], { cwd: home }), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: moved out: holds no artifact abc\n',
  });
});

test('--json prints the prompt, the plan and the figures', async () => {
  const { stdout } = await here(['compact', '--json', ...BUDGET], {
    stdin: JSON.stringify(long),
  });
  const { prompt, plan, figures } = JSON.parse(stdout) as {
    prompt: { messages: ChatMessage[]; tokens: number; cachePoints: number[] };
    plan: { policy: string; records: unknown[] };
    figures: Record<string, unknown>;
  };
  assert.equal(prompt.tokens, chars4Tokens(prompt.messages));
  assert.equal(plan.policy, 'ladder');
  assert.ok(plan.records.length > 0);
  assert.deepEqual(figures, {
    tokensBefore: chars4Tokens(long),
    tokensAfter: prompt.tokens,
    limitTokens: 3000,
    messagesBefore: long.length,
    messagesAfter: prompt.messages.length,
    compacted: true,
    fits: true,
    counter: 'chars4',
    preset: 'ladder',
  });
});

test('what no provider accepts is named, also if there is nothing to compact', async (t) => {
  const home = folder(t);
  const call = { id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } };
  const messages = [
    { role: 'user', content: 'List the files.' },
    { role: 'assistant', content: null, tool_calls: [call] },
  ];
  writeFileSync(join(home, 's.json'), JSON.stringify(messages));
  const { stderr } = await here(['compact', 's.json'], { cwd: home });
  assert.match(
    stderr,
    /nothing to do .* · 2 → 1 messages · calls that wait for their results −\d+ · /,
  );
});
