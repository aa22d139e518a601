import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs';
import { test } from 'node:test';
import { submit } from '../src/loop/submit.ts';
import { ofType, workshop } from './workshop.ts';
import { TALKER, lastPrompt, summaries, talked, work } from './talking.ts';

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

test('B12 a summarizer that fails: shown, the extract is used, nothing is lost; after three it is no longer asked', async (t) => {
  const shop = await workshop(t, {
    script: `
      if (tools.length === 0) return { status: 401, text: 'no summaries for you' };
      return { text: Array.from({ length: 300 }, (_, i) => 'word' + i).join(' ') };
    `,
  });
  await talked(shop, 1, 6);
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

test('B16 overflow of the summarizer call: the oldest is left out or the extract is used; the task goes on', async (t) => {
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

test('B16 typing while compacting is queued and sent; the answer comes after the compaction', async (t) => {
  const shop = await workshop(t, {
    script: TALKER.replace("return { text: 'MODEL", "return { delayMs: 300, text: 'MODEL"),
  });
  await talked(shop, 1, 6);
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
  await talked(shop, 1, 6);
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
