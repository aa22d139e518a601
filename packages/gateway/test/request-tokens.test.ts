import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bareUpstream, runningGateway } from './running-gateway.ts';

const LINE = 'The dredger works at the north mole until the tide turns. ';

test('the tokens of a request before compaction are those of the whole history, however often it was compacted', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    policies: [{ model: 'm', windowTokens: 6_000 }],
  });
  const messages: object[] = [];
  const counted: number[] = [];
  const actions: (string | null)[] = [];
  for (let turn = 0; turn < 60; turn++) {
    messages.push({ role: 'user', content: `Turn ${turn}: ${LINE.repeat(8)}` });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages }),
    });
    await response.text();
    counted.push(Number(response.headers.get('x-bobbin-tokens-before')));
    actions.push(response.headers.get('x-bobbin-action'));
    messages.push({ role: 'assistant', content: `Answer ${turn}: ${LINE.repeat(4)}` });
  }
  assert.ok(actions.filter((action) => action === 'compacted').length > 3);
  const growth = counted.slice(1).map((tokens, i) => tokens - (counted[i] ?? 0));
  // Each request adds the same two messages, but for the digits of their numbers.
  const [least, most] = [Math.min(...growth), Math.max(...growth)];
  assert.ok(least > 100 && most < least + 10, `a request adds ${least} to ${most} tokens`);
});
