import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bareUpstream, runningGateway } from './running-gateway.ts';

const LINE = 'The dredger works at the north mole until the tide turns. ';

interface ChatMessage {
  readonly role: string;
  readonly content?: string;
  readonly [field: string]: unknown;
}

/** Rounds of a tool with long results, then a question. */
function readings(rounds: number, lines: number): ChatMessage[] {
  const messages: ChatMessage[] = [{ role: 'user', content: 'Read the log books.' }];
  for (let i = 0; i < rounds; i++)
    messages.push(
      {
        role: 'assistant',
        tool_calls: [
          { id: `c${i}`, type: 'function', function: { name: 'read', arguments: `{"n":${i}}` } },
        ],
      },
      { role: 'tool', tool_call_id: `c${i}`, content: `Book ${i}\n${LINE.repeat(lines)}` },
    );
  return [...messages, { role: 'user', content: 'What did the dredger do?' }];
}

function talk(turns: number): ChatMessage[] {
  return Array.from({ length: turns * 2 + 1 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i} ${LINE.repeat(10)}`,
  }));
}

test('each action says why: what fits, a cold cache, an earlier compaction, the window, a policy', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    policies: [
      { model: 'small', windowTokens: 8_000 },
      { model: 'large', windowTokens: 200_000, thrift: 'careful' },
      { model: 'sight', windowTokens: 8_000, firstSightShare: 0.3 },
      { model: 'off', compaction: 'off' },
    ],
  });
  const ask = async (
    model: string,
    messages: readonly ChatMessage[],
  ): Promise<readonly (string | null)[]> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model, messages }),
    });
    await response.text();
    return ['x-bobbin-action', 'x-bobbin-reason'].map((name) => response.headers.get(name));
  };
  const long = readings(12, 200);
  const said: ChatMessage[] = [
    { role: 'user', content: 'Summarize the task conversation so far.' },
  ];
  assert.deepEqual(
    [
      await ask('large', readings(1, 10)),
      await ask('large', long),
      await ask('large', [
        ...long,
        { role: 'assistant', content: 'It worked.' },
        { role: 'user', content: 'Where?' },
      ]),
      (await ask('small', talk(40))).map((text) => text?.replaceAll(/\d+/g, 'N')),
      await ask('sight', readings(1, 600)),
      await ask('off', long),
      await ask('large', said),
    ],
    [
      ['unchanged', 'it fits'],
      ['compacted', 'trimming pays: the cache is cold'],
      ['continued', 'an earlier compaction'],
      ['compacted', 'N tokens > limit N'],
      ['compacted', 'a large new result'],
      ['unchanged', 'compaction is off for the model'],
      ['left-alone', "the client's own compaction"],
    ],
  );
});

test('a reason is printable ASCII for a conversation over 200 000 tokens in a window of a million', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    policies: [{ model: '', windowTokens: 1_000_000 }],
  });
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: talk(1_200) }),
  });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('x-bobbin-reason') ?? '', /^[\x20-\x7e]+$/);
  assert.equal(response.headers.get('x-bobbin-action'), 'compacted');
  assert.ok(Number(response.headers.get('x-bobbin-tokens-before')) > 200_000);
});
