import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { test } from 'node:test';
import { submit } from '../src/loop/submit.ts';
import { ofType, workshop, type Workshop } from './workshop.ts';

/** As long as the work lasts, nothing can be written where the session's file was. */
async function withoutDisk(shop: Workshop, work: () => Promise<void>): Promise<void> {
  const { file } = shop.agent.session;
  renameSync(file, `${file}.kept`);
  mkdirSync(file);
  await work();
  rmdirSync(file);
  renameSync(`${file}.kept`, file);
}

test('B12 a message that cannot be kept is reported, comes back whole, and nothing is asked; later it goes', async (t) => {
  const shop = await workshop(t, { script: `return { text: 'heard ' + last.text };` });
  await shop.line('one');
  await withoutDisk(shop, async () => {
    assert.equal(await shop.line('two'), 'failed');
  });
  assert.match(ofType(shop.events, 'error')[0]?.error ?? '', /EISDIR/);
  assert.deepEqual(ofType(shop.events, 'returned'), [{ type: 'returned', texts: ['two'] }]);
  assert.equal(shop.requests().length, 1);
  assert.equal(await shop.line('two'), 'done');
  assert.deepEqual(
    ofType(shop.events, 'assistant').map(({ text }) => text),
    ['heard one', 'heard two'],
  );
});

test('B12 of several queued messages none is lost where the first cannot be kept', async (t) => {
  const shop = await workshop(t, {
    script: `return { delayMs: 100, text: 'heard ' + last.text };`,
  });
  await shop.line('one');
  await withoutDisk(shop, async () => {
    const compacting = shop.agent.hold(() => new Promise((done) => setTimeout(done, 50)));
    await submit(shop.agent, 'two');
    await submit(shop.agent, 'three');
    await compacting;
    assert.equal(await shop.agent.rest(), 'failed');
  });
  assert.deepEqual(ofType(shop.events, 'returned').at(-1)?.texts, ['two', 'three']);
  assert.equal(shop.requests().length, 1);
});

test('rest reports how the last turn ended, also when asked afterwards', async (t) => {
  const shop = await workshop(t, { script: `return { status: 401, text: 'no key' };` });
  assert.equal(await shop.line('hello'), 'failed');
  assert.equal(await shop.agent.rest(), 'failed');
});

test('an answer that says nothing and calls nothing is noticed', async (t) => {
  const shop = await workshop(t, { script: `return { text: '' };` });
  assert.equal(await shop.line('hello'), 'done');
  assert.deepEqual(
    ofType(shop.events, 'notice').map(({ text }) => text),
    ['The model answered nothing.'],
  );
});

test('B23 what is promised while a hand-over is made is kept', async (t) => {
  const shop = await workshop(t, { script: `return { delayMs: 100, text: 'ok' };` });
  await shop.line('hello');
  const other = shop.agent.session.model.name.replace('@16000', '@15000');
  const handing = submit(shop.agent, '/handoff go on');
  await submit(shop.agent, `/model ${other}`);
  await handing;
  await shop.agent.rest();
  assert.equal(shop.agent.session.model.name, other);
});
