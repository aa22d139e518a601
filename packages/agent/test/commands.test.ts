import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { textOf } from '@bobbin/core';
import { listSessions } from '../src/session/sessions.ts';
import { runCommand } from '../src/loop/submit.ts';
import { ofType, workshop, type Workshop } from './workshop.ts';

const TALKER = `
  if (tools.length === 0) return { text: 'SUMMARY: ' + [...new Set(messages.map(({ text }) => text).join(' ').match(/FACT-\\d+/g) ?? [])].join(' ') };
  return { text: 'About ' + last.text.split('\\n')[0] + ': ' + Array.from({ length: 200 }, (_, i) => 'word' + i).join(' ') };
`;

async function talked(shop: Workshop, ...facts: readonly number[]): Promise<void> {
  for (const fact of facts) await shop.line(`Tell me about FACT-${fact}`);
}

const said = async ({ agent }: Workshop): Promise<readonly string[]> =>
  (await agent.session.turns()).map(({ message }) => textOf(message));
const data = (shop: Workshop): unknown => ofType(shop.events, 'command').at(-1)?.data;
const lastUser = (shop: Workshop): string =>
  shop
    .requests()
    .findLast(({ tools }) => tools.length > 0)
    ?.messages.findLast(({ role }) => role === 'user')?.text ?? '';

test('B15 /branch: all user messages are listed; a branch before a compaction undoes it, one after it keeps it', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 2, 3, 4, 5);
  await shop.line('/compact');
  await talked(shop, 6);
  const original = shop.agent.session.id;
  await shop.line('/branch');
  assert.deepEqual(
    (data(shop) as { text: string }[]).map(({ text }) => text),
    [1, 2, 3, 4, 5, 6].map((i) => `Tell me about FACT-${i}`),
  );
  await shop.line('/branch 6');
  assert.deepEqual(
    await said(shop),
    [1, 2, 3, 4, 5, 6].map((i) => `Tell me about FACT-${i}`),
  );
  assert.equal(shop.agent.session.handle.plan.records.length, 1);
  assert.match(readFileSync(shop.agent.session.file, 'utf8'), /"type":"compaction"/);
  await shop.line(`/resume ${original}`);
  await shop.line('/branch 2');
  assert.deepEqual(await said(shop), ['Tell me about FACT-1', 'Tell me about FACT-2']);
  assert.deepEqual(shop.agent.session.handle.plan.records, []);
  assert.doesNotMatch(readFileSync(shop.agent.session.file, 'utf8'), /"type":"compaction"/);
  await shop.line('');
  assert.match(ofType(shop.events, 'assistant').at(-1)?.text ?? '', /^About Tell me about FACT-2/);
  assert.equal(listSessions(shop.folders).length, 3);
});

test('B23 edit and restore: /branch N TEXT puts other words in the place of a message and goes on', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 2);
  await shop.line('/branch 2 Tell me about FACT-9 instead');
  assert.deepEqual(await said(shop), ['Tell me about FACT-1', 'Tell me about FACT-9 instead']);
  assert.match(ofType(shop.events, 'assistant').at(-1)?.text ?? '', /^About Tell me about FACT-9/);
});

test('B23 /fork duplicates the session, whole or up to a turn, and leaves the other as it was', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 2, 3);
  const original = shop.agent.session.id;
  await shop.line('/fork');
  assert.equal((await said(shop)).length, 3);
  await talked(shop, 4);
  await shop.line('/fork 1');
  assert.equal((await shop.agent.session.path()).length, 2);
  await shop.line(`/resume ${original}`);
  assert.equal((await said(shop)).length, 3);
});

test('B23 /handoff GOAL: a new thread with what the goal needs, which then works', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 2, 3);
  const original = shop.agent.session.id;
  await shop.line('/handoff write about FACT-2');
  const [message] = await said(shop);
  assert.match(
    message ?? '',
    new RegExp(
      `^write about FACT-2\\n\\n\\[Handed over from session ${original}; @thread:${original} reads more of it\\]\\n`,
    ),
  );
  assert.match(
    message ?? '',
    /SUMMARY: FACT-1 FACT-2 FACT-3[^]*\[turn 2, user\]\nTell me about FACT-2/,
  );
  assert.match(ofType(shop.events, 'assistant').at(-1)?.text ?? '', /^About write about FACT-2/);
  await shop.line('/handoff');
  assert.match(ofType(shop.events, 'error').at(-1)?.error ?? '', /takes the goal/);
});

test('B23 @thread:ID pulls out what is asked for; @path brings a file along; other words stay words', async (t) => {
  const shop = await workshop(t, {
    script: TALKER,
    files: { 'notes.md': 'the notes' },
    yes: false,
  });
  await talked(shop, 1, 2);
  const original = shop.agent.session.id;
  await shop.line('/clear');
  await shop.line(`what did @thread:${original} say about FACT-2?`);
  assert.match(
    lastUser(shop),
    new RegExp(
      `^what did .*\\n\\n<thread id="${original}">\\n[^]*SUMMARY: FACT-1 FACT-2[^]*</thread>$`,
    ),
  );
  await shop.line('read @notes.md, and mail me@example.org or @nobody');
  assert.equal(
    lastUser(shop),
    'read @notes.md, and mail me@example.org or @nobody\n\n<file path="notes.md">\nthe notes\n</file>',
  );
  await shop.line('read @../../../etc/hostname');
  assert.equal(lastUser(shop), 'read @../../../etc/hostname');
});

test('/undo takes back what came last: a compaction, then turns', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 2, 3);
  const before = (await shop.agent.session.present()).messages.length;
  await shop.line('/compact');
  await shop.line('/undo');
  assert.equal((data(shop) as { undone: string }).undone, 'compaction');
  assert.equal((await shop.agent.session.present()).messages.length, before);
  await shop.line('/undo');
  assert.equal((data(shop) as { undone: string }).undone, 'turn');
  assert.deepEqual(await said(shop), ['Tell me about FACT-1', 'Tell me about FACT-2']);
  await talked(shop, 7);
  const again = await shop.again({ session: shop.agent.session.id });
  assert.deepEqual(await said(again), [
    'Tell me about FACT-1',
    'Tell me about FACT-2',
    'Tell me about FACT-7',
  ]);
});

test('/undo turn takes back no older compaction than the one that was undone', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 2, 3);
  await shop.line('/compact');
  const { records } = shop.agent.session.handle.plan;
  await talked(shop, 4, 5);
  await shop.line('/compact');
  await shop.line('/undo compaction');
  await shop.line('/undo turn');
  assert.deepEqual(shop.agent.session.handle.plan.records, records);
  await shop.line('/undo compaction');
  assert.deepEqual(shop.agent.session.handle.plan.records, []);
});

test('/undo turn after two undone compactions brings neither back', async (t) => {
  const shop = await workshop(t, { script: TALKER });
  await talked(shop, 1, 2, 3);
  await shop.line('/compact');
  await talked(shop, 4, 5);
  await shop.line('/compact');
  await talked(shop, 6);
  await shop.line('/undo compaction');
  await shop.line('/undo compaction');
  await shop.line('/undo turn');
  assert.deepEqual(shop.agent.session.handle.plan.records, []);
  assert.equal((await said(shop)).length, 5);
});

test('/undo takes a long result that was shortened for no compaction, and says when the next one comes', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { text: 'SUMMARY' };
      if (last.role === 'user' && last.text.startsWith('run')) return { calls: [{ tool: 'bash', args: { command: 'seq -f "number %g of many" 1 3000' } }] };
      return { text: Array.from({ length: 200 }, (_, i) => 'word' + i).join(' ') };
    `,
  });
  await shop.line('hello');
  await shop.line('run it');
  assert.equal(shop.agent.session.handle.plan.records.length, 1);
  await shop.line('/undo compaction');
  assert.match(ofType(shop.events, 'error').at(-1)?.error ?? '', /there is no compaction to undo/);
  assert.equal(shop.agent.session.handle.plan.records.length, 1);
  await shop.line('/undo');
  assert.equal((data(shop) as { undone: string }).undone, 'turn');
  assert.deepEqual(await said(shop), ['hello']);
  await talked(shop, 1, 2, 3);
  await shop.line('/compact');
  await shop.line('run it');
  await shop.line('/undo compaction');
  assert.deepEqual(shop.agent.session.handle.plan.records, []);
  assert.match(
    ofType(shop.events, 'command').at(-1)?.text ?? '',
    /as it is, it does not fit: the next message has it compacted again/,
  );
  await shop.line('/undo turn');
  await shop.line('/compact');
  await shop.line('/undo');
  assert.match(
    ofType(shop.events, 'command').at(-1)?.text ?? '',
    /the next one comes when the prompt would no longer fit/,
  );
});

test('/pin keeps a message whole; /recall finds what was compacted; /cost is the ledger; /export writes all', async (t) => {
  const shop = await workshop(t, { script: TALKER, settings: { models: {} } });
  await talked(shop, 1, 2, 3, 4, 5);
  await shop.line('/pin 1');
  await shop.line('/compact');
  const shown = (await shop.agent.session.present()).messages.map(({ message }) => textOf(message));
  assert.ok(shown.includes('Tell me about FACT-1'));
  await shop.line('/recall FACT-2');
  assert.match(ofType(shop.events, 'command').at(-1)?.text ?? '', /FACT-2/);
  await shop.line('/cost');
  const { requests, summaries, cacheShare } = data(shop) as {
    requests: number;
    summaries: { inputTokens: number };
    cacheShare: number;
  };
  assert.ok(requests === 5 && summaries.inputTokens > 0 && cacheShare > 0 && cacheShare < 1);
  await shop.line('/export out.md');
  const text = readFileSync(join(shop.folders.project, 'out.md'), 'utf8');
  assert.ok([1, 2, 3, 4, 5].every((i) => text.includes(`## user\n\nTell me about FACT-${i}`)));
});

test('/unpin lets compaction take what /pin kept, a rule in words as well', async (t) => {
  const shop = await workshop(t, { script: TALKER, settings: { models: {} } });
  const lastText = (): string => ofType(shop.events, 'command').at(-1)?.text ?? '';
  const shown = async (): Promise<readonly string[]> =>
    (await shop.agent.session.present()).messages.map(({ message }) => textOf(message));
  await talked(shop, 1, 2, 3);
  await shop.line('/unpin');
  await shop.line('/pin Never touch FACT-9');
  await shop.line('/pin 1');
  await talked(shop, 5, 6);
  await shop.line('/compact');
  const pins = ['Tell me about FACT-1', 'Never touch FACT-9'];
  assert.deepEqual(
    (await shown()).filter((text) => pins.includes(text)),
    pins,
  );

  await shop.line('/unpin');
  assert.equal(lastText(), '4. Never touch FACT-9\n1. Tell me about FACT-1');
  await shop.line('/unpin 2');
  await shop.line('/unpin 1');
  await shop.line('/unpin 4');
  assert.deepEqual(
    (await shown()).filter((text) => pins.includes(text)),
    pins,
  );
  await talked(shop, 7, 8);
  await shop.line('/compact');
  assert.deepEqual(
    (await shown()).filter((text) => pins.includes(text)),
    [],
  );
});

test('/recall shows the beginning of each, and the whole of one by its number', async (t) => {
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\\n');
  const shop = await workshop(t, {
    script: `if (tools.length === 0) return { text: 'SUMMARY' };
      return { text: 'NEEDLE in ' + last.text + '\\n${lines}' };`,
  });
  for (let i = 1; i <= 8; i++) await shop.line(`stack ${i}`);
  await shop.line('/compact');
  const answerTo = async (line: string): Promise<string> => {
    await shop.line(line);
    return ofType(shop.events, 'command').at(-1)?.text ?? '';
  };
  const all = await answerTo('/recall NEEDLE');
  assert.match(
    all,
    /^#1 \[turn \d+, assistant\]\nNEEDLE in stack \d+\nline 0\nline 1\n… \/recall #1 NEEDLE\n\n#2 /,
  );
  assert.ok(all.split('\n').length < 8 * 6, `${all.split('\n').length} lines`);
  const [found] = data(shop) as readonly { excerpt: string }[];
  const one = await answerTo('/recall #1 NEEDLE');
  assert.equal(one.split('\n').slice(1).join('\n'), found?.excerpt);
  assert.ok(one.split('\n').length > 6);
  await shop.line('/recall #8 NEEDLE');
  assert.match(ofType(shop.events, 'error').at(-1)?.error ?? '', /^\/recall found \d: #1 to #\d$/);
  assert.equal(await answerTo('/recall #1 quux'), 'Nothing that was compacted matches "quux".');
  assert.equal(await answerTo('/recall #42'), 'Nothing that was compacted matches "#42".');
});

test('commands that need rest say so; unknown ones too', async (t) => {
  const shop = await workshop(t, { script: "return { delayMs: 300, text: 'ok' };" });
  const running = shop.line('hello');
  await shop.agent.session.path();
  await assert.rejects(
    runCommand(shop.agent, 'branch', ''),
    /\/branch waits until the agent is at rest/,
  );
  await assert.rejects(runCommand(shop.agent, 'none', ''), /there is no command \/none/);
  await running;
});
