import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  memoryArtifacts,
  type Message,
  type Policy,
  type ProviderRules,
  type Summarizer,
} from '@bobbin/core';
import {
  ALTERNATING_RULES,
  ANTHROPIC_RULES,
  chars4,
  compact,
  emptyPlan,
  EMPTY_SUMMARY,
  ladder,
  messagesOnly,
  OPENAI_RULES,
  PRESETS,
  render,
  STRICT_RULES,
  type CompactorConfig,
} from '@bobbin/core/internal';
import {
  assistant,
  call,
  expectValid,
  image,
  opaque,
  promptLines,
  reasoning,
  result,
  round,
  system,
  thread,
  user,
  withMeta,
} from '@bobbin/testing';

const FOLDER = join(import.meta.dirname, 'golden');
const UPDATE = process.env['BOBBIN_UPDATE_GOLDEN'] === '1';

/** Says the same of everything, so that a prompt's shape does not depend on how summaries are made. */
const plain: Summarizer = {
  id: 'plain',
  summarize: ({ nodes, round: number, splitTurn }) =>
    Promise.resolve({
      ...EMPTY_SUMMARY,
      round: number,
      firstTurn: nodes[0]?.turn ?? 0,
      lastTurn: nodes.at(-1)?.turn ?? 0,
      prose: 'What was said so far.',
      splitTurn:
        splitTurn === undefined ? null : { turn: splitTurn.turn, text: 'How the turn began.' },
    }),
};

const lines = (name: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `${name} ${i + 1}`).join('\n');

/** A session with all that a prompt has to put up with. */
function session(): readonly Message[] {
  const [a, b, dead] = [
    call('read', { path: '/a.ts' }, 'A'),
    call('bash', { command: 'npm test' }, 'B'),
    call('fetch', { url: 'https://example.org' }, 'D'),
  ];
  return [
    system('You are a careful engineer.'),
    user('Make the tests pass.', image('shot.png', { widthPx: 100, heightPx: 100 })),
    assistant(reasoning('Look first.', 'sig-1'), 'I look at both.', a, b),
    result(b, lines('FAIL test', 40), { outcome: 'failure', keyFields: { failed: 40 } }),
    result(a, lines('export const line', 900)),
    withMeta(user('Never touch the vendor folder.'), { pinned: true }),
    assistant(dead),
    user('Stop fetching things.'),
    result(dead, 'too late'),
    ...round('edit', { path: '/a.ts', content: lines('const fixed', 60) }, 'ok', {
      durability: 'ephemeral',
    }),
    assistant('The first half is fixed.'),
    assistant(opaque('compaction', { encrypted: 'c2VjcmV0' })),
    user('会話を続けてください 🧵'),
    ...round('bash', { command: 'npm test -- second' }, lines('pass', 200)),
    assistant(reasoning('Nearly there.', 'sig-2'), 'Only one test is left.'),
    user('Then fix it.'),
    assistant(call('bash', { command: 'npm test -- last' }, 'L')),
  ];
}

/** The prompt of a policy under hard pressure, one line a message. */
async function shown(policy: Policy, tokens: number, rules: ProviderRules): Promise<string> {
  const talk = thread(...session());
  const setting: CompactorConfig = {
    policy,
    budget: messagesOnly(tokens),
    counter: chars4(),
    rules,
    tools: {},
    summarizer: plain,
    artifacts: memoryArtifacts(),
    clock: { now: () => 0 },
  };
  const { plan, fits } = await compact(setting, {
    key: { tenant: 'default', thread: talk.id },
    head: talk.head ?? assert.fail(),
    window: talk.window(emptyPlan(talk.id)),
    plan: emptyPlan(talk.id, policy.style),
    task: 'Make the tests pass.',
    sent: talk.length,
    reason: 'golden',
  });
  const prompt = render(talk.window(plan), plan, setting);
  expectValid(talk, plan, prompt, { ...setting, limitTokens: tokens, fits });
  return `${promptLines(prompt).join('\n')}\n`;
}

const SCENES: Readonly<Record<string, () => Promise<string>>> = {
  ...Object.fromEntries(
    Object.entries(PRESETS).map(([name, policy]) => [
      name,
      () => shown(policy, 2_500, STRICT_RULES),
    ]),
  ),
  'at-rest': () => shown({ ...ladder(), targetShare: 1 }, 100_000, OPENAI_RULES),
  'anthropic-rules': () => shown(ladder(), 2_500, ANTHROPIC_RULES),
  'alternating-rules': () => shown(ladder(), 2_500, ALTERNATING_RULES),
  'hardly-any-space': () => shown(ladder(), 500, STRICT_RULES),
};

for (const [name, scene] of Object.entries(SCENES))
  test(`C27 the prompt of ${name} has its golden shape (BOBBIN_UPDATE_GOLDEN=1 writes it again)`, async () => {
    const path = join(FOLDER, `${name}.txt`);
    const text = await scene();
    if (UPDATE) writeFileSync(path, text);
    assert.equal(text, readFileSync(path, 'utf8'));
  });

test('C27 every golden prompt has its scene', () => {
  for (const file of readdirSync(FOLDER)) {
    const known = Object.hasOwn(SCENES, file.replace(/\.txt$/, ''));
    if (!known && UPDATE) rmSync(join(FOLDER, file));
    else assert.ok(known, file);
  }
});
