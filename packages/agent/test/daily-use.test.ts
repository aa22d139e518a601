import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { textOf } from '@bobbin/core';
import { assertSettled } from './golden-screen.ts';
import { open, place, type Place } from './place.ts';
import { streamServer, type Answered } from './stream-server.ts';
import { ofType, workshop, type Workshop } from './workshop.ts';

/** A terminal on a server that answers so. */
async function facing(t: TestContext, ...answers: readonly Answered[]): Promise<Place> {
  const where = place(t, '');
  const settings = { providers: { own: { baseURL: await streamServer(t, ...answers) } } };
  mkdirSync(join(where.home, 'config', 'bobbin'), { recursive: true });
  writeFileSync(join(where.home, 'config', 'bobbin', 'settings.json'), JSON.stringify(settings));
  return { ...where, model: 'own/slow@16000' };
}

async function shopFacing(t: TestContext, ...answers: readonly Answered[]): Promise<Workshop> {
  const settings = { providers: { own: { baseURL: await streamServer(t, ...answers) } } };
  return workshop(t, { script: '', model: 'own/slow@16000', settings });
}

test('B12 a stream that breaks off is asked for again; what came of it counts for nothing', async (t) => {
  const shop = await shopFacing(
    t,
    { pieces: ['half of '], breaks: true },
    { pieces: ['a whole ', 'answer'] },
  );
  assert.equal(await shop.line('hello'), 'done', JSON.stringify(ofType(shop.events, 'error')));
  const [retry] = ofType(shop.events, 'retry');
  assert.equal(retry?.attempt, 2);
  const path = await shop.agent.session.path();
  assert.deepEqual(
    path.map(({ message }) => textOf(message)),
    ['hello', 'a whole answer'],
  );
});

test('B12 a stream that breaks off each time is given up after three attempts', async (t) => {
  const shop = await shopFacing(t, { pieces: ['half'], breaks: true });
  assert.equal(await shop.line('hello'), 'failed');
  assert.match(ofType(shop.events, 'error')[0]?.error ?? '', /\(asked 3 times\)$/);
});

for (const columns of isSoak() ? [40, 80, 140] : [80])
  test(`at ${columns} columns: seconds and attempts are shown, /help does not tear an answer, thinking can be shown`, async (t) => {
    const where = await facing(
      t,
      { pieces: ['broken '], breaks: true },
      { reasoning: 'I weigh it.', pieces: ['one ', 'two ', 'three'], pauseMs: 1_300 },
    );
    const terminal = open(t, { ...where, columns, rows: 40 }, 'hello');
    if (columns > 40) await terminal.until('attempt 2: ');
    await terminal.until(/Working… 1 s/);
    await terminal.until('one');
    terminal.line('/help');
    await terminal.until(/@thread:ID what another session holds/);
    await assertSettled(`stream-${columns}`, terminal);
    const screen = terminal.all();
    assert.match(screen, /Thinking \(Ctrl\+O shows it\)\n\none two three\n/);
    assert.doesNotMatch(screen, /broken/);
    terminal.type('\u000F');
    await terminal.settled();
    assert.match(terminal.all(), /I weigh it\./);
  });

test('Esc in an answer gives one message; an empty Enter after it sends nothing', async (t) => {
  const where = await facing(t, {
    pieces: Array.from({ length: 50 }, () => 'word '),
    pauseMs: 200,
  });
  const terminal = open(t, where, 'hello');
  await terminal.until('word word');
  terminal.type('\u001B');
  await terminal.until('Interrupted.');
  const screen = await terminal.settled();
  assert.equal(screen.match(/interrupted|stopped/gi)?.length, 1, screen);
  terminal.type('\r');
  await terminal.until('It was interrupted: type a message to go on');
  await terminal.settled();
  assert.doesNotMatch(terminal.screen(), /Working/);
});

test('after an error at the start there is the error and no empty frame', async (t) => {
  const where = place(t, '');
  mkdirSync(join(where.cwd, '.bobbin'));
  writeFileSync(join(where.cwd, '.bobbin', 'settings.json'), '{"modell": 1}');
  const terminal = open(t, where);
  assert.equal(await terminal.ended(), 2);
  const screen = await terminal.settled();
  assert.match(screen.replaceAll('\n', ''), /^bobbin: .*there is no setting modell$/);
});

test('/resume shows when a session changed and its id; at 40 columns when', async (t) => {
  const where = place(t, `return { text: 'ok' };`);
  const first = open(t, where, 'a question that is long enough to be cut off in a narrow list');
  await first.until('ok');
  first.kill();
  for (const columns of isSoak() ? [40, 80, 140] : [40]) {
    const terminal = open(t, { ...where, columns });
    await terminal.until('context');
    terminal.line('/resume');
    await terminal.until('Resume which session?');
    await assertSettled(`resume-list-${columns}`, terminal);
    terminal.kill();
  }
});

test('/undo of the first turn leaves what it cost in /cost', async (t) => {
  const shop = await workshop(t, { script: `return { text: 'ok' };` });
  const paid = async (): Promise<unknown> => {
    await shop.line('/cost');
    return ofType(shop.events, 'command').at(-1)?.data;
  };
  await shop.line('hello');
  const before = await paid();
  await shop.line('/undo');
  assert.equal(shop.agent.session.handle.length, 0);
  assert.deepEqual(await paid(), before);
});
