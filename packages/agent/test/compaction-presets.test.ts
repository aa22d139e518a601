import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@bobbin/core/internal';
import { ofType, workshop, type Workshop } from './workshop.ts';
import { TALKER, talked, work } from './talking.ts';

test('B5 B6 B24 the pi preset goes by the settings: it begins at their reserve, keeps their recent tokens, and cuts before a user message', async (t) => {
  const shop = await workshop(t, {
    script: TALKER,
    windowTokens: 60_000,
    settings: { compaction: { preset: 'pi', reserveTokens: 15_000, keepRecentTokens: 3_000 } },
  });
  for (let i = 1; ofType(shop.events, 'compaction-end').length === 0; i++) await talked(shop, i, i);
  const { plan } = shop.agent.session.handle;
  const path = await shop.agent.session.path();
  assert.equal(path[plan.start]?.message.role, 'user');
  const [end] = ofType(shop.events, 'compaction-end');
  const before = ofType(shop.events, 'compaction-start')[0]?.tokensBefore ?? 0;
  assert.ok(before > 45_000 && before < 47_000, `began at ${before}`);
  const { counter } = shop.agent.session.handle;
  const kept = path.slice(plan.start, plan.threadVersion).map(({ message }) => message);
  const tokens = kept.reduce((sum, message) => sum + counter.message(message), 0);
  assert.ok(tokens > 1_500 && tokens <= 4_000, `kept ${tokens}`);
  // The whole of what is older is a summary; nothing is moved to artifacts first, as the agent's own policy would.
  assert.deepEqual(end?.rungs, ['summarize']);
  assert.match(writers(shop).join(), /\+hand-over-prose-\d+$/);
});

test('B24 the pi preset works in a window smaller than its default figures', async (t) => {
  const settings = { compaction: { preset: 'pi' } };
  const shop = await workshop(t, { script: TALKER, settings });
  await talked(shop, 1, 30);
  assert.deepEqual(ofType(shop.events, 'error'), []);
  assert.equal(ofType(shop.events, 'assistant').length, 30);
  const compactions = ofType(shop.events, 'compaction-end');
  assert.ok(
    compactions.length >= 1 && compactions.length <= 4,
    `${compactions.length} compactions`,
  );
  for (const { rungs } of compactions) assert.deepEqual(rungs, ['summarize']);
});

/** Runs commands until it has run so many, and goes on if it is asked to. */
const RUNNER = `
  if (/summar|checkpoint/.test(last.text) || tools.length === 0) return { text: 'MODEL SUMMARY: the commands go on' };
  const n = Number(lastCall?.args.command?.match(/n=(\\d+)/)?.[1] ?? 0) + 1;
  return n > 30 ? { text: 'done' } : { calls: [{ tool: 'bash', args: { command: 'n=' + n + '; seq -f "output %g" 1 150' } }] };
`;

test('B22 the opencode preset: after an automatic compaction within a task the model is asked to continue, and does', async (t) => {
  const settings = { compaction: { preset: 'opencode' } };
  const script = RUNNER.replace('n > 30', 'n > 30 || (n === 1 && /^Continue/.test(last.text))');
  const shop = await workshop(t, { script, settings });
  assert.equal(await shop.line('go'), 'done');
  const compactions = ofType(shop.events, 'compaction-end').length;
  assert.ok(compactions >= 1);
  const requests = ofType(shop.events, 'user').filter(
    ({ text }) => text === 'Continue if you have next steps.',
  );
  assert.equal(requests.length, compactions);
  assert.equal(
    work(shop).filter(({ messages }) => messages.at(-1)?.text === requests[0]?.text).length,
    compactions,
  );
});

test('B22 the opencode preset: nobody is asked to continue with what a person has just said, nor after the last answer', async (t) => {
  const settings = { compaction: { preset: 'opencode' } };
  const shop = await workshop(t, { script: PRESET_TALKER, settings });
  await talked(shop, 1, 45);
  assert.ok(ofType(shop.events, 'compaction-end').length >= 1);
  assert.equal(ofType(shop.events, 'assistant').length, 45);
  assert.equal(ofType(shop.events, 'user').length, 45);
});

/** Answers at length, and summarises where it is asked to, with or without tools. */
const PRESET_TALKER = `
  const text = messages.map((message) => message.text).join('\\n');
  if (/at most two sentences/.test(last.text)) return { text: 'I looked into FACT-1. I said what it is. And more.' };
  if (/summar|checkpoint/.test(last.text) || tools.length === 0) return { text: 'MODEL SUMMARY of ' + [...new Set(text.match(/FACT-\\d+/g) ?? [])].join(' ') };
  return { text: 'About ' + last.text.slice(0, 40) + ': ' + Array.from({ length: 250 }, (_, i) => 'word' + i).join(' ') };
`;

const writers = ({ events }: Workshop): readonly string[] =>
  ofType(events, 'compaction-end')
    .flatMap((end) => end.events)
    .flatMap((event) => (event.kind === 'summarized' ? [event.summarizer] : []));

test('B11 C16 the agent asks for a hand-over in a call of its own; its id names the prompt and its version', async (t) => {
  const shop = await workshop(t, { script: PRESET_TALKER, windowTokens: 60_000 });
  await talked(shop, 1, 6);
  await shop.line('/compact');
  const asked = shop.requests().at(-1);
  assert.deepEqual(asked?.tools, []);
  assert.match(asked?.messages[0]?.text ?? '', /^You write the hand-over of a coding session/);
  assert.match(writers(shop).join(), /^scripted\/.*\+hand-over-prose-\d+$/);
});

for (const [preset, aim] of [
  ['codex', /You set a checkpoint/],
  ['opencode', /You summarise a working conversation/],
] as const)
  test(`B20 B22 with the preset ${preset} the summary is asked for in its words on top of the live prompt, which is read from the cache`, async (t) => {
    const settings = { compaction: { preset } };
    const shop = await workshop(t, { script: PRESET_TALKER, windowTokens: 60_000, settings });
    await talked(shop, 1, 6);
    const sent = shop.requests().at(-1);
    await shop.line('/compact');
    const asked = shop.requests().find(({ messages }) => aim.test(messages.at(-1)?.text ?? ''));
    assert.deepEqual(asked?.tools, sent?.tools);
    assert.deepEqual(asked?.messages.slice(0, sent?.messages.length), sent?.messages);
    assert.match(asked?.messages.at(-2)?.text ?? '', /^About Tell me about FACT-6/);
    assert.match(writers(shop).join(), new RegExp(`\\+${preset}-prose-\\d+$`));
    const [end] = ofType(shop.events, 'compaction-end');
    assert.match(end?.summary ?? '', /MODEL SUMMARY of FACT-1 FACT-2 FACT-3 FACT-4 FACT-5 FACT-6/);
    assert.ok((end?.usage.cacheReadTokens ?? 0) > 1_000, JSON.stringify(end?.usage));
  });

test('B22 with the preset opencode two sentences by the model are shown, and the list of sessions says what each is about', async (t) => {
  const settings = { compaction: { preset: 'opencode' } };
  const shop = await workshop(t, { script: PRESET_TALKER, windowTokens: 60_000, settings });
  await talked(shop, 1, 6);
  await shop.line('/compact');
  const notices = ofType(shop.events, 'notice').map(({ text }) => text);
  assert.ok(notices.includes('I looked into FACT-1. I said what it is.'), notices.join('\n'));
  const [end] = ofType(shop.events, 'compaction-end');
  assert.ok((end?.usage.outputTokens ?? 0) > 0);
  await shop.line('/resume');
  const listed = ofType(shop.events, 'command').at(-1);
  const [entry] = (listed?.data ?? []) as readonly { title: string; about: string }[];
  assert.equal(entry?.title, 'Tell me about FACT-1 please');
  assert.match(entry?.about ?? '', /FACT-4/);
  assert.match(listed?.text ?? '', /Tell me about FACT-1 please — .*FACT-4/);
});

test('a live prompt of another fork is not gone on from', async (t) => {
  const settings = { compaction: { preset: 'codex' } };
  const shop = await workshop(t, { script: PRESET_TALKER, windowTokens: 60_000, settings });
  await talked(shop, 1, 8);
  const turns = await shop.agent.session.turns();
  await shop.agent.session.moveHead(turns[6] as Node);
  await shop.line('/compact');
  const asked = shop.requests().at(-1);
  assert.deepEqual(asked?.tools, []);
  assert.doesNotMatch(JSON.stringify(asked), /FACT-8/);
});
