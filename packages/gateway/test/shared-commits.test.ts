import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore, type Store } from '@bobbin/core';
import { bareUpstream, runningGateway, until, type RunningGateway } from './running-gateway.ts';

const ANSWER = '{"choices":[{"index":0,"message":{"role":"assistant","content":"Yes."}}]}';

type Said = readonly (readonly [role: 'user' | 'assistant', content: string])[];

async function ask({ url }: RunningGateway, said: Said): Promise<Headers> {
  const messages = said.map(([role, content]) => ({ role, content }));
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer one' },
    body: JSON.stringify({ model: 'gpt-5', messages }),
  });
  assert.equal(await response.text(), ANSWER);
  return response.headers;
}

async function lengthsOf({ store }: RunningGateway): Promise<readonly number[]> {
  const [tenant = ''] = await store.tenants();
  return (await store.threads(tenant, 100)).map(({ length }) => length);
}

test('requests of one client are stored together, and none is answered before it is', async (t) => {
  const inner = memoryStore();
  const store = Object.create(inner) as Store;
  const waiting: (() => void)[] = [];
  store.append = async (...args) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return inner.append(...args);
  };
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end(ANSWER));
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url }, store });
  let answers = 0;
  const asked = Array.from({ length: 8 }, (_, i) =>
    ask(gateway, [['user', `Question ${i}?`]]).finally(() => answers++),
  );
  await until(() => waiting.length === 8 && upstream.seen.length === 8, 'all of them go out');
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(answers, 0);
  for (const write of waiting) write();
  for (const headers of await Promise.all(asked))
    assert.equal(headers.get('x-bobbin-action'), 'unchanged');
  assert.deepEqual(
    await lengthsOf(gateway),
    Array.from({ length: 8 }, () => 1),
  );
});

test('what could not be stored is stored with the next request of the conversation', async (t) => {
  const inner = memoryStore();
  const store = Object.create(inner) as Store;
  let fails = 0;
  store.append = (...args) =>
    fails-- > 0 ? Promise.reject(new Error('the disk is full')) : inner.append(...args);
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end(ANSWER));
  const gateway = await runningGateway(t, { upstreams: { openai: upstream.url }, store });
  const said: [role: 'user' | 'assistant', content: string][] = [['user', 'One?']];
  const actions: (string | null)[] = [];
  for (const failing of [0, 1, 0, 2, 0]) {
    fails = failing;
    const headers = await ask(gateway, said);
    actions.push(headers.get('x-bobbin-action'));
    said.push(['assistant', 'Yes.'], ['user', `And ${said.length}?`]);
  }
  const [ok, failed] = ['unchanged', 'failed-open'];
  assert.deepEqual(actions, [ok, failed, ok, failed, ok]);
  assert.deepEqual(await lengthsOf(gateway), [9]);
});
