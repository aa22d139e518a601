import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { submit } from '../src/loop/submit.ts';
import { ofType, workshop } from './workshop.ts';

/** What begins a PNG file. */
const PICTURE = Buffer.from('89504e470d0a1a0a', 'hex');

const HEARD = `return { text: 'heard' };`;

test('a file that is mentioned cannot mention an image of its own', async (t) => {
  const shop = await workshop(t, { script: HEARD, interactive: true });
  const outside = join(dirname(shop.folders.project), 'outside.png');
  writeFileSync(outside, PICTURE);
  writeFileSync(join(shop.folders.project, 'note.md'), `see @${outside} thanks`);
  await shop.line('read @note.md');
  const [first] = await shop.agent.session.path();
  assert.deepEqual(first?.message.parts, [
    { kind: 'text', text: 'read @note.md' },
    { kind: 'text', text: `\n<file path="note.md">\nsee @${outside} thanks\n</file>` },
  ]);
  await shop.line(`look at @${outside}`);
  const [, , third] = await shop.agent.session.path();
  assert.deepEqual(
    third?.message.parts.map(({ kind }) => kind),
    ['text', 'text', 'image'],
  );
});

test('who mentions a link of the project has not allowed where it leads', async (t) => {
  const shop = await workshop(t, { script: HEARD, interactive: true, yes: false });
  const secret = join(dirname(shop.folders.project), 'secret.txt');
  writeFileSync(secret, 'SECRET');
  symlinkSync(secret, join(shop.folders.project, 'notes.txt'));
  await shop.line('read @notes.txt');
  await shop.line(`read @${secret}`);
  assert.deepEqual(
    ofType(shop.events, 'user').map(({ text }) => text.includes('SECRET')),
    [false, true],
  );
});

test('a mention that brings nothing is sent as text, and a notice says why', async (t) => {
  const files = { 'data.bin': 'a\0b', 'fake.png': '<html>not found</html>', 'src/a.ts': 'A' };
  const shop = await workshop(t, { script: HEARD, files, yes: false });
  const outside = join(dirname(shop.folders.project), 'outside.txt');
  writeFileSync(outside, 'OUTSIDE');
  symlinkSync(outside, join(shop.folders.project, 'link.txt'));
  await shop.line('@nope.ts @data.bin @fake.png @link.txt @thread:none @src/a.ts.');
  assert.deepEqual(
    ofType(shop.events, 'notice').map(({ text }) => text),
    [
      '@nope.ts: no such file, sent as text',
      '@data.bin: no text file, sent as text',
      '@fake.png: no image, sent as text',
      '@link.txt: leads out of the project, sent as text',
      '@thread:none: no such session, sent as text',
    ],
  );
  const [first] = await shop.agent.session.path();
  assert.deepEqual(
    first?.message.parts.map(({ kind }) => kind),
    ['text', 'text'],
  );
});

test('messages keep their order, whatever they bring along', async (t) => {
  const shop = await workshop(t, { script: HEARD, files: { 'a.txt': 'A' } });
  await Promise.all([submit(shop.agent, 'FIRST see @a.txt'), submit(shop.agent, 'SECOND')]);
  await shop.agent.rest();
  assert.deepEqual(
    ofType(shop.events, 'user').map(({ typed, text }) => typed ?? text),
    ['FIRST see @a.txt', 'SECOND'],
  );
});

test('what is interrupted before it is sent comes back', async (t) => {
  const shop = await workshop(t, { script: `return { text: 'heard', delayMs: 200 };` });
  shop.agent.say('too soon');
  shop.agent.interrupt();
  assert.equal(await shop.agent.rest(), 'interrupted');
  assert.deepEqual(ofType(shop.events, 'returned'), [{ type: 'returned', texts: ['too soon'] }]);
  assert.equal(shop.requests().length, 0);
  assert.equal(await shop.line('again'), 'done');
});
