import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { conversation } from './conversation.ts';
import { bobbin, folder } from './run.ts';

test('inspect shows turns, tokens of each message, pairs, and what the policy would do and why', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 's.json'), JSON.stringify(conversation(4).slice(0, 9)));
  const { status, stdout, stderr } = await bobbin(['inspect', 's.json', '--counter', 'chars4'], {
    cwd: home,
  });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.equal(
    stdout,
    `s.json
  openai · 1 turn · 3 rounds · 9 messages · 2 pairs · 891 tokens by chars4

Before the first turn  8 tokens
   0 system          8          You are a coding agent.

Turn 1  883 tokens
   1 user           18          Rename the parser in src/parser.ts. Never touch…
   2 assistant      11          → read_file src/part-0.ts
   3 tool          407 ████████ ↳ read_file src/part-0.ts
   4 assistant       9          Part 0 calls parse() twice.
   5 assistant      11          → read_file src/part-1.ts
   6 tool          407 ████████ ↳ read_file src/part-1.ts
   7 assistant       9          Part 1 calls parse() twice.
   8 assistant      11          (no result: read_file) → read_file src/part-2.ts

What the preset ladder would do
  Nothing: 891 tokens, the soft limit is 108,300, the limit 127,500.

                                                          limit 127.5k ╷
  now                                                                  │     891

          ■ system  █ user  ▓ assistant  ▒ results
`,
  );
});

test('inspect tells what each rung would free, and draws before and after', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 's.json'), JSON.stringify(conversation(40)));
  const args = ['inspect', 's.json', '--counter', 'chars4', '--budget', '4000'];
  const { status, stdout } = await bobbin(args, { cwd: home });
  assert.equal(status, 0);
  assert.match(
    stdout,
    /\nWhat the preset ladder would do\n {2}Compact, because \d+ tokens > limit 4000\n/,
  );
  assert.match(stdout, /\n {2}summarize +frees +[\d.]+k +\d+ messages before the cut/);
  assert.match(stdout, /\n {2}leaves [\d,]+ tokens in \d+ messages\n/);
  assert.match(stdout, /\n {2}now +▓*▒.*\n {2}after +▚/);
});

test('inspect shows text of others without what could steer a terminal', async (t) => {
  const home = folder(t);
  const content = '\u001B[2Jgone\u0007\u009B31m 中文字符 👩‍👩‍👧‍👦 '.repeat(20);
  writeFileSync(join(home, 's.json'), JSON.stringify([{ role: 'user', content }]));
  const { stdout } = await bobbin(['inspect', 's.json'], { cwd: home });
  assert.match(stdout, /\[2Jgone 31m 中文字符 👩‍👩‍👧‍👦 \[2Jgone/);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
});

test('inspect reads what is piped to it, with - or without a FILE, and says where it estimates', async () => {
  const stdin = '[{"role":"user","content":"hi"}]';
  const bare = await bobbin(['inspect'], { stdin });
  assert.deepEqual(await bobbin(['inspect', '-'], { stdin }), bare);
  assert.equal(bare.status, 0);
  assert.match(
    bare.stdout,
    /^stdin\n {2}openai · 1 turn · .* tokens by estimate×1\.300\n {2}Estimated, on the safe side: /,
  );
});
