import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ofType, workshop, type Workshop } from './workshop.ts';

/** Runs a command with much output where it is asked to, answers at length otherwise; a summary repeats its instructions. */
const worker = (summary: string): string => `
  if (tools.length === 0) {
    const text = messages.map((message) => message.text).join('\\n');
    return ${summary};
  }
  if (last.role === 'user' && last.text === 'run') return { calls: [{ tool: 'bash', args: { command: 'seq 1 4000' } }] };
  return { text: Array.from({ length: 250 }, (_, i) => 'word' + i).join(' ') };
`;
const WORKER = worker("{ text: 'SUMMARY with ' + (/WISH-\\d+/.exec(text)?.[0] ?? 'nothing') }");
const BROKEN = worker("{ status: 400, text: 'no' }");

const notices = ({ events }: Workshop): readonly string[] =>
  ofType(events, 'notice').map(({ text }) => text);

test('B1 instructions are used also where moving results out would be enough', async (t) => {
  const shop = await workshop(t, { script: WORKER, windowTokens: 200_000 });
  for (let i = 0; i < 8; i++) await shop.line('run');
  await shop.line('/compact keep WISH-7');
  assert.match(ofType(shop.events, 'compaction-end')[0]?.summary ?? '', /SUMMARY with WISH-7/);
  assert.deepEqual(notices(shop), []);
});

test('B1 instructions that no model follows are said to be unused, with the reason', async (t) => {
  const cases = [
    [WORKER, 'sliding-window', 'sliding-window made no summary'],
    [BROKEN, 'pi', 'the model failed to write the summary, and an extract replaces it'],
  ] as const;
  for (const [script, preset, why] of cases) {
    const settings = { compaction: { preset } };
    const shop = await workshop(t, { script, settings, windowTokens: 60_000 });
    for (let i = 0; i < 15; i++) await shop.line(`Tell me about FACT-${i}`);
    await shop.line('/compact keep WISH-7');
    assert.deepEqual(notices(shop), [`The instructions were not used: ${why}.`]);
  }
});

test('B1 after three failures the notice says that summaries are made without a model', async (t) => {
  const shop = await workshop(t, { script: BROKEN });
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 4; j++) await shop.line(`Tell me about FACT-${i}-${j}`);
    await shop.line('/compact keep WISH-7');
  }
  assert.equal(
    notices(shop).at(-1),
    'The instructions were not used: summaries are made without a model now; /model changes that.',
  );
});

test('B1 the same instructions after an undo are followed again, and nothing else is said', async (t) => {
  const shop = await workshop(t, { script: WORKER });
  for (let i = 0; i < 4; i++) await shop.line(`Tell me about FACT-${i}`);
  for (let i = 0; i < 2; i++) {
    await shop.line('/compact keep WISH-7');
    await shop.line('/undo compaction');
  }
  const made = ofType(shop.events, 'compaction-end').map(({ summary = '' }) => summary);
  assert.deepEqual(
    made.map((summary) => summary.includes('SUMMARY with WISH-7')),
    [true, true],
  );
  assert.deepEqual(notices(shop), []);
});
