import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryArtifacts, textOf, type Policy } from '@bobbin/core';
import {
  budget,
  claudeCode,
  codex,
  currentSummary,
  firedBecause,
  messagesOnly,
  opencode,
  pi,
  PI_DEFAULTS,
  planEngine,
  PRESETS,
  timeline,
} from '@bobbin/core/internal';
import {
  assistant,
  image,
  round,
  scriptedSummarizer,
  system,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';
import { counter, now, opened, padded, shown, talk, wide } from './presets/notation.ts';
import { check, turn } from './sample-presets.ts';

test('A7 B10 B21 E10 each preset asks for a summary of its own size', async () => {
  const asked: Record<string, number | undefined> = {};
  for (const [name, policy] of Object.entries(PRESETS)) {
    const summarizer = scriptedSummarizer({ kind: 'good' });
    const watched = await WatchedThread.open({ ...wide, preset: now(policy), summarizer });
    for (let i = 0; i < 32; i++)
      await watched.append(user(padded(`u${i}`, 1_000)), assistant(padded(`a${i}`, 2_000)));
    await watched.prompt();
    if (summarizer.requests.length > 0) asked[name] = summarizer.requests[0]?.maxTokens;
  }
  assert.deepEqual(asked, {
    ladder: 8_000,
    step: 1_000,
    pi: 13_107,
    codex: 8_000,
    'claude-code': 16_000,
    opencode: 8_000,
    'recursive-summary': 8_000,
    timeline: 800,
    'plan-engine': 8_000,
  });
});

test('B20 codex keeps 20 000 tokens of user messages by default', async () => {
  const said = Array.from({ length: 30 }, (_, i) => [
    user(padded(`u${i}`, 1_999)),
    assistant(padded(`a${i}`, 100)),
  ]).flat();
  const watched = await opened(now(codex()), ...said);
  assert.match(await shown(watched), /^u20 u21 u22 u23 u24 u25 u26 u27 u28 u29 Su$/);
});

/** How many of some results of 5 000 tokens opencode's first rung clears. */
async function pruned(results: number): Promise<number> {
  const preset = { ...now(opencode()), targetShare: 0.01, ladder: opencode().ladder.slice(0, 1) };
  const watched = await WatchedThread.open({ ...wide, preset });
  await watched.append(user('go'));
  for (let i = 0; i < results; i++)
    await watched.append(...round('read', { i }, 'x'.repeat(19_992)));
  return (await watched.prompt()).plan.records.length;
}

test('B19 opencode prunes what is older than 40 000 tokens of tool output, where that frees 20 000', async () => {
  assert.deepEqual([await pruned(11), await pruned(12), await pruned(13)], [0, 0, 5]);
});

test("B24 the seed's session: u4 and what follows stay, later messages are appended", async () => {
  const first = 'u1 c1 t1 a1 u2 a2 u3 c3 t3 c3 t3 a3 u4 c4 t4 a4';
  const watched = await opened(
    now(pi({ keepRecentTokens: 380, reserveTokens: 16_384 })),
    ...talk(first),
  );
  assert.equal(await shown(watched), 'Su u4 c4 t4 a4');
});

test('B24 a second compaction does not reach back before the first, and its summary contains it', async () => {
  const preset: Policy = {
    ...pi({ keepRecentTokens: 180 }),
    trigger: { kind: 'tokens', atLeast: 900 },
  };
  const watched = await opened(preset, ...talk('u1 c1 t1 a1 u2 a2 u3 c3 t3 a3 u4 a4'));
  assert.equal(await shown(watched), 'Su u4 a4');
  await watched.append(...talk('u5 a5 u6 c6 t6 a6 u7 a7'));
  assert.equal(await shown(watched), 'Su u7 a7');
  const summary = currentSummary(watched.handle.plan);
  assert.deepEqual([summary?.summary.round, summary?.messages, summary?.at], [2, 18, 0]);
  assert.deepEqual([summary?.summary.firstTurn, summary?.summary.lastTurn], [1, 6]);
});

test('B24 defaults: 16 384 tokens in reserve, 20 000 kept, 0.8 of the reserve for the summary', async () => {
  assert.deepEqual(PI_DEFAULTS, {
    reserveTokens: 16_384,
    keepRecentTokens: 20_000,
    splitTurns: false,
  });
  const { trigger, cut } = pi();
  assert.equal(firedBecause(trigger, { ...check, contextTokens: 183_616 }), undefined);
  assert.notEqual(firedBecause(trigger, { ...check, contextTokens: 183_617 }), undefined);
  assert.deepEqual(cut, { kind: 'keep-tokens', tokens: 20_000, splitTurns: false });
  const summarizer = scriptedSummarizer({ kind: 'good' });
  const watched = await WatchedThread.open({
    ...wide,
    preset: now(pi({ keepRecentTokens: 10 })),
    summarizer,
  });
  await watched.append(user(padded('u1', 30_000)), assistant(padded('a1', 100)), user('u2'));
  await watched.prompt();
  assert.equal(summarizer.requests[0]?.maxTokens, 13_107);
});

test('B24 the summary enters as a user message that frames it as a hand-over', async () => {
  const watched = await opened(now(pi({ keepRecentTokens: 10 })), ...talk('u1 a1 a1 a1 a1 u2'));
  const { prompt } = await watched.prompt();
  const [first] = prompt.messages;
  assert.equal(first?.message.role, 'user');
  const [part] = first?.message.parts ?? [];
  assert.ok(part?.kind === 'text');
  assert.match(part.text, /^The work so far was done by another language model, .*summary/);
});

test('B20 codex: the newest user messages up to 20 000 tokens, the summary after them', async () => {
  const preset = now(codex({ keepUserTokens: 250 }));
  const answered = await opened(preset, ...talk('u1 a1 u2 a2 u3 a3 u4 a4'));
  assert.equal(await shown(answered), 'u3 u4 Su');
  const asking = await opened(preset, ...talk('u1 a1 u2 a2 u3 a3 u4'));
  assert.equal(await shown(asking), 'u3 Su u4', 'the question that waits is last');
  const { cut, style, trigger } = codex();
  assert.deepEqual([cut.kind, style.summaryAt, style.summaryRole], ['everything', 'last', 'user']);
  const most = 190_000;
  assert.equal(firedBecause(trigger, { ...check, tokens: most }), undefined, '95 % of the window');
  assert.notEqual(firedBecause(trigger, { ...check, tokens: most + 1 }), undefined);
});

test('B20 B24 E10 where a window is smaller than what is to stay, history still becomes a summary', async () => {
  for (const preset of [pi(), pi({ splitTurns: true }), codex(), timeline()]) {
    for (const systemTokens of [10, 5_000, 9_000]) {
      const watched = await WatchedThread.open({ preset, counter, window: 16_000 });
      await watched.append(system(padded('s', systemTokens)), user('Rebuild the gear box.'));
      for (let i = 0; i < 40; i++) {
        await watched.append(assistant(padded(`a${i}`, 200)), user(padded(`u${i}`, 200)));
        const { plan } = await watched.prompt();
        const at = `${preset.name}, ${systemTokens} of system, turn ${i}`;
        // Codex also cuts the oldest of the user's messages that it keeps.
        const allowed = preset.name === 'codex' ? ['summarize', 'externalize'] : ['summarize'];
        for (const { kind } of plan.records) assert.ok(allowed.includes(kind), `${at}: ${kind}`);
      }
      const summary = currentSummary(watched.handle.plan);
      assert.equal(summary?.summary.task, 'Rebuild the gear box.');
    }
  }
});

test('B24 in a window of 200 000 the newest 20 000 tokens stay, as pi says', async () => {
  const watched = await WatchedThread.open({ preset: pi(), counter, window: 200_000 });
  await watched.append(system(padded('s', 30_000)));
  for (let i = 0; i < 80; i++)
    await watched.append(user(padded(`u${i}`, 1_000)), assistant(padded(`a${i}`, 1_000)));
  const { compacted, plan } = await watched.prompt();
  assert.equal(compacted, true);
  assert.equal(watched.handle.length - plan.start, 20);
});

test('B20 codex: a message of the user that is too long is cut and stays, and what a host wrote is not the user’s', async () => {
  const preset = now(codex({ keepUserTokens: 1_000 }));
  const environment = '<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>';
  const long = Array.from({ length: 400 }, (_, i) => `line ${i} of the paste`).join('\n');
  const watched = await opened(
    preset,
    user('# AGENTS.md instructions for /srv\nBe brief.'),
    user(`Fix this. ${long}`),
    assistant('a'),
    user(environment),
    assistant('b'),
    withMeta(user('Sent by a job.'), { author: 'scheduler' }),
    assistant('c'),
    user(padded('u2', 200)),
    assistant('d'),
  );
  const { prompt } = await watched.prompt();
  const texts = prompt.messages.map(({ message }) => textOf(message));
  assert.equal(texts.length, 3, 'the long one, the newest, the summary');
  assert.match(texts[0] ?? '', /excerpt of \d+ characters:\nFix this\. line 0/);
  assert.match(texts[1] ?? '', /^u2 /);
  const tokens = prompt.messages.slice(0, 2).map(({ message }) => counter.message(message));
  assert.ok(tokens.reduce((a, b) => a + b) <= 1_000, `${tokens.join(' + ')} tokens`);
});

test('B20 codex: limits by model', () => {
  for (const [model, tokens] of [
    ['gpt-5-codex', 244_800],
    ['o4-mini', 180_000],
  ] as const) {
    const { trigger } = codex({ model });
    const wideCheck = { ...check, budget: budget({ windowTokens: 400_000 }) };
    assert.equal(firedBecause(trigger, { ...wideCheck, tokens: tokens - 1 }), undefined, model);
    assert.notEqual(firedBecause(trigger, { ...wideCheck, tokens }), undefined, model);
  }
  assert.deepEqual(codex({ model: 'another' }).trigger, codex().trigger);
});

test('B20 B21 the share of the window is of what the provider reported', () => {
  for (const { trigger } of [codex(), claudeCode]) {
    assert.equal(firedBecause(trigger, { ...check, contextTokens: 190_000 }), undefined);
    assert.notEqual(firedBecause(trigger, { ...check, contextTokens: 190_001 }), undefined);
  }
});

test('B22 opencode acts at its own threshold of what was reported, however little is estimated', async () => {
  for (const [reported, compacted] of [
    [67_900, false],
    [68_100, true],
  ] as const) {
    const watched = await WatchedThread.open({ preset: opencode(), counter, window: 100_000 });
    const usage = {
      inputTokens: reported,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
    for (let i = 0; i < 9; i++)
      await watched.append(user(padded(`u${i}`, 2_500)), assistant(padded(`a${i}`, 2_500)));
    await watched.append(user('u9'), withMeta(assistant('a9'), { usage }), user('u10'));
    assert.equal((await watched.prompt()).compacted, compacted, `${reported} reported`);
  }
});

test('B22 no one is asked to continue after a compaction by hand', async () => {
  const watched = await opened({ ...opencode(), targetShare: 0.001 }, ...talk('u1 a1 u2 a2 u3'));
  const { compacted, continueWith } = await watched.compact();
  assert.deepEqual([compacted, continueWith], [true, undefined]);
});

test('C21 the plan engine has the defaults of its seed', async () => {
  const { trigger, cut, ladder } = planEngine();
  assert.deepEqual([trigger.kind, cut], ['soft-limit', { kind: 'turn-window', turns: 3 }]);
  assert.deepEqual(
    ladder.map(({ name }) => name),
    ['externalize', 'summarize', 'clear', 'drop'],
  );
  const watched = await WatchedThread.open({ preset: planEngine(), counter, window: 100_000 });
  for (let i = 0; i < 18; i++) await watched.append(...turn(i));
  assert.equal((await watched.prompt()).compacted, false, '81 000 of a soft limit of 82 500');
  for (let i = 18; i < 20; i++) await watched.append(...turn(i));
  const { compacted, plan } = await watched.prompt();
  const touched = new Set(plan.records.flatMap(({ span }) => span.ids));
  assert.deepEqual([compacted, plan.records[0]?.kind], [true, 'externalize']);
  const newest = Array.from({ length: 12 }, (_, i) =>
    watched.handle.at(watched.handle.length - 12 + i),
  );
  assert.ok(
    newest.every((node) => node !== undefined && !touched.has(node.id)),
    'three turns stay',
  );
});

test('B13 a picture that is summarised is in an artifact', async () => {
  const artifacts = memoryArtifacts();
  const watched = await WatchedThread.open({ ...wide, preset: now(claudeCode), artifacts });
  const picture = 'data:image/png;base64,iVBORw0KGgo=';
  await watched.append(
    user('What is this?', image(picture, { mediaType: 'image/png' })),
    assistant('A gear.'),
    user('And now?'),
  );
  const { plan } = await watched.prompt();
  const [artifact] = currentSummary(plan)?.summary.artifacts ?? [];
  assert.ok(artifact !== undefined, 'the summary names it');
  const content = await artifacts.get(artifact.artifactId, { tenant: 'default' });
  assert.ok(content?.includes(picture));
});

test('B20 codex: an absolute limit for the model fires too', () => {
  const { trigger } = codex({ autoCompactTokens: 180_000 });
  assert.equal(firedBecause(trigger, { ...check, tokens: 179_999 }), undefined);
  assert.equal(firedBecause(trigger, { ...check, tokens: 180_000 }), '180000 tokens >= 180000');
});

test('B21 claude-code: at 95 % the whole history becomes one summary, and work goes on in place', async () => {
  assert.equal(firedBecause(claudeCode.trigger, { ...check, tokens: 190_000 }), undefined);
  assert.notEqual(firedBecause(claudeCode.trigger, { ...check, tokens: 190_001 }), undefined);
  const watched = await opened(now(claudeCode), system('s'), ...talk('u1 a1 u2 c2 t2 a2'));
  const { plan, prompt } = await watched.prompt();
  assert.equal(await shown(watched), 's Su u2');
  assert.equal(watched.handle.length, 7, 'unlike a cleared thread, it is all still there');
  assert.equal((await watched.handle.promptAt(0)).messages.length, 7);
  assert.equal(plan.records.length, 1);
  assert.equal(prompt.messages[1]?.message.role, 'user');
});

async function summaryOf(talked: string): Promise<string> {
  const watched = await opened(now(claudeCode), ...talk(talked, 400));
  return currentSummary((await watched.prompt()).plan)?.text ?? '';
}

test('a summary that includes what was done for the request after it says so', async () => {
  const note =
    /\n\n\(The user’s message “u2 \.+…” below is older than the end of this summary, which includes what was done for it\.\)$/;
  const answered = await summaryOf('u1 a1 u2 c2 t2 a2');
  assert.match(answered, note);
  assert.ok(!(await summaryOf('u1 a1 u2')).includes('older than the end'), 'the request waits');
});

test('B22 opencode: overflow beyond window − output reserve, prune first, then summarise and continue', async () => {
  const { trigger, ladder, continueWith } = opencode({ outputReserveTokens: 32_000 });
  assert.equal(firedBecause(trigger, { ...check, contextTokens: 168_000 }), undefined);
  assert.notEqual(firedBecause(trigger, { ...check, contextTokens: 168_001 }), undefined);
  assert.deepEqual(
    ladder.map(({ name }) => name),
    ['clear', 'summarize'],
  );
  assert.equal(continueWith, 'Continue if you have next steps.');
  const watched = await opened(
    { ...now(opencode()), targetShare: 0.001 },
    ...talk('u1 a1 u2 a2 u3'),
  );
  const first = await watched.prompt();
  assert.equal(first.continueWith, 'Continue if you have next steps.');
  assert.equal((await watched.prompt()).continueWith, undefined, 'only after a compaction');
});

test('B22 opencode: pruning old tool output alone may be enough', async () => {
  const watched = await WatchedThread.open({
    preset: opencode({ outputReserveTokens: 1_000 }),
    counter,
    budget: messagesOnly(100_000),
  });
  await watched.append(user('go'));
  for (let i = 0; i < 20; i++) await watched.append(...round('read', { i }, 'x'.repeat(19_992)));
  await watched.append(user('and?'));
  const { plan, prompt } = await watched.prompt();
  assert.deepEqual(new Set(plan.records.map(({ kind }) => kind)), new Set(['clear']));
  assert.ok(prompt.tokens <= 60_000, `${prompt.tokens}`);
});
