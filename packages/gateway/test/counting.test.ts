import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bareUpstream, runningGateway } from './running-gateway.ts';

type Message = { readonly role: 'user' | 'assistant'; readonly content: string };

const LONG = 'The tide table of the harbour has a line for every hour of the day. '.repeat(80);
/** What the provider says of every request, in characters a token. */
const CHARS_A_TOKEN = 8;

test('a new conversation is counted as earlier ones of its tenant and model learnt', async (t) => {
  const upstream = await bareUpstream(t, ({ text }, outgoing) => {
    const { messages } = JSON.parse(text) as { messages: readonly Message[] };
    const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
    const message = { role: 'assistant', content: 'Noted.' };
    const usage = { prompt_tokens: Math.ceil(chars / CHARS_A_TOKEN), completion_tokens: 2 };
    outgoing
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
  });
  const { url } = await runningGateway(t, { upstreams: { openai: upstream.url } });
  const counted = async (key: string, messages: readonly Message[]): Promise<number> => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'a-model-of-our-own', messages }),
    });
    await response.text();
    return Number(response.headers.get('x-bobbin-tokens-before'));
  };
  const opening = (name: string): Message => ({ role: 'user', content: `${name}. ${LONG}` });
  const messages = [opening('one')];
  const first = await counted('a', messages);
  for (let turn = 0; turn < 24; turn++) {
    messages.push({ role: 'assistant', content: 'Noted.' }, { role: 'user', content: 'And now?' });
    await counted('a', messages);
  }
  const [next, ofAnother] = [
    await counted('a', [opening('two')]),
    await counted('b', [opening('two')]),
  ];
  const exact = (LONG.length + 5) / CHARS_A_TOKEN;
  assert.ok(first > exact * 1.5, `${first} of ${exact}`);
  assert.ok(next < exact * 1.2, `${next} of ${exact}`);
  assert.equal(ofAnother, first);
});
