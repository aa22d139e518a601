import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { createBobbin, type CompactionEvent, type Fitted } from '@bobbin/core';
import { ANTHROPIC_RULES, chars4, Thread } from '@bobbin/core/internal';
import {
  anthropic,
  anthropicProblems,
  gemini,
  signThinking,
  type AnthropicMessage,
} from '@bobbin/codecs';
import { expectValid, providerServer, type ProviderRequest } from '@bobbin/testing';

const MOST_BYTES = 200_000;
const RULES = { ...ANTHROPIC_RULES, mediaBytes: MOST_BYTES };

/** A picture of 20 kB; each is another one. */
function picture(step: number): Anthropic.ImageBlockParam {
  const data = `${String(step).padStart(4, 'A')}${'abcd'.repeat(5_000)}`;
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
}

function picturesIn(messages: unknown): readonly number[] {
  const found = JSON.stringify(messages).matchAll(/"data":"A*(\d+)a/g);
  return [...found].map(([, step]) => Number(step));
}

const LOOK = { kind: 'call', tool: 'screenshot', args: {} } as const;

test('pictures are moved out before a request has too many bytes, the oldest first', async (t) => {
  const server = await providerServer('anthropic', { forever: LOOK });
  t.after(() => server.close());
  const client = new Anthropic({ apiKey: 'key', baseURL: server.origin, maxRetries: 0 });
  const kinds: string[] = [];
  const counter = chars4();
  const onEvent = (event: CompactionEvent): void => {
    if (event.kind === 'externalized') kinds.push(event.strategy);
  };
  const bobbin = createBobbin({ codec: anthropic, rules: RULES, counter, onEvent });
  const history: Anthropic.MessageParam[] = [
    { role: 'user', content: [{ type: 'text', text: 'Like this one:' }, picture(0)] },
  ];
  let fitted: Fitted<Anthropic.MessageParam> | undefined;
  for (let step = 1; step <= 40; step++) {
    fitted = await bobbin.fit(history);
    const { messages } = fitted;
    const request = { model: 'scripted', max_tokens: 100, messages };
    const { role, content } = await client.messages.create(request);
    const [use] = content;
    assert.ok(use?.type === 'tool_use');
    const seen = [{ type: 'text' as const, text: `Shot ${step}` }, picture(step)];
    history.push({ role, content });
    history.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: use.id, content: seen }],
    });
  }
  server.expectDone();
  assert.deepEqual(server.requests.flatMap(faultsOf), []);
  const shown = picturesIn(server.requests.at(-1)?.body['messages']);
  assert.deepEqual(
    shown,
    [0, ...Array.from({ length: shown.length - 1 }, (_, i) => 41 - shown.length + i)],
    'what the user showed last, and the newest results',
  );
  assert.ok(kinds.length > 20 && kinds.every((kind) => kind === 'externalize-media'), kinds.join());
  assert.match(server.requests.at(-1)?.text ?? '', /Like this one:[^]*Shot 1\n[^]*Shot 38/);

  assert.ok(fitted);
  const thread = new Thread(fitted.plan.thread);
  for (const message of anthropic.decode(history.slice(0, -2))) thread.append(message);
  expectValid(thread, fitted.plan, fitted.prompt, {
    rules: RULES,
    counter,
    limitTokens: fitted.limitTokens,
    fits: fitted.fits,
  });
});

function faultsOf({ body }: ProviderRequest, index: number): readonly string[] {
  const shown = picturesIn(body['messages']);
  const bytes = shown.length * 20_000;
  const newest = shown.at(-1);
  return [
    ...(bytes > MOST_BYTES ? [`request ${index}: ${bytes} bytes of pictures`] : []),
    ...(newest === index ? [] : [`request ${index}: the newest picture is ${newest}`]),
  ];
}

test('a running loop with bound thinking is never refused when its pictures are moved out', async () => {
  const bobbin = createBobbin({ codec: anthropic, rules: RULES });
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const history: AnthropicMessage[] = [{ role: 'user', content: 'Look at everything.' }];
  const problems: string[] = [];
  for (let step = 1; step <= 30; step++) {
    const { messages } = await bobbin.fit(history);
    const request = { thinking, messages };
    problems.push(...anthropicProblems(request));
    assert.ok(picturesIn(messages).length * 20_000 <= MOST_BYTES);
    const thought = {
      type: 'thinking',
      thinking: `Look ${step}`,
      signature: signThinking(request),
    };
    const use = { type: 'tool_use', id: `t${step}`, name: 'screenshot', input: {} };
    const result = { type: 'tool_result', tool_use_id: use.id, content: [picture(step)] };
    history.push({ role: 'assistant', content: [thought, use] });
    history.push({ role: 'user', content: [result] });
  }
  assert.deepEqual(problems, []);
});

test('pictures of the user that a preset keeps do not compact a loop with bound thinking in vain', async () => {
  const kinds: string[] = [];
  const onEvent = ({ kind }: CompactionEvent): void => void kinds.push(kind);
  const bobbin = createBobbin({ codec: anthropic, rules: RULES, preset: 'codex', onEvent });
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const history: AnthropicMessage[] = Array.from({ length: 12 }, (_, i): AnthropicMessage[] => [
    { role: 'user', content: [{ type: 'text', text: `Look at ${i}.` }, picture(i)] },
    { role: 'assistant', content: 'Seen.' },
  ]).flat();
  history.push({ role: 'user', content: 'Now compare them.' });
  const problems: string[] = [];
  const answer = (
    step: number,
    request: { thinking: object; messages: AnthropicMessage[] },
  ): void => {
    const thought = { type: 'thinking', thinking: `${step}`, signature: signThinking(request) };
    const use = { type: 'tool_use', id: `t${step}`, name: 'compare', input: {} };
    const result = { type: 'tool_result', tool_use_id: use.id, content: `alike ${step}` };
    history.push({ role: 'assistant', content: [thought, use] });
    history.push({ role: 'user', content: [result] });
  };
  // The loop has begun without Bobbin.
  answer(0, { thinking, messages: [...history] });
  for (let step = 1; step <= 10; step++) {
    const { messages } = await bobbin.fit(history);
    const request = { thinking, messages };
    problems.push(...anthropicProblems(request));
    answer(step, request);
  }
  assert.deepEqual(problems, []);
  assert.deepEqual(kinds, []);
});

test('pinned pictures stay, and nothing is compacted in vain if they alone are too large', async () => {
  const kinds: string[] = [];
  const onEvent = ({ kind }: CompactionEvent): void => void kinds.push(kind);
  const bobbin = createBobbin({ codec: anthropic, rules: RULES, onEvent });
  const pinned: AnthropicMessage = {
    role: 'user',
    content: Array.from({ length: 12 }, (_, i) => picture(i)),
  };
  const history: AnthropicMessage[] = [pinned, { role: 'assistant', content: 'Seen.' }];
  await bobbin.pin(pinned, history);
  for (let step = 0; step < 5; step++) {
    history.push({ role: 'user', content: `And ${step}?` });
    const { messages } = await bobbin.fit(history);
    assert.equal(picturesIn(messages).length, 12);
    history.push({ role: 'assistant', content: 'Yes.' });
  }
  assert.deepEqual(kinds, []);
});

test('the limits of the providers are known: 32 MB for Anthropic, 20 MB for Gemini, less than text needs', () => {
  assert.deepEqual(
    [anthropic, gemini].map(({ rules }) => rules?.mediaBytes),
    [24_000_000, 15_000_000],
  );
});
