import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { here, folder } from './run.ts';

/** What new users typed, and the one line that helps them. */
const MISTAKES: readonly (readonly [command: string, line: RegExp])[] = [
  [
    'compact chat.json --format anthropic',
    /^bobbin: chat\.json:1:\d+: messages\[1\]: must be a message of Anthropic Messages, is one of OpenAI Chat Completions: use --format openai\n$/,
  ],
  [
    'compact chat.json --thrift frugl',
    /not "frugl" \(did you mean frugal\?\); see bobbin compact --help\n$/,
  ],
  ['compact chat.json --thrift frugal --preset pi', /^bobbin: --thrift is for the preset ladder/],
  ['compact chat.json --thrift frugal --budget 900', /^bobbin: --thrift goes with --window/],
  ['audit empty.json', /^bobbin: empty\.json: is empty\n$/],
  ['replay none.json', /^bobbin: none\.json: has no messages to replay\n$/],
  ['serve --preset lader', /not "lader" \(did you mean ladder\?\); see bobbin serve --help\n$/],
  ['serve --thrift frugl', /not "frugl" \(did you mean frugal\?\); see bobbin serve --help\n$/],
];

const CHAT = [
  { role: 'user', content: 'Read everything. Never restart db-1.' },
  ...Array.from({ length: 30 }, (_, i) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `c${i}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `c${i}`, content: `file ${i}\n${'compute(1);\n'.repeat(120)}` },
  ]).flat(),
];

function files(t: TestContext): string {
  const cwd = folder(t);
  writeFileSync(join(cwd, 'chat.json'), JSON.stringify(CHAT));
  writeFileSync(join(cwd, 'empty.json'), '');
  writeFileSync(join(cwd, 'none.json'), '[]');
  return cwd;
}

for (const [command, line] of MISTAKES)
  test(`bobbin ${command}: one line says what to do`, async (t) => {
    const { status, stdout, stderr } = await here(command.split(' '), { cwd: files(t) });
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, line);
    assert.equal(stderr.split('\n').length, 2);
  });

test('compact --thrift says how much of older results stays', async (t) => {
  const cwd = files(t);
  const sizes: number[] = [];
  for (const thrift of ['frugal', 'careful', 'gentle']) {
    const args = ['compact', 'chat.json', '--window', '24000', '--thrift', thrift];
    const { status, stdout } = await here(args, { cwd });
    assert.equal(status, 0);
    assert.equal((JSON.parse(stdout) as unknown[]).length, CHAT.length, 'no turn is summarised');
    sizes.push(stdout.length);
  }
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => a - b),
  );
  assert.ok(new Set(sizes).size > 1, sizes.join(' '));
});
