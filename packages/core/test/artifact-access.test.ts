import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  memoryArtifacts,
  textMessage,
  type ArtifactStore,
  type CompactionEvent,
  type Part,
  type Plan,
} from '@bobbin/core';
import {
  pageOf,
  planArtifacts,
  type ArtifactMetadata,
  type PageRequest,
  readArtifact,
} from '@bobbin/core/internal';
import { LISTING, round, sources, withArtifact } from './sample-artifact.ts';

test('C22 a tool says how its results are kept: sensitivity, time to live and permissions', async () => {
  const artifacts = memoryArtifacts();
  const artifact = { sensitivity: 'restricted', ttlMs: 60_000, permissions: ['audit'] } as const;
  const { thread, id } = await withArtifact({ artifacts, tools: { list: { artifact } } });
  const auditor = { tenant: 'default', permissions: ['audit'] };
  const { createdAt: _, ...metadata } = (await artifacts.metadata(id, auditor)) ?? {};
  assert.deepEqual(metadata, {
    tenant: 'default',
    thread: thread.key.thread,
    mediaType: 'text/plain',
    ...artifact,
  });
  assert.equal(await artifacts.metadata(id, { tenant: 'default' }), undefined);
});

test('C11 an artifact of several results is text: it is read by lines and searched', async () => {
  const artifacts = memoryArtifacts();
  const calls = ['c1', 'c2'].map((callId): Part => ({
    kind: 'call',
    callId,
    tool: 'list',
    args: '{}',
  }));
  const results = ['c1', 'c2'].map((callId): Part => ({
    kind: 'result',
    callId,
    tool: 'list',
    content: [{ kind: 'text', text: `${callId} begins\n${LISTING}` }],
  }));
  const thread = await createBobbin({ window: 8_000, artifacts }).thread('t');
  await thread.append(textMessage('user', 'List both.'));
  await thread.append({ role: 'assistant', parts: calls }, { role: 'tool', parts: results });
  const [id = ''] = planArtifacts((await thread.prompt()).plan);
  const read = (page: PageRequest): Promise<string> =>
    readArtifact(artifacts, { tenant: 'default' }, { id, ...page });
  assert.match(await read({ lines: [1, 3] }), /\n\[list of call c1\]\nc1 begins\nrow 0: spool 0$/);
  assert.match(await read({ search: 'c2 begins' }), /1 of \d+ lines hold/);
  assert.match(await read({ offset: 10_000_000 }), /there is nothing after character \d+/);
  assert.equal(
    await readArtifact(artifacts, { tenant: 'default' }, {}),
    'id: name the artifact that is to be read.',
  );
});

test('C22 what could not be stored is not pointed to: recall finds it in the thread', async () => {
  const artifacts: ArtifactStore = {
    ...memoryArtifacts(),
    put: () => Promise.reject(new Error('the disk is full')),
  };
  const thread = await createBobbin({ window: 8_000, artifacts }).thread('t');
  await thread.append(textMessage('user', 'List.'), ...round('c1', '{}', LISTING));
  const { prompt, plan, events, fits } = await thread.prompt({ offersReadArtifact: true });
  assert.ok(fits);
  assert.deepEqual([...planArtifacts(plan)], []);
  assert.doesNotMatch(JSON.stringify(prompt.messages), /artifact/);
  assert.match(JSON.stringify(prompt.messages), /\[Content Left Out - recall finds it\]/);
  assert.ok(events.some((event) => event.kind === 'warning' && /disk is full/.test(event.message)));
});

test('C22 what could not be stored is left out without a word about recall if the model does not have it', async () => {
  const artifacts: ArtifactStore = {
    ...memoryArtifacts(),
    put: () => Promise.reject(new Error('the disk is full')),
  };
  const thread = await createBobbin({ window: 8_000, artifacts }).thread('t');
  await thread.append(textMessage('user', 'List.'), ...round('c1', '{}', LISTING));
  const text = JSON.stringify((await thread.prompt()).prompt.messages);
  assert.match(text, /\[Content Left Out\] excerpt of/);
  assert.doesNotMatch(text, /recall/);
});

test('C11 C22 confidential content comes only by an explicit call, and an event says so', async () => {
  const kept = memoryArtifacts();
  const artifacts: ArtifactStore = {
    ...kept,
    put: (content: string | Uint8Array, metadata: ArtifactMetadata) =>
      kept.put(content, { ...metadata, sensitivity: 'confidential' }),
  };
  const events: CompactionEvent[] = [];
  const { thread, id } = await withArtifact({ artifacts, onEvent: (event) => events.push(event) });
  await thread.append(textMessage('user', `Show ${id}.`));
  assert.ok(!sources((await thread.prompt()).prompt.messages).includes('rehydrated'));
  await thread.prompt();
  assert.deepEqual(
    events.flatMap((event) =>
      event.kind === 'rehydration-blocked' ? [[event.artifactId, event.reason]] : [],
    ),
    [[id, 'it is confidential: only read_artifact brings it back']],
  );
  assert.match(
    await readArtifact(artifacts, { tenant: 'default' }, { id, lines: [2, 2] }),
    /row 1: spool 7$/,
  );
});

test('C22 an artifact that may not be read and one that is missing give the same answer', async () => {
  const artifacts = memoryArtifacts();
  const about = {
    tenant: 'a',
    thread: 't' as Plan['thread'],
    createdAt: 0,
    mediaType: 'text/plain',
    sensitivity: 'internal',
  } as const;
  const id = await artifacts.put('secret', { ...about, permissions: ['p'] });
  assert.equal(
    await readArtifact(artifacts, { tenant: 'a' }, { id }),
    `There is no artifact ${id}.`,
  );
  assert.equal(
    await readArtifact(artifacts, { tenant: 'b', permissions: ['p'] }, { id }),
    `There is no artifact ${id}.`,
  );
  assert.equal(
    await readArtifact(artifacts, { tenant: 'a' }, { id: 'nobody' }),
    'There is no artifact nobody.',
  );
  const image = await artifacts.put(new Uint8Array([1, 2]), { ...about, mediaType: 'image/png' });
  assert.match(
    await readArtifact(artifacts, { tenant: 'a' }, { id: image }),
    /is image\/png: it cannot be read as text/,
  );
});

test('C11 an artifact store that fails costs the reminder, never the prompt', async () => {
  const kept = memoryArtifacts();
  let broken = false;
  const artifacts: ArtifactStore = {
    ...kept,
    metadata: (...given) =>
      broken ? Promise.reject(new Error('the disk is gone')) : kept.metadata(...given),
  };
  const { thread, id } = await withArtifact({ artifacts });
  broken = true;
  await thread.append(textMessage('user', `Show ${id}.`));
  const { events, prompt } = await thread.prompt();
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'warning' ? [event.message] : [])),
    ['nothing could be brought back: the disk is gone'],
  );
  assert.equal(prompt.messages.at(-1)?.source.kind, 'kept');
});

test('C11 read_artifact pages and greps', () => {
  assert.equal(pageOf('short'), '[characters 0–5 of 5]\nshort');
  assert.equal(
    pageOf('0123456789', { offset: 2, limit: 3 }),
    '[characters 2–5 of 10]\n234\n[read on with {"offset": 5}]',
  );
  assert.equal(pageOf('a\nb\nc\nd', { lines: [2, 3] }), '[lines 2–3 of 4]\nb\nc');
  assert.equal(
    pageOf('aa\nbb\ncc', { lines: [1, 9], limit: 4 }),
    '[lines 1–1 of 3]\naa\n[read on with {"lines": [2, 3]}]',
  );
  assert.equal(pageOf('x', { lines: [7, 3] }), '[lines 1–1 of 1]\nx');
  const text = Array.from({ length: 30 }, (_, i) =>
    i === 4 || i === 20 ? `Needle ${i}` : `hay ${i}`,
  ).join('\n');
  assert.equal(
    pageOf(text, { search: 'needle' }),
    '[2 of 30 lines hold "needle", 2 shown]\n3: hay 2\n4: hay 3\n5: Needle 4\n6: hay 5\n7: hay 6\n…\n' +
      '19: hay 18\n20: hay 19\n21: Needle 20\n22: hay 21\n23: hay 22',
  );
  const rows = Array.from({ length: 200 }, (_, i) =>
    i % 20 === 0 ? `hit ${i} ${'x'.repeat(350)}` : '-',
  );
  const page = pageOf(rows.join('\n'), { search: 'hit', limit: 900 });
  assert.match(page, /^\[10 of 200 lines hold "hit", 2 shown\]/);
  assert.match(page, /\[read on with \{"lines": \[24, 200\]\}\]$/, 'the third is at line 41');
  assert.equal(
    pageOf(`ab\n${'y'.repeat(100)}`, { lines: [2, 2], limit: 10 }),
    `[lines 2–2 of 2]\n${'y'.repeat(10)}\n[read on with {"offset": 13}]`,
  );
  assert.equal(pageOf('abc', { search: 'zzz' }), '[0 of 1 lines hold "zzz", 0 shown]\n');
  const huge = `${'x'.repeat(500_000)}needle${'y'.repeat(500_000)}`;
  assert.ok(
    pageOf(huge, { search: 'needle' }).includes('xneedley') &&
      pageOf(huge, { search: 'needle' }).length < 1_000,
  );
  assert.ok(pageOf(huge, { limit: 10_000_000 }).length < 41_000, 'bounded');
  assert.ok(
    pageOf('😀'.repeat(10), { limit: 3 }).startsWith('[characters 0–2 of 20]\n😀\n'),
    'no half characters',
  );
});
