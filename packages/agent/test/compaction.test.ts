import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { textOf } from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import { decodeLine } from '@bobbin/stores';
import { submit } from '../src/loop/submit.ts';
import { ofType, workshop, type Asked, type Workshop } from './workshop.ts';

/** Answers everything at length; a summary says that it is one and what it was asked for. */
const TALKER = `
  if (tools.length === 0) {
    const text = messages.map((message) => message.text).join('\\n');
    return { text: 'MODEL SUMMARY. Asked: ' + (/WISH-\\d+/.exec(text)?.[0] ?? 'none') + '. Seen: ' + [...new Set(text.match(/FACT-\\d+/g) ?? [])].join(' ') };
  }
  const about = last.text.slice(0, 40);
  return { text: 'About ' + about + ': ' + Array.from({ length: 250 }, (_, i) => 'word' + i).join(' ') };
`;

const summaries = ({ requests }: Workshop): readonly Asked[] =>
  requests().filter(({ tools }) => tools.length === 0);
const work = ({ requests }: Workshop): readonly Asked[] =>
  requests().filter(({ tools }) => tools.length > 0);
const lastPrompt = (shop: Workshop): string => JSON.stringify(work(shop).at(-1)?.messages);

async function shownBy({ agent }: Workshop): Promise<string> {
  return JSON.stringify((await agent.session.present()).messages);
}

async function talked(shop: Workshop, from: number, to: number): Promise<void> {
  for (let i = from; i <= to; i++) await shop.line(`Tell me about FACT-${i} please`);
}

test('B1 /compact INSTRUCTIONS: the instructions reach the summarizer', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 4);
  await shop.line('/compact keep WISH-42');
  const [asked] = summaries(shop);
  assert.match(JSON.stringify(asked), /WISH-42/);
  assert.match(
    ofType(shop.events, 'compaction-end')[0]?.summary ?? '',
    /MODEL SUMMARY\. Asked: WISH-42/,
  );
});

test('B2 B3 /autocompact shows its settings and toggles; the choice is kept', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await shop.line('/autocompact');
  await shop.line('/autocompact off');
  const [shown, off] = ofType(shop.events, 'command');
  assert.deepEqual(shown?.data, {
    automatic: true,
    reserveTokens: 16_384,
    keepRecentTokens: 20_000,
  });
  assert.equal(off?.text, 'Auto-compaction is off; reserveTokens 16.4k, keepRecentTokens 20k.');
  assert.equal(ofType(shop.events, 'context').at(-1)?.automatic, false);
  assert.equal((await shop.again()).agent.machine.automatic, 'off');
});

test('B4 the context is what the provider reported, the rest estimated', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await shop.line('hello');
  const [answer] = ofType(shop.events, 'assistant');
  const {
    inputTokens = 0,
    outputTokens = 0,
    cacheReadTokens = 0,
    cacheWriteTokens = 0,
  } = answer?.usage ?? {};
  const reported = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  assert.equal(shop.agent.session.contextTokens, reported);
  await shop.agent.note({ typed: 'one more message' });
  const more = shop.agent.session.contextTokens;
  assert.ok(more > reported && more < reported + 20, `${reported} → ${more}`);
});

test('B5 B16 auto-compaction begins when the context leaves less than the reserve, and not before', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 30);
  const limit = 16_000 - 4_000;
  const compactions = ofType(shop.events, 'compaction-end');
  assert.ok(compactions.length >= 1);
  for (const { tokensBefore } of compactions)
    assert.ok(tokensBefore > limit * 0.9, String(tokensBefore));
  const largest = Math.max(
    ...ofType(shop.events, 'assistant').map(
      ({ usage }) => usage.inputTokens + usage.cacheReadTokens,
    ),
  );
  assert.ok(largest <= limit, `a request of ${largest}`);
});

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

test('B6 E8 one turn that is larger than the window is split, and its beginning summarised', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { text: 'SPLIT SUMMARY' };
      const n = Number(lastCall?.args.command?.match(/n=(\\d+)/)?.[1] ?? 0) + 1;
      if (n > 40) return { text: 'done' };
      return { calls: [{ tool: 'bash', args: { command: 'n=' + n + '; seq -f "output %g" 1 150' } }] };
    `,
  });
  assert.equal(await shop.line('one long turn'), 'done');
  assert.equal((await shop.agent.session.turns()).length, 1);
  assert.ok(ofType(shop.events, 'compaction-end').length >= 2);
  assert.match(lastPrompt(shop), /SPLIT SUMMARY/);
  assert.deepEqual(ofType(shop.events, 'error'), []);
});

test('B7 the summary enters as a user message that frames it as a hand-over', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 6);
  await shop.line('/compact');
  await shop.line('and now?');
  const first = work(shop)
    .at(-1)
    ?.messages.find(({ role }) => role !== 'system');
  assert.equal(first?.role, 'user');
  assert.match(first?.text ?? '', /^The work so far was done by another language model/);
});

test('A14 B8 the session file is append-only JSONL with a compaction event; whoever reads it can rebuild the prompt', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 6);
  const before = readFileSync(shop.agent.session.file, 'utf8');
  await shop.line('/compact');
  const after = readFileSync(shop.agent.session.file, 'utf8');
  assert.ok(after.startsWith(before));
  const lines = after.trim().split('\n').map(decodeLine);
  const event = lines.find((line) => typeof line !== 'string' && line.type === 'compaction');
  assert.ok(typeof event === 'object' && event.type === 'compaction');
  assert.match(event.summary ?? '', /MODEL SUMMARY/);
  assert.ok(event.tokensBefore > 0 && event.timestamp > 0);
  const kept = lines.findIndex(
    (line) => typeof line !== 'string' && line.type === 'message' && line.id === event.firstKeptId,
  );
  assert.ok(kept > 1);
  const again = await shop.again({ session: shop.agent.session.id });
  assert.equal(await shownBy(again), await shownBy(shop));
});

test('B9 A12 a second compaction does not reach behind the first, and its summary contains the first', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 5);
  await shop.line('/compact');
  await talked(shop, 6, 10);
  await shop.line('/compact');
  const second = summaries(shop).findLast(({ messages }) =>
    JSON.stringify(messages).includes('FACT-6'),
  );
  const transcript = second?.messages.map(({ text }) => text).join('\n') ?? '';
  assert.match(transcript, /MODEL SUMMARY/);
  assert.doesNotMatch(transcript, /Tell me about FACT-1 please\n\nAbout/);
  const { plan } = shop.agent.session.handle;
  assert.equal(plan.records.filter(({ kind }) => kind === 'summarize').length, 1);
  assert.match(ofType(shop.events, 'compaction-end').at(-1)?.summary ?? '', /FACT-1\b/);
});

test('B10 the summarizer gets no tools; a cheaper model by setting', async (t) => {
  const shop = await workshop(t, {
    script: TALKER,
    settings: { compaction: { model: 'scripted/demo' } },
  });
  await talked(shop, 1, 5);
  await shop.line('/compact');
  assert.deepEqual(summaries(shop), []);
  const [end] = ofType(shop.events, 'compaction-end');
  assert.match(end?.summary ?? '', /A demonstration; nothing of note happened/);
  const own = await workshop(t, { script: TALKER });
  await talked(own, 1, 5);
  await own.line('/compact');
  assert.deepEqual(summaries(own)[0]?.tools, []);
});

test('B11 the prompt asks for progress, constraints, paths, next steps and data', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 5);
  await shop.line('/compact');
  const prompt =
    summaries(shop)[0]
      ?.messages.map(({ text }) => text)
      .join('\n') ?? '';
  for (const wanted of [
    /progress/i,
    /decisions/i,
    /constraints/i,
    /preferences/i,
    /absolute.{0,40}path/i,
    /next steps|remains/i,
  ])
    assert.match(prompt, wanted);
});

test('B12 a summarizer that fails: shown, the extract stands in, nothing is lost; after three it is no longer asked', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { status: 401, text: 'no summaries for you' };
      return { text: Array.from({ length: 300 }, (_, i) => 'word' + i).join(' ') };
    `,
  });
  await talked(shop, 1, 4);
  for (let i = 0; i < 4; i++) {
    await shop.line('/compact');
    await talked(shop, 10 * i + 10, 10 * i + 13);
  }
  const ends = ofType(shop.events, 'compaction-end').slice(0, 4);
  assert.equal(ends.length, 4);
  assert.match(ends[0]?.warnings.join() ?? '', /no summaries for you; the extract is used instead/);
  assert.deepEqual(ends[3]?.warnings, []);
  assert.equal(summaries(shop).length, 3);
  assert.match(
    ofType(shop.events, 'notice')
      .map(({ text }) => text)
      .join('\n'),
    /failed to write a summary 3 times in a row/,
  );
  assert.match(lastPrompt(shop), /FACT-1\b/);
});

test('B12 a compaction that cannot be kept on disk is shown as such; nothing is lost and the session goes on', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 5);
  const { file } = shop.agent.session;
  const before = readFileSync(file, 'utf8');
  // The disk fails: where the file was, nothing can be written.
  renameSync(file, `${file}.kept`);
  mkdirSync(file);
  await shop.line('/compact');
  rmdirSync(file);
  renameSync(`${file}.kept`, file);
  const [end] = ofType(shop.events, 'compaction-end');
  assert.match(end?.warnings.join() ?? '', /the plan could not be committed.*EISDIR/);
  assert.equal(readFileSync(file, 'utf8'), before);
  assert.equal(await shop.line('still there?'), 'done');
  const again = await shop.again({ session: shop.agent.session.id });
  assert.equal((await again.agent.session.turns()).length, 6);
});

test('B16 overflow of the summarizer call: the oldest is left out or the extract stands in; the task goes on', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { status: 400, text: 'prompt is too long: 99999 tokens > 100 maximum' };
      const n = Number(lastCall?.args.command?.match(/n=(\\d+)/)?.[1] ?? 0) + 1;
      return n > 20 ? { text: 'done' } : { calls: [{ tool: 'bash', args: { command: 'n=' + n + '; seq -f "output %g" 1 150' } }] };
    `,
  });
  assert.equal(await shop.line('go'), 'done');
  assert.equal(ofType(shop.events, 'assistant').at(-1)?.text, 'done');
  assert.ok(ofType(shop.events, 'compaction-end').length >= 1);
});

test('B16 E3 the provider refuses the prompt: compacted and sent again, nothing lost', async (t) => {
  const shop = await workshop(t, {
    windowTokens: 60_000,
    script: `
      if (tools.length === 0) return { text: 'SUMMARY' };
      const size = JSON.stringify(messages).length;
      if (size > 48000) return { status: 400, text: 'prompt is too long: ' + Math.round(size / 4) + ' tokens > 12000 maximum' };
      return { text: Array.from({ length: 500 }, (_, i) => 'word' + i).join(' ') };
    `,
  });
  await talked(shop, 1, 24);
  assert.deepEqual(ofType(shop.events, 'error'), []);
  assert.equal(ofType(shop.events, 'assistant').length, 24);
  assert.match(ofType(shop.events, 'notice')[0]?.text ?? '', /The provider refused the prompt/);
  assert.ok(shop.agent.session.windowTokens <= 12_000);
});

test('B16 typing while compacting is queued and sent; the answer comes behind the compaction', async (t) => {
  const shop = await workshop(t, {
    script: TALKER.replace("return { text: 'MODEL", "return { delayMs: 300, text: 'MODEL"),
  });
  await talked(shop, 1, 4);
  shop.agent.compact();
  await submit(shop.agent, 'typed meanwhile');
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ofType(shop.events, 'queued').at(-1)?.texts, ['typed meanwhile']);
  assert.equal(await shop.agent.rest(), 'done');
  const order = shop.events.map(({ type }) => type);
  assert.ok(order.lastIndexOf('compaction-end') < order.lastIndexOf('user'));
  assert.match(ofType(shop.events, 'assistant').at(-1)?.text ?? '', /^About typed meanwhile/);
});

test('B10 B16 Esc while compacting: nothing has changed, and what was typed comes back', async (t) => {
  const shop = await workshop(t, {
    script: TALKER.replace("return { text: 'MODEL", "return { delayMs: 60000, text: 'MODEL"),
  });
  await talked(shop, 1, 4);
  const before = readFileSync(shop.agent.session.file, 'utf8');
  shop.agent.compact();
  await submit(shop.agent, 'typed meanwhile');
  while (summaries(shop).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  shop.agent.interrupt();
  assert.equal(await shop.agent.rest(), 'interrupted');
  assert.deepEqual(ofType(shop.events, 'returned').at(-1)?.texts, ['typed meanwhile']);
  assert.equal(ofType(shop.events, 'compaction-stopped').at(-1)?.reason, 'interrupted');
  assert.equal(readFileSync(shop.agent.session.file, 'utf8'), before);
});

test('B16 Esc while a tool runs: its result is kept as interrupted, and the session goes on', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (last.role === 'user' && last.text === 'go') return { calls: [{ tool: 'bash', args: { command: 'echo begun; sleep 60' } }, { tool: 'glob', args: { pattern: '*' } }] };
      return { text: messages.filter(({ role }) => role === 'tool').map(({ text }) => text).join(' ') };
    `,
  });
  const done = shop.line('go');
  while (ofType(shop.events, 'tool-output').length === 0)
    await new Promise((resolve) => setTimeout(resolve, 10));
  shop.agent.interrupt();
  assert.equal(await done, 'interrupted');
  const ends = ofType(shop.events, 'tool-end').map(({ text }) => text);
  assert.match(ends[0] ?? '', /begun\n\[interrupted by the user\]/);
  assert.match(ends[1] ?? '', /Interrupted by the user before it ran/);
  await shop.line('and?');
  assert.match(
    ofType(shop.events, 'assistant').at(-1)?.text ?? '',
    /begun.*Interrupted by the user before it ran/s,
  );
});

test('B16 a switch to a smaller window: the old model summarises, then the new one goes on within its window', async (t) => {
  const shop = await workshop(t, { script: TALKER, windowTokens: 60_000 });
  await talked(shop, 1, 30);
  assert.equal(ofType(shop.events, 'compaction-end').length, 0);
  const small = shop.agent.session.model.name.replace('@60000', '@9000');
  await shop.line(`/model ${small}`);
  assert.equal(shop.agent.session.windowTokens, 9_000);
  assert.equal(ofType(shop.events, 'compaction-end').length, 1);
  assert.match(JSON.stringify(summaries(shop)[0]), /FACT-1\b/);
  await shop.line('still there?');
  assert.deepEqual(ofType(shop.events, 'error'), []);
  const asked = work(shop).length;
  await shop.line('/model scripted/none');
  assert.match(ofType(shop.events, 'error').at(-1)?.error ?? '', /there is no script none/);
  await shop.line('and now?');
  assert.equal(work(shop).length, asked + 1);
});

test('B17 the context event says that auto-compaction is off', async (t) => {
  const shop = await workshop(t, { script: TALKER, env: { BOBBIN_DISABLE_AUTOCOMPACT: '1' } });
  await talked(shop, 1, 60);
  assert.equal(ofType(shop.events, 'context').at(-1)?.automatic, false);
  assert.equal(ofType(shop.events, 'compaction-end').length, 0);
  assert.match(
    ofType(shop.events, 'error')[0]?.error ?? '',
    /context is full and auto-compaction is off/,
  );
  assert.equal(ofType(shop.events, 'end').at(-1)?.reason, 'stopped');
  await shop.line('/compact');
  assert.equal(await shop.line('go on'), 'done');
});

test('B18 the user is told what a compaction freed and cost, and that many lower accuracy', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  for (let i = 0; i < 2; i++) {
    await talked(shop, 10 * i, 10 * i + 4);
    await shop.line('/compact');
  }
  const [first, second] = ofType(shop.events, 'compaction-end');
  assert.match(
    first?.notice ?? '',
    /^Compacted [\d.]+k → [\d.]+k tokens: [\d.]+k? freed for [\d.]+k? tokens of summarizing\.$/,
  );
  assert.match(
    second?.notice ?? '',
    /This is compaction 2 of the session; many of them lower accuracy\.$/,
  );
  assert.ok(
    (first?.tokensBefore ?? 0) > (first?.tokensAfter ?? 0) && (first?.usage.inputTokens ?? 0) > 0,
  );
  assert.match(first?.changes[0] ?? '', /^\d+ messages \(turns 1–\d\) became a summary$/);
});

/** Runs commands until it has run so many, and goes on where it is told to. */
const RUNNER = `
  if (/summar|checkpoint/.test(last.text) || tools.length === 0) return { text: 'MODEL SUMMARY: the commands go on' };
  const n = Number(lastCall?.args.command?.match(/n=(\\d+)/)?.[1] ?? 0) + 1;
  return n > 30 ? { text: 'done' } : { calls: [{ tool: 'bash', args: { command: 'n=' + n + '; seq -f "output %g" 1 150' } }] };
`;

test('B22 the opencode preset: after an automatic compaction within a task the model is told to continue, and does', async (t) => {
  const settings = { compaction: { preset: 'opencode' } };
  const script = RUNNER.replace('n > 30', 'n > 30 || (n === 1 && /^Continue/.test(last.text))');
  const shop = await workshop(t, { script, settings });
  assert.equal(await shop.line('go'), 'done');
  const compactions = ofType(shop.events, 'compaction-end').length;
  assert.ok(compactions >= 1);
  const told = ofType(shop.events, 'user').filter(
    ({ text }) => text === 'Continue if you have next steps.',
  );
  assert.equal(told.length, compactions);
  assert.equal(
    work(shop).filter(({ messages }) => messages.at(-1)?.text === told[0]?.text).length,
    compactions,
  );
});

test('B22 the opencode preset: nobody is told to continue with what a person has just said, nor behind the last answer', async (t) => {
  const settings = { compaction: { preset: 'opencode' } };
  const shop = await workshop(t, { script: PRESET_TALKER, settings });
  await talked(shop, 1, 45);
  assert.ok(ofType(shop.events, 'compaction-end').length >= 1);
  assert.equal(ofType(shop.events, 'assistant').length, 45);
  assert.equal(ofType(shop.events, 'user').length, 45);
});

test('instruction files are whole in every prompt, as they are on disk now', async (t) => {
  const shop = await workshop(t, {
    script: TALKER,
    files: { 'AGENTS.md': 'Order one.', 'CLAUDE.md': 'Order two.' },
  });
  await shop.line('hello');
  assert.match(lastPrompt(shop), /Order one\..*Order two\./s);
  writeFileSync(join(shop.folders.project, 'AGENTS.md'), 'Order three.');
  await shop.line('hello again');
  assert.match(lastPrompt(shop), /Order three\./);
  assert.doesNotMatch(lastPrompt(shop), /Order one\./);
});

test('C11 a long result is shortened when first seen; read_artifact gives the whole of it, also in a new process', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { text: 'SUMMARY' };
      if (last.role === 'user' && last.text === 'go') return { calls: [{ tool: 'bash', args: { command: 'seq -f "number %g of many" 1 3000' } }] };
      const id = /artifact:([\\w-]+)/.exec(messages.map(({ text }) => text).join('\\n'))?.[1];
      if (last.role === 'user' && last.text === 'read') return { calls: [{ tool: 'read_artifact', args: { id, search: 'number 1500 ' } }] };
      return { text: last.text.slice(0, 400) };
    `,
  });
  await shop.line('go');
  assert.match(ofType(shop.events, 'notice')[0]?.text ?? '', /A long result was shortened/);
  const again = await shop.again({ session: shop.agent.session.id });
  await again.line('read');
  assert.match(ofType(again.events, 'tool-end')[0]?.text ?? '', /number 1500 of many/);
});

test('B13 C11 an image that a tool read is named by its path in the summary, and stays retrievable', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { text: 'SUMMARY' };
      if (last.role === 'user' && last.text === 'look') return { calls: [{ tool: 'read', args: { path: 'shot.gif' } }] };
      return { text: Array.from({ length: 300 }, (_, i) => 'word' + i).join(' ') };
    `,
    files: { 'shot.gif': 'GIF89a, not really' },
  });
  await shop.line('look');
  await talked(shop, 1, 8);
  await shop.line('/compact');
  const text = ofType(shop.events, 'compaction-end').at(-1)?.summary ?? '';
  assert.match(
    text,
    new RegExp(join(shop.folders.project, 'shot.gif').replaceAll(/[.\\]/g, '\\$&')),
  );
  assert.ok((await shop.agent.session.path()).some(({ message }) => textOf(message) === 'look'));
});

test('B13 C11 an attached image is an artifact: behind a compaction the model reads it back by its id', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { text: 'SUMMARY' };
      const id = /artifact:([0-9a-f]{32})/.exec(messages.map(({ text }) => text).join('\\n'))?.[1];
      if (last.role === 'user' && last.text === 'show it again') return { calls: [{ tool: 'read_artifact', args: { id } }] };
      return { text: Array.from({ length: 300 }, (_, i) => 'word' + i).join(' ') };
    `,
    files: { 'shot.gif': 'GIF89a, not really' },
  });
  await shop.line('what is in @shot.gif ?');
  const [first] = await shop.agent.session.path();
  assert.deepEqual(
    first?.message.parts.map(({ kind }) => kind),
    ['text', 'text', 'image'],
  );
  await talked(shop, 1, 8);
  await shop.line('/compact');
  const shown = (await shop.agent.session.present()).messages;
  assert.ok(!shown.some(({ message }) => message.parts.some(({ kind }) => kind === 'image')));
  await shop.line('show it again');
  const [end] = ofType(shop.events, 'tool-end');
  assert.match(end?.text ?? '', /^The image artifact:[0-9a-f]{32}$/);
  const result = (await shop.agent.session.path()).findLast(
    ({ message }) => message.role === 'tool',
  );
  assert.match(
    JSON.stringify(result?.message.original),
    new RegExp(Buffer.from('GIF89a, not really').toString('base64')),
  );
});

/** Answers at length, and summarises where it is asked to, with or without tools. */
const PRESET_TALKER = `
  const text = messages.map((message) => message.text).join('\\n');
  if (/at most two sentences/.test(last.text)) return { text: 'I looked into FACT-1. I told what it is. And more.' };
  if (/summar|checkpoint/.test(last.text) || tools.length === 0) return { text: 'MODEL SUMMARY of ' + [...new Set(text.match(/FACT-\\d+/g) ?? [])].join(' ') };
  return { text: 'About ' + last.text.slice(0, 40) + ': ' + Array.from({ length: 250 }, (_, i) => 'word' + i).join(' ') };
`;

const writers = ({ events }: Workshop): readonly string[] =>
  ofType(events, 'compaction-end')
    .flatMap((end) => end.events)
    .flatMap((event) => (event.kind === 'summarized' ? [event.summarizer] : []));

test('B11 C16 the agent asks for a hand-over in a call of its own; its id names the prompt and its version', async (t) => {
  const shop = await workshop(t, { script: PRESET_TALKER, windowTokens: 60_000 });
  await talked(shop, 1, 4);
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
    await talked(shop, 1, 4);
    const sent = shop.requests().at(-1);
    await shop.line('/compact');
    const asked = shop.requests().find(({ messages }) => aim.test(messages.at(-1)?.text ?? ''));
    assert.deepEqual(asked?.tools, sent?.tools);
    assert.deepEqual(asked?.messages.slice(0, sent?.messages.length), sent?.messages);
    assert.match(asked?.messages.at(-2)?.text ?? '', /^About Tell me about FACT-4/);
    assert.match(writers(shop).join(), new RegExp(`\\+${preset}-prose-\\d+$`));
    const [end] = ofType(shop.events, 'compaction-end');
    assert.match(end?.summary ?? '', /MODEL SUMMARY of FACT-1 FACT-2 FACT-3 FACT-4/);
    assert.ok((end?.usage.cacheReadTokens ?? 0) > 1_000, JSON.stringify(end?.usage));
  });

test('B22 with the preset opencode two sentences by the model are shown, and the list of sessions tells what each is about', async (t) => {
  const settings = { compaction: { preset: 'opencode' } };
  const shop = await workshop(t, { script: PRESET_TALKER, windowTokens: 60_000, settings });
  await talked(shop, 1, 4);
  await shop.line('/compact');
  const notices = ofType(shop.events, 'notice').map(({ text }) => text);
  assert.ok(notices.includes('I looked into FACT-1. I told what it is.'), notices.join('\n'));
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
