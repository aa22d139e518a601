import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore, type Store } from '@bobbin/core';
import { clientOf, provider, say, threadsOf, type Messages } from './chat-client.ts';
import { runningGateway, until } from './running-gateway.ts';

const silent = (): void => undefined;

test('a conversation whose thread was erased goes on, and is stored again from its beginning', async (t) => {
  const { origin } = await provider(t);
  const gateway = await runningGateway(t, {
    upstreams: { openai: origin },
    policies: [{ model: '', windowTokens: 6_000 }],
  });
  const client = clientOf(gateway);
  const messages: Messages = [];
  const actions: string[] = [];
  const long = 'The pilot boat left the mole at dawn and came back with the tide. '.repeat(40);
  for (let turn = 0; turn < 14; turn++) {
    if (turn === 12) {
      const [tenant = ''] = await gateway.store.tenants();
      await gateway.store.delete({ tenant });
      assert.deepEqual(await threadsOf(gateway), {});
    }
    const [thread, action] = await say(client, messages, `${turn} ${long}`, {
      'x-bobbin-thread': 'boat',
    });
    assert.equal(thread, 'boat');
    actions.push(action);
  }
  assert.deepEqual(actions.slice(12), ['compacted', 'continued']);
  assert.deepEqual(await threadsOf(gateway), { boat: messages.length - 1 });
});

test('conversations beside each other under one name stay in memory', async (t) => {
  const gateway = await runningGateway(t, { upstreams: { openai: (await provider(t)).origin } });
  const client = clientOf(gateway);
  const headers = { 'x-bobbin-thread': 'session' };
  const [main, sub]: [Messages, Messages] = [[], []];
  await say(client, main, 'Build the pier.', headers);
  await say(client, sub, 'Count the piles.', headers);
  const { store } = gateway;
  const window = store.window.bind(store);
  let reads = 0;
  store.window = (...args) => {
    reads += 1;
    return window(...args);
  };
  for (const words of ['And now?', 'Go on.'])
    for (const messages of [main, sub]) await say(client, messages, words, headers);
  assert.equal(reads, 0);
  assert.equal(Object.keys(await threadsOf(gateway)).length, 2);
});

test('conversations that are too long together leave memory, and go on from the store', async (t) => {
  const gateway = await runningGateway(t, {
    upstreams: { openai: (await provider(t)).origin },
    limits: { memoryBytes: 100_000 },
  });
  const { store } = gateway;
  const window = store.window.bind(store);
  const read: string[] = [];
  store.window = (key, ...rest) => {
    read.push(key.thread);
    return window(key, ...rest);
  };
  const lists: Record<string, Messages> = { one: [], two: [] };
  const turn = async (words: string, ...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const client = clientOf(gateway, `key of ${name}`);
      const headers = { 'x-bobbin-thread': name };
      assert.equal((await say(client, lists[name] ?? [], words, headers))[0], name);
    }
  };
  await turn('short', 'one', 'two');
  read.length = 0;
  await turn('short', 'one', 'two');
  assert.deepEqual(read, [], 'both are in memory');
  await turn('x'.repeat(60_000), 'one', 'two');
  await turn('short', 'two');
  assert.deepEqual(read, []);
  await turn('short', 'one');
  assert.deepEqual(read, ['one']);
});

test('a store that fails never stops a request; a header, a log line and a figure say so', async (t) => {
  const broken = Object.create(memoryStore()) as Store;
  broken.append = () => Promise.reject(new Error('the disk is full'));
  const warned: unknown[] = [];
  const gateway = await runningGateway(t, {
    upstreams: { openai: (await provider(t)).origin },
    store: broken,
    logger: { info: silent, error: silent, warn: (about) => void warned.push(about) },
  });
  const client = clientOf(gateway);
  const messages: Messages = [];
  assert.deepEqual(await say(client, messages, 'hi'), ['', 'failed-open']);
  assert.equal((messages[1] as { content: string }).content, 'Answer 1.');
  await until(() => warned.length === 1, 'the failure is logged');
  const [{ action, reason }] = warned as [{ action: string; reason: string }];
  assert.deepEqual([action, reason], ['failed-open', 'the disk is full']);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /bobbin_requests_total\{[^}]*action="failed-open"[^}]*\} 1/);
});
