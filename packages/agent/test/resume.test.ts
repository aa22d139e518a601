import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { shownCompactions } from '../src/compaction/past-compactions.ts';
import { Client } from './client.ts';
import { asking, PROVIDERS } from './provider-shop.ts';
import { temporaryFolder } from './terminal.ts';
import { ofType, workshop, writeScript } from './workshop.ts';

const RUNNER = `
  if (last.role === 'user' && last.text === 'go') return { calls: [{ tool: 'bash', args: { command: 'echo begun >> log; sleep 60' } }, { tool: 'glob', args: { pattern: '*' } }] };
  return { text: messages.filter(({ role }) => role === 'tool').map(({ text }) => text).join(' | ') };
`;

test('a session that was killed within a tool reports to the model that the outcome is not known, and nothing runs twice', async (t) => {
  const home = temporaryFolder(t);
  const project = join(home, 'project');
  mkdirSync(project);
  const args = ['--mode', 'rpc', '--yes', '--model', `scripted/${writeScript(home, RUNNER)}@16000`];
  const client = new Client(args, project, home);
  t.after(() => client.kill());
  const { session } = await client.call('state');
  await client.call('say', { text: 'go' });
  await client.until(({ params }) => (params as { type: string })?.type === 'tool-start');
  client.kill();
  const next = new Client([...args, '--session', String(session)], project, home);
  t.after(() => next.kill());
  await next.call('goOn');
  assert.deepEqual(await next.call('rest'), { reason: 'done' });
  const said = next.events.findLast(({ type }) => type === 'assistant');
  const results = String(said?.['text']).match(/It is not known whether this was done/g);
  assert.equal(results?.length, 2);
  assert.equal(next.events.filter(({ type }) => type === 'tool-start').length, 0);
  await next.call('shutdown');
});

test('an empty line asks for nothing where everything is answered, also after a restart', async (t) => {
  const script = `
    if (last.text === 'slow') return { text: 'a slow answer', delayMs: 5000 };
    return { text: 'heard' };
  `;
  const shop = await workshop(t, { script });
  const nothing = { type: 'notice', text: 'Nothing waits for an answer: type a message.' };
  assert.equal(await shop.line(''), 'done');
  await shop.line('hello');
  assert.equal(await shop.line(''), 'done');
  const next = await shop.again({ session: shop.agent.session.id });
  await next.line(' ');
  assert.deepEqual(ofType(shop.events, 'notice'), [nothing, nothing]);
  assert.deepEqual(ofType(next.events, 'notice'), [nothing]);
  assert.equal(next.requests().length, 1);
  const over = next.line('slow');
  while (next.requests().length < 2) await new Promise((ready) => setTimeout(ready, 5));
  next.agent.interrupt();
  assert.equal(await over, 'interrupted');
  await next.line('');
  assert.match(ofType(next.events, 'notice').at(-1)?.text ?? '', /^It was interrupted: type a/);
  assert.equal(next.requests().length, 2);
});

test('a session that another process works on is not gone on with; it is free again when that process ends or dies', async (t) => {
  const home = temporaryFolder(t);
  const project = join(home, 'project');
  mkdirSync(project);
  const start = (...more: readonly string[]): Client => {
    const client = new Client(
      ['--mode', 'rpc', '--model', 'scripted/echo', ...more],
      project,
      home,
    );
    t.after(() => client.kill());
    return client;
  };
  const first = start();
  await first.call('say', { text: 'hello' });
  await first.call('rest');
  const { session } = await first.call('state');
  const second = start('--continue');
  assert.equal(await second.end(), 2);
  assert.match(second.errors, new RegExp(`session ${String(session)} is open in another bobbin`));
  const third = start();
  await assert.rejects(
    third.call('command', { name: 'resume', operands: String(session) }),
    /is open in another bobbin/,
  );
  assert.notEqual((await third.call('state'))['session'], session);
  first.kill();
  assert.equal((await start('--continue').call('state'))['session'], session);
});

test('the beginning of an id must mean one session; a file of another folder says what helps', async (t) => {
  const shop = await workshop(t, {
    script: `return { text: 'ok' };`,
    session: '20260101-000000-aaaaaa',
  });
  await shop.line('one');
  const again = await shop.again({ session: '20260101-000000-bbbbbb' });
  await again.line('two');
  await again.line('/resume 20260101');
  assert.match(
    ofType(again.events, 'error').at(-1)?.error ?? '',
    /20260101 may be 20260101-000000-bbbbbb or 20260101-000000-aaaaaa/,
  );
  await again.line(`/resume ${shop.agent.session.file}`);
  assert.equal(again.agent.session.id, shop.agent.session.id);
  await again.line('/resume /elsewhere/20260101-000000-aaaaaa.jsonl');
  assert.match(
    ofType(again.events, 'error').at(-1)?.error ?? '',
    /is no session of this folder; bobbin import \/elsewhere\/.* takes one over/,
  );
});

test('/resume goes on with the session’s model, or says why it cannot', async (t) => {
  const { shop } = await asking(t, PROVIDERS[2], { forever: { kind: 'answer', text: 'here' } });
  await shop.line('hello');
  const { id } = shop.agent.session;
  const next = await shop.again({ model: 'scripted/echo', session: '20260101-000000-aaaaaa' });
  await next.line(`/resume ${id}`);
  assert.equal(next.agent.session.model.name, 'own/large@16000');
  await next.line('again');
  assert.equal(ofType(next.events, 'assistant').at(-1)?.text, 'here');
  writeFileSync(join(next.folders.config, 'settings.json'), '{}');
  const without = await next.again({ model: 'scripted/echo', session: '20260101-000000-aaaaab' });
  await without.line(`/resume ${id}`);
  assert.equal(without.agent.session.model.name, 'scripted/echo');
  assert.match(
    ofType(without.events, 'notice').at(-1)?.text ?? '',
    /^This session's model is not used: there is no provider own; /,
  );
});

test('a compaction that was undone, or made on another path, is not shown again', async (t) => {
  const script = `return { text: Array.from({ length: 250 }, (_, i) => 'word' + i).join(' ') };`;
  const shop = await workshop(t, { script });
  const shown = async (): Promise<readonly (readonly number[])[]> =>
    (await shownCompactions(shop.agent.session)).map(({ after, end }) => [after, end.version]);
  for (let i = 0; i < 4; i++) await shop.line(`Tell me about FACT-${i}`);
  await shop.line('/compact');
  assert.deepEqual(await shown(), [[8, 1]]);
  await shop.line('/undo compaction');
  assert.deepEqual(await shown(), []);
  await shop.line('more');
  await shop.line('/compact');
  assert.deepEqual(await shown(), [[10, 3]]);
  await shop.line('/undo compaction');
  await shop.line('/undo turn');
  assert.deepEqual(await shown(), []);
});
