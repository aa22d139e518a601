import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { createBobbin, memoryStore, type Codec, type CompactionEvent } from '@bobbin/core';
import { chars4, STRICT_RULES, Thread } from '@bobbin/core/internal';
import {
  aiSdk,
  aiSdkProblems,
  anthropic,
  anthropicProblems,
  openaiResponses,
  openaiResponsesProblems,
  signThinking,
} from '@bobbin/codecs';
import { expectValid, providerServer, type ProviderStep } from '@bobbin/testing';

const SUMMARY = 'The user wants metric units. Nine hosts were looked at.';
const BLOCK = { type: 'compaction', content: SUMMARY };
const ITEM = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA'.repeat(300) };
const TEXT = {
  type: 'text',
  text: SUMMARY,
  providerOptions: { anthropic: { type: 'compaction' } },
};

interface Form {
  readonly codec: Codec<object>;
  readonly compaction: object;
  readonly problems: (wire: readonly object[]) => readonly string[];
  /** True where the provider still reads what users said before its compaction. */
  readonly readsUsers: boolean;
}

const FORMS: readonly Form[] = [
  {
    codec: anthropic,
    compaction: { role: 'assistant', content: [BLOCK] },
    problems: (messages) => anthropicProblems({ messages }),
    readsUsers: false,
  },
  {
    codec: openaiResponses,
    compaction: ITEM,
    problems: (items) => openaiResponsesProblems(items),
    readsUsers: true,
  },
  {
    codec: aiSdk,
    compaction: { role: 'assistant', content: [TEXT] },
    problems: (messages) => aiSdkProblems(messages),
    readsUsers: false,
  },
];

function said(from: number, to: number): object[] {
  return Array.from({ length: to - from }, (_, i) => [
    { role: 'user', content: `Question ${from + i}` },
    { role: 'assistant', content: `Answer ${from + i}. ${'It is so. '.repeat(30)}` },
  ]).flat();
}

for (const { codec, compaction, problems, readsUsers } of FORMS) {
  test(`H5 ${codec.name}: the prompt starts at the newest compaction, and what precedes it is not counted`, async () => {
    const events: CompactionEvent[] = [];
    const counter = chars4();
    const bobbin = createBobbin({ codec, counter, onEvent: (event) => events.push(event) });
    const older = { ...compaction, ...('id' in compaction ? { id: 'cmp_0' } : {}) };
    const history = [...said(0, 10), older, ...said(10, 20)];
    await bobbin.fit(history);
    history.push(compaction, ...said(20, 22));
    const fitted = await bobbin.fit(history);
    const expected = [
      ...(readsUsers ? history.filter((m) => 'role' in m && m.role === 'user').slice(0, 20) : []),
      compaction,
      ...said(20, 22),
    ];
    assert.deepEqual(fitted.messages, expected);
    assert.deepEqual(problems(fitted.messages), []);
    const shown = codec.decode(expected).reduce((sum, m) => sum + counter.message(m), 0);
    assert.equal(fitted.prompt.tokens, shown);
    const kinds = events.map(({ kind }) => kind).filter((kind) => kind === 'provider-compacted');
    assert.equal(kinds.length, 2);
    assert.match(await bobbin.recall('Answer 3', history), /Answer 3\./);

    const thread = new Thread(fitted.plan.thread);
    for (const message of codec.decode(history)) thread.append(message);
    expectValid(thread, fitted.plan, fitted.prompt, {
      rules: codec.rules ?? STRICT_RULES,
      counter,
      limitTokens: fitted.limitTokens,
      fits: fitted.fits,
    });
  });

  test(`H5 ${codec.name}: later summaries go after the compaction`, async () => {
    const bobbin = createBobbin({ codec, window: 8_000 });
    const history = [...said(0, 10), compaction];
    let compactions = 0;
    for (let i = 10; i < 90; i++) {
      history.push(...said(i, i + 1));
      const { messages, compacted, fits } = await bobbin.fit([
        ...history,
        { role: 'user', content: 'Go on.' },
      ]);
      compactions += compacted ? 1 : 0;
      assert.ok(fits);
      assert.deepEqual(problems(messages), []);
      const at = messages.findIndex((m) => JSON.stringify(m) === JSON.stringify(compaction));
      assert.ok(readsUsers ? at >= 0 : at === 0, `the compaction is at ${at}`);
      const before = messages.slice(0, at).filter((m) => JSON.stringify(m).includes('Summary'));
      assert.deepEqual(before, [], 'no summary precedes it');
    }
    assert.ok(compactions >= 3, `${compactions} compactions`);
  });

  test(`H5 ${codec.name}: a history without what the provider compacted stays the same thread`, async () => {
    const store = memoryStore();
    const bobbin = createBobbin({ codec, store });
    const history = [...said(0, 10), compaction, ...said(10, 11)];
    const whole = await bobbin.fit(history);
    const swapped = [compaction, ...said(10, 12)];
    const first = await bobbin.fit(swapped);
    assert.equal(first.plan.thread, whole.plan.thread);
    swapped.push(...said(12, 14));
    const second = await bobbin.fit(swapped);
    assert.equal(second.plan.thread, whole.plan.thread);
    assert.deepEqual(second.messages.slice(-swapped.length), swapped);
    assert.match(await bobbin.recall('Answer 3', swapped), /Answer 3\./);
    assert.equal((await store.threads('default', 10)).length, 1);

    // Another conversation with a compaction of its own is another thread.
    const other = [{ role: 'user', content: 'Question 0' }, ...said(50, 51)];
    assert.notEqual((await bobbin.fit(other)).plan.thread, whole.plan.thread);
  });
}

test('H5 thinking after a provider’s compaction is bound to what the provider reads, and stays', async () => {
  const bobbin = createBobbin({ codec: anthropic, window: 12_000 });
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const history: Anthropic.MessageParam[] = [{ role: 'user', content: 'Do all the steps.' }];
  const problems: string[] = [];
  const kept: boolean[] = [];
  let compactions = 0;
  for (let step = 1; step <= 80; step++) {
    const { messages, compacted } = await bobbin.fit(history);
    compactions += compacted ? 1 : 0;
    const request = { thinking, messages };
    problems.push(...anthropicProblems(request));
    if (step % 20 === 1) kept.push(JSON.stringify(messages).includes(`"Thought ${step - 1}"`));
    const block = step % 20 === 0 ? [{ type: 'compaction', content: `Up to ${step}.` }] : [];
    const signature = signThinking(request, block);
    const thought = { type: 'thinking', thinking: `Thought ${step}`, signature };
    const use = { type: 'tool_use', id: `t${step}`, name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: use.id, content: 'seen. '.repeat(300) };
    history.push({ role: 'assistant', content: [...block, thought, use] as never });
    history.push({ role: 'user', content: [result as never] });
    if (step % 7 === 0) history.push({ role: 'user', content: 'Go on.' });
  }
  assert.deepEqual(problems, []);
  assert.deepEqual(kept, [false, true, true, true], 'nothing is thought before the first step');
  assert.ok(compactions > 3, `${compactions} compactions`);
});

test('H5 pins before a provider’s compaction are reported', async () => {
  const warnings: string[] = [];
  const bobbin = createBobbin({
    codec: anthropic,
    onEvent: (event) => event.kind === 'warning' && warnings.push(event.message),
  });
  const rule = { role: 'user', content: 'Never delete data.' } as const;
  const history: Anthropic.MessageParam[] = [rule, { role: 'assistant', content: 'Yes.' }];
  await bobbin.fit(history);
  await bobbin.pin(rule, history);
  history.push({ role: 'user', content: 'Go on.' });
  history.push({ role: 'assistant', content: [BLOCK as never] }, { role: 'user', content: 'And?' });
  const { messages } = await bobbin.fit(history);
  assert.equal(messages.length, 2);
  assert.deepEqual(warnings, [
    'the provider compacted the conversation: 1 pinned messages before its compaction are no longer read; say them again',
  ]);
});

test('H5 Anthropic’s client in a loop in which the provider compacts by itself', async (t) => {
  const answer: ProviderStep = { kind: 'answer', text: 'Done.' };
  const steps = Array.from({ length: 40 }, (_, i): ProviderStep =>
    i % 10 === 9 ? { kind: 'compact', summary: `${SUMMARY} Part ${i}.`, text: 'Done.' } : answer,
  );
  const server = await providerServer('anthropic', ...steps);
  t.after(() => server.close());
  const client = new Anthropic({ apiKey: 'key', baseURL: server.origin, maxRetries: 0 });
  const bobbin = createBobbin({ codec: anthropic, window: 100_000 });
  const history: Anthropic.MessageParam[] = [];
  for (let i = 0; i < steps.length; i++) {
    history.push({ role: 'user', content: `Question ${i}. ${'More of it. '.repeat(20)}` });
    const { role, content } = await bobbin.send(history, (messages) =>
      client.messages.create({ model: 'claude-opus-5', max_tokens: 1_000, messages }),
    );
    history.push({ role, content });
  }
  server.expectDone();
  const counts = server.requests.map(({ body }) => (body['messages'] as readonly unknown[]).length);
  assert.equal(Math.max(...counts), 20, 'after a compaction the prompt starts at it');
  assert.deepEqual(counts.slice(10, 12), [2, 4]);
});
