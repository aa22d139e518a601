import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { textOf } from '@bobbin/core';
import { decodeLine } from '@bobbin/stores';
import { ofType, workshop, type Workshop } from './workshop.ts';
import { TALKER, lastPrompt, summaries, talked, work } from './talking.ts';

async function shownBy({ agent }: Workshop): Promise<string> {
  return JSON.stringify((await agent.session.present()).messages);
}

test('B1 /compact INSTRUCTIONS: the instructions reach the summarizer', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 6);
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

test('A14 B8 the session file is append-only JSONL with a compaction event; a reader can rebuild the prompt from it', async (t) => {
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

test('B9 A12 a second compaction does not reach back before the first, and its summary contains the first', async (t) => {
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

test('B18 the user sees what a compaction freed and cost, and that many lower accuracy', async (t) => {
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

test('B13 C11 an attached image is an artifact: after a compaction the model reads it back by its id', async (t) => {
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
