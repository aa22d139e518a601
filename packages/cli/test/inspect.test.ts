import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { conversation } from './conversation.ts';
import { bobbinOnTerminal, folder, here } from './run.ts';

test('inspect shows turns, tokens of each message, pairs, and what the policy would do and why', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 's.json'), JSON.stringify(conversation(4).slice(0, 9)));
  const { status, stdout, stderr } = await here(['inspect', 's.json', '--counter', 'chars4'], {
    cwd: home,
  });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.equal(
    stdout,
    `s.json
  openai · 1 turn · 3 rounds · 9 messages · 2 pairs · 891 tokens by chars4

Before the first turn  8 tokens
  m1 system          8          You are a coding agent.

Turn 1  883 tokens
  m2 user           18          Rename the parser in src/parser.ts. Never touch…
  m3 assistant      11          → read_file src/part-0.ts
  m4 tool          407 ████████ ↳ read_file src/part-0.ts
  m5 assistant       9          Part 0 calls parse() twice.
  m6 assistant      11          → read_file src/part-1.ts
  m7 tool          407 ████████ ↳ read_file src/part-1.ts
  m8 assistant       9          Part 1 calls parse() twice.
  m9 assistant      11          (no result: read_file) → read_file src/part-2.ts

What the preset ladder would do
  Nothing: 891 tokens, the limit is 127,500.

                                                          limit 127.5k ╷
  now                                                                  │     891

          ■ system  █ user  ▓ assistant  ▒ results
`,
  );
});

test('inspect shows what each rung would free, and draws before and after', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 's.json'), JSON.stringify(conversation(40)));
  const args = ['inspect', 's.json', '--counter', 'chars4', '--budget', '4000'];
  const { status, stdout } = await here(args, { cwd: home });
  assert.equal(status, 0);
  assert.match(
    stdout,
    /\nWhat the preset ladder would do\n {2}Compact, because 17,\d{3} tokens > limit 4,000\n/,
  );
  assert.match(
    stdout,
    /\n +−[\d,]+ {2}summarize: \d+ messages became one summary of [\d,]+ tokens, up to\n +turn \d+\n/,
  );
  assert.match(stdout, /\n {2}now +▓*▒.*\n {2}after +▚/);
});

test('inspect shows text of others without what could steer a terminal', async (t) => {
  const home = folder(t);
  const content = '\u001B[2Jgone\u0007\u009B31m 中文字符 👩‍👩‍👧‍👦 '.repeat(20);
  writeFileSync(join(home, 's.json'), JSON.stringify([{ role: 'user', content }]));
  const { stdout } = await here(['inspect', 's.json'], { cwd: home });
  assert.match(stdout, /\[2Jgone 31m 中文字符 👩‍👩‍👧‍👦 \[2Jgone/);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
});

test('inspect reads what is piped to it, with - or without a FILE, and says where it estimates', async () => {
  const stdin = '[{"role":"user","content":"hi"}]';
  const bare = await here(['inspect'], { stdin });
  assert.deepEqual(await here(['inspect', '-'], { stdin }), bare);
  assert.equal(bare.status, 0);
  assert.match(
    bare.stdout,
    /^stdin\n {2}openai · 1 turn · .* tokens by estimate×1\.300\n {2}Estimated, on the safe side: /,
  );
});

function numberOf(figure: string): number {
  return Number(figure.replace('−', '-').replaceAll(',', ''));
}

/** The column of figures that shows what becomes of what was said. */
function column(stdout: string): readonly number[] {
  return [...stdout.matchAll(/^ {3,}([+−]?[\d,]+) {2}\D/gm)].map(([, figure = '']) =>
    numberOf(figure),
  );
}

test('the figures of inspect and compact add up, notes and openers among them', async (t) => {
  const home = folder(t);
  const said = 'I looked at one more function. '.repeat(40);
  const rounds = Array.from({ length: 30 }, (_, i) => [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: said, signature: `s${i}` },
        { type: 'tool_use', id: `t${i}`, name: 'read', input: { path: `part-${i}.ts` } },
      ],
    },
    // The first call was interrupted.
    i === 0
      ? { role: 'user', content: 'Go on.' }
      : { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: said }] },
  ]).flat();
  const messages = [{ role: 'user', content: 'Read all parts.' }, ...rounds];
  writeFileSync(join(home, 's.json'), JSON.stringify(messages));
  const options = ['s.json', '--counter', 'chars4', '--budget', '6000'];
  const { stdout } = await here(['inspect', ...options], { cwd: home });
  assert.match(
    stdout,
    /Compact, because ([\d,]+) tokens > limit 6,000 \([\d,]+ were said, \+\d+ notes for\n {2}calls without a result\)\n/,
  );
  const figures = column(stdout);
  assert.ok(figures.length >= 4, stdout);
  const left = figures.at(-1);
  assert.equal(
    figures.slice(0, -1).reduce((sum, figure) => sum + figure),
    left,
  );

  const { stderr } = await here(['compact', ...options], { cwd: home });
  const [, before = '', after = ''] = /: ([\d,]+) → ([\d,]+) tokens/.exec(stderr) ?? [];
  assert.deepEqual([numberOf(before), numberOf(after)], [figures[0], left]);
  const parts = [...stderr.matchAll(/[+−][\d,]+/g)].map(([figure]) => numberOf(figure));
  assert.deepEqual(parts, figures.slice(1, -1));
});

test('a model that the text names counts, its window and its tokenizer; one that is given counts before it', async () => {
  const messages = [{ role: 'user', content: 'Hello!' }];
  const stdin = JSON.stringify({ model: 'gpt-4', messages });
  const own = await here(['inspect'], { stdin });
  assert.match(own.stdout, /\n {2}openai · gpt-4 · 1 turn · .* by cl100k\n/);
  assert.match(own.stdout, /the limit is 7,692\.\n/);
  const given = await here(['inspect', '--model', 'claude-opus-4-6'], { stdin });
  assert.match(given.stdout, /\n {2}openai · claude-opus-4-6 · .*·\n {2}6 tokens by estimate×/);
  assert.match(given.stdout, /: the tokenizer of claude-opus-4-6 is not public\.\n/);
  const unknown = await here(['inspect'], {
    stdin: JSON.stringify({ model: 'nobody-knows', messages }),
  });
  assert.match(unknown.stdout, /\n {2}openai · 1 turn · .* by estimate×/);
});

test('the model of a session file counts when it is compacted', async (t) => {
  const home = folder(t);
  const lines = [
    { type: 'session_meta', payload: { id: 's1', cwd: '/work', cli_version: '1' } },
    { type: 'turn_context', payload: { model: 'gpt-5.4' } },
    {
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello!' }] },
    },
  ];
  writeFileSync(join(home, 's.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { status, stderr } = await here(['compact', 's.jsonl'], { cwd: home });
  assert.equal(status, 0);
  assert.match(stderr, /, by o200k for gpt-5\.4\) · /);
});

test('the numbers of inspect are those by which a summary names messages', async (t) => {
  const home = folder(t);
  const messages = conversation(40);
  const replaced = messages.findIndex(({ content }) => content === 'Part 7 calls parse() twice.');
  const rule = { role: 'user', content: 'The budget of the parser must stay at 4711 ms.' } as const;
  writeFileSync(join(home, 's.json'), JSON.stringify(messages.toSpliced(replaced, 1, rule)));
  const options = ['s.json', '--counter', 'chars4', '--budget', '4000'];
  const result = await here(['compact', ...options], { cwd: home });
  const shown = await here(['inspect', ...options], { cwd: home });
  const [, named = ''] =
    /\[(m\d+)\] User: The budget of the parser must stay/.exec(result.stdout) ?? [];
  assert.equal(named, `m${replaced + 1}`);
  assert.match(shown.stdout, new RegExp(`\n +${named} user +\\d+ +The budget of the parser`));
});

for (const cols of isSoak() ? [36, 40, 60, 80] : [36]) {
  test(`inspect keeps within ${cols} columns, and files keep their names`, async (t) => {
    const cwd = folder(t);
    const text = JSON.stringify(conversation(40)).replaceAll(
      'src/part-',
      'packages/core/src/plan/strategies/part-',
    );
    writeFileSync(join(cwd, 'a-long-session.json'), text);
    const args = ['inspect', join(cwd, 'a-long-session.json'), '--budget', '4000'];
    const { written } = await bobbinOnTerminal(args, { cwd, cols, env: { NO_COLOR: '1' } });
    // On a slow machine a line of progress comes first, and is erased.
    const lines = written.split('\r\n').map((line) => line.split('\x1B[K').at(-1) ?? '');
    assert.deepEqual(
      lines.filter((line) => line.length > cols),
      [],
    );
    assert.match(lines[0] ?? '', /a-long-session\.json$/);
    const [limit = '', bar = ''] = lines.slice(lines.findIndex((line) => line.includes('╷')));
    assert.equal(limit.indexOf('╷'), bar.indexOf('│'));
    for (let i = 0; i < 40; i++)
      for (const sign of ['→', '↳'])
        assert.match(written, new RegExp(`${sign} read_file \\S+/part-${i}\\.ts\r\n`));
  });
}

test('inspect says in plain words what each rung does', async (t) => {
  const home = folder(t);
  const content = Array.from({ length: 400 }, (_, i) => `export const value${i} = ${i};`).join(
    '\n',
  );
  const messages = conversation(12).map((message, i) =>
    message.role === 'tool' && i > 24 ? { ...message, content } : message,
  );
  writeFileSync(join(home, 's.json'), JSON.stringify(messages));
  const { stdout } = await here(['inspect', 's.json', '--counter', 'chars4', '--budget', '6000'], {
    cwd: home,
  });
  assert.match(stdout, /\n +−[\d,]+ {2}excerpts: \d+ messages shortened to excerpts\n/);
});
