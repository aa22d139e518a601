import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  externalize,
  memoryArtifacts,
  memoryStore,
  textMessage,
  textOf,
  type ArtifactStore,
  type BobbinOptions,
  type CompactionEvent,
  type Message,
  type Part,
  type Plan,
  type Policy,
  type Session,
} from '@bobbin/core';
import {
  ALTERNATING_RULES,
  chars4,
  messageLimit,
  budget,
  pageOf,
  planArtifacts,
  type ArtifactId,
  type ArtifactMetadata,
  type PageRequest,
  type PromptMessage,
  readArtifact,
} from '@bobbin/core/internal';
import { cpuMs } from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';
import { names, speechOf, wantedArtifacts, type TurnSpeech } from '../src/recall/rehydrate.ts';

const LISTING = Array.from({ length: 900 }, (_, i) => `row ${i}: spool ${i * 7}`).join('\n');

function round(callId: string, args: string, text: string): readonly Message[] {
  return [
    { role: 'assistant', parts: [{ kind: 'call', callId, tool: 'list', args }] },
    {
      role: 'tool',
      parts: [{ kind: 'result', callId, tool: 'list', content: [{ kind: 'text', text }] }],
    },
  ];
}

/** A thread whose first tool result was moved to an artifact. */
async function withArtifact(
  options: Partial<BobbinOptions> = {},
): Promise<{ thread: Session; id: ArtifactId }> {
  const thread = await createBobbin({ window: 8_000, ...options }).thread('t');
  await thread.append(
    textMessage('user', 'List the spools of the warehouse.'),
    ...round('c1', '{"path":"warehouse/spools.csv"}', LISTING),
  );
  const { plan } = await thread.prompt();
  await thread.append(textMessage('assistant', 'There are 900.'));
  const [id] = planArtifacts(plan);
  assert.ok(id !== undefined, 'the listing was externalized');
  return { thread, id };
}

function sources(messages: readonly PromptMessage[]): readonly string[] {
  return messages.map(({ source }) => source.kind);
}

test('C11 an artifact that a message names is shown before the present turn, and stays there', async () => {
  const { thread, id } = await withArtifact();
  await thread.append(textMessage('user', `What is in row 1 of artifact:${id}?`));
  const pressure = thread.pressure;
  const first = await thread.prompt();
  const at = first.prompt.messages.findIndex(({ source }) => source.kind === 'rehydrated');
  assert.deepEqual(sources(first.prompt.messages.slice(at)), ['rehydrated', 'kept']);
  assert.match(JSON.stringify(first.prompt.messages[at]?.message), /row 1: spool 7/);
  assert.equal(thread.pressure, pressure, 'pressure does not see it');
  await thread.append(...round('c2', '{}', 'looked'));
  const second = await thread.prompt();
  assert.deepEqual(
    second.prompt.messages.slice(0, first.prompt.messages.length),
    first.prompt.messages,
    'grows at its end',
  );
  await thread.append(textMessage('assistant', '7.'), textMessage('user', 'Thanks.'));
  const third = await thread.prompt();
  assert.deepEqual(
    third.prompt.messages.slice(0, second.prompt.messages.length),
    second.prompt.messages,
    'the next turn too',
  );
  await thread.compact();
  assert.ok(!sources((await thread.prompt()).prompt.messages).includes('rehydrated'), 'rewritten');
  assert.ok(
    !thread.messages.some((message) => JSON.stringify(message).includes('Rehydrated')),
    'no thread holds it',
  );
});

test('C11 ids are matched whole', () => {
  const id = 'abc123';
  for (const text of [id, `see ${id}.`, `artifact:${id}`, `"${id}"`, `(${id})\n`])
    assert.ok(names(text, id), text);
  for (const text of [`x${id}`, `${id}4`, `${id}_v2`, `${id}-b`, `é${id}`, '', 'abc12'])
    assert.ok(!names(text, id), text);
});

const reference = (n: number, hint = `when the rows of table ${n} are needed`) => ({
  artifactId: `a${n}` as ArtifactId,
  description: `query(table ${n})`,
  hint,
});
const speech = (text: string, turn = 5): TurnSpeech => ({
  turn,
  openerIndex: 0,
  texts: [text],
  pending: [],
});
const ids = (wanted: readonly { artifactId: ArtifactId }[]): readonly string[] =>
  wanted.map(({ artifactId }) => artifactId);

test('C11 at most three artifacts a turn, named ones first', () => {
  const references = [1, 2, 3, 4, 5].map((n) => reference(n));
  assert.deepEqual(ids(wantedArtifacts(references, speech('a5 a4 a3 a2 a1'), new Map())), [
    'a1',
    'a2',
    'a3',
  ]);
  const mixed = {
    ...speech('a5, and the rows of table 2?'),
    pending: [{ kind: 'call', callId: 'c', tool: 'x', args: '{"ref":"a4"}' }],
  } as const;
  assert.deepEqual(
    wantedArtifacts(references, mixed, new Map()).map(({ because }) => because),
    ['named', 'called', 'hint'],
  );
});

test('C11 a question that matches the hint brings it back, a statement or another question does not', () => {
  const references = [reference(1, 'when the invoice totals of march are needed')];
  const wants = (text: string): boolean =>
    wantedArtifacts(references, speech(text), new Map()).length > 0;
  assert.ok(wants('What were the invoice totals in march?'));
  assert.ok(!wants('The invoice totals of march are fine.'));
  assert.ok(!wants('What is the weather in march?'));
  assert.ok(!wants('?'));
  const long = `${'word '.repeat(100_000)}?`;
  assert.ok(cpuMs(() => wants(long)) < 200, 'bounded');
  const many = Array.from({ length: 200 }, (_, n) => reference(n));
  const texts = Array.from({ length: 60 }, (_, n) => `Is ${n} done? ${'word '.repeat(200)}`);
  const step = (): unknown =>
    wantedArtifacts(many, { turn: 5, openerIndex: 0, texts, pending: [] }, new Map());
  step();
  assert.ok(cpuMs(step) < 200, 'a step of a long turn with many artifacts');
});

test('C11 the same artifact cools down for two turns', () => {
  const references = [reference(1)];
  const at = (turn: number): number =>
    wantedArtifacts(references, speech('a1', turn), new Map([['a1' as ArtifactId, 5]])).length;
  assert.deepEqual([5, 6, 7, 8].map(at), [1, 0, 1, 1]);
});

test('C11 only the present turn speaks, and a pending call is one without a result', async () => {
  const { thread } = await withArtifact();
  await thread.append(textMessage('user', 'Next.'), ...round('c2', '{}', 'text of a tool'), {
    role: 'assistant',
    parts: [
      { kind: 'text', text: 'Now this.' },
      { kind: 'call', callId: 'c3', tool: 'x', args: '{"a":1}' },
    ],
  });
  const nodes = Array.from({ length: thread.length }, (_, i) => thread.at(i)).filter(
    (node) => node !== undefined,
  );
  assert.deepEqual(speechOf(nodes), {
    turn: 2,
    openerIndex: 4,
    texts: ['Next.', '', 'Now this.'],
    pending: [{ kind: 'call', callId: 'c3', tool: 'x', args: '{"a":1}' }],
  });
  assert.equal(speechOf([]), undefined);
});

test('C11 what is found inside a running turn is shown at its end, after the newest results', async () => {
  const { thread, id } = await withArtifact();
  await thread.append(textMessage('user', 'Look into it.'));
  const before = await thread.prompt();
  const call: Message = {
    role: 'assistant',
    parts: [
      { kind: 'text', text: `I need artifact:${id}.` },
      { kind: 'call', callId: 'c2', tool: 'list', args: '{}' },
    ],
  };
  await thread.append(call, ...round('c2', '{}', 'looked').slice(1));
  const found = await thread.prompt();
  assert.deepEqual(found.prompt.messages.slice(0, before.prompt.messages.length), [
    ...before.prompt.messages,
  ]);
  assert.deepEqual(sources(found.prompt.messages.slice(before.prompt.messages.length)), [
    'kept',
    'kept',
    'rehydrated',
  ]);
  await thread.append(...round('c3', '{}', 'looked again'));
  const later = await thread.prompt();
  assert.deepEqual(later.prompt.messages.slice(0, found.prompt.messages.length), [
    ...found.prompt.messages,
  ]);
  assert.deepEqual(sources(later.prompt.messages.slice(-3)), ['rehydrated', 'kept', 'kept']);
});

test('C12 newer reminders take the space of older ones, the latest of these first', async () => {
  const thread = await createBobbin({
    preset: { ...softLadder, ladder: [externalize()], cut: { kind: 'everything' } },
    window: 60_000,
    counter: chars4(),
    rehydration: { tokensEach: 900 },
  }).thread('t');
  await thread.append(textMessage('user', 'List all.'));
  for (const n of [1, 2, 3, 4, 5, 6])
    await thread.append(...round(`c${n}`, `{"table":${n}}`, `table ${n}\n${LISTING}`));
  await thread.append(textMessage('assistant', 'Listed.'));
  const made = planArtifacts((await thread.compact()).plan);
  const shown: (readonly ArtifactId[])[] = [];
  for (const id of made.slice(0, 3)) {
    await thread.append(textMessage('user', `Show artifact:${id}.`));
    const { messages } = (await thread.prompt()).prompt;
    const brought = messages.filter(({ source }) => source.kind === 'rehydrated');
    const tokens = brought.reduce((sum, { message }) => sum + chars4().message(message), 0);
    assert.ok(tokens <= 2_000, `${tokens} in a reserve of 2 000`);
    shown.push(
      brought.flatMap(({ source }) => (source.kind === 'rehydrated' ? source.artifactId : [])),
    );
    await thread.append(textMessage('assistant', 'Shown.'));
  }
  const [one, two, three] = made;
  assert.deepEqual(shown, [[one], [one, two], [one, three]]);
});

/** What 100 turns lead to that mention something of an artifact. */
async function hundredTurns(mention: (id: ArtifactId) => string) {
  const store = memoryStore();
  const { thread, id } = await withArtifact({ store });
  const shown: number[] = [];
  let rewrites = 0;
  let last: readonly PromptMessage[] = [];
  const limit = messageLimit(budget({ windowTokens: 8_000 }));
  for (let turn = 2; turn <= 101; turn++) {
    await thread.append(textMessage('user', `Turn ${turn}: go on${mention(id)}.`));
    const { prompt } = await thread.prompt();
    const brought = prompt.messages.filter(({ source }) => source.kind === 'rehydrated');
    const own = brought.reduce((sum, { message }) => sum + thread.counter.message(message), 0);
    assert.ok(
      own <= 2_000 && prompt.tokens - own <= limit,
      `turn ${turn}: ${prompt.tokens} with ${own} brought back`,
    );
    if (brought.length > 0) shown.push(turn);
    assert.ok(brought.length <= 1);
    rewrites += last.every(({ message }, i) => message === prompt.messages[i]?.message) ? 0 : 1;
    last = prompt.messages;
    await thread.append(textMessage('assistant', `Done ${turn}. ${'so be it '.repeat(20)}`));
  }
  const compactions = (await store.events(thread.key)).filter(
    ({ event }) => event.kind === 'completed',
  ).length;
  return { shown, compactions, rewrites, artifacts: planArtifacts(thread.plan).length };
}

test('C12 an agent that names the same artifact for 100 turns does not oscillate', async () => {
  const naming = await hundredTurns((id) => ` with artifact:${id}`);
  const silent = await hundredTurns(() => ' with the work at hand, as it is written');
  assert.ok(naming.shown.length > 10, `${naming.shown.length} times`);
  assert.ok(
    naming.rewrites <= naming.compactions,
    `${naming.rewrites} prompts were rewritten, ${naming.compactions} compactions`,
  );
  assert.ok(
    naming.compactions <= silent.compactions + 2,
    `${naming.compactions} compactions, ${silent.compactions} without`,
  );
  assert.ok(naming.artifacts <= silent.artifacts, 'nothing is moved out again');
});

test('C12 an artifact cools down also where every turn is another process', async () => {
  const [store, artifacts] = [memoryStore(), memoryArtifacts()];
  const { id } = await withArtifact({ store, artifacts });
  const shown: number[] = [];
  for (let turn = 2; turn < 8; turn++) {
    const thread = await createBobbin({ window: 8_000, store, artifacts }).thread('t');
    await thread.append(textMessage('user', `Look at artifact:${id}.`));
    const { prompt } = await thread.prompt();
    if (sources(prompt.messages).includes('rehydrated')) shown.push(turn);
    await thread.append(textMessage('assistant', 'Done.'));
  }
  assert.deepEqual(shown, [2, 4, 6]);
});

function moved(events: readonly CompactionEvent[]): number {
  return events.filter(({ kind }) => kind === 'externalized').length;
}

test('C12 while something is brought back, externalize waits for the next turn', async () => {
  const preset: Policy = {
    ...softLadder,
    ladder: [externalize()],
    cut: { kind: 'everything' },
    firstSightShare: 1,
  };
  const thread = await createBobbin({ preset, window: 30_000, counter: chars4() }).thread('t');
  await thread.append(textMessage('user', 'List.'), ...round('c1', '{}', LISTING));
  await thread.append(textMessage('assistant', 'Done.'));
  const [id] = planArtifacts((await thread.compact()).plan);
  await thread.append(textMessage('user', `Compare all with artifact:${id}.`));
  assert.ok(sources((await thread.prompt()).prompt.messages).includes('rehydrated'));
  for (let n = 2; thread.pressure < 0.9; n++)
    await thread.append(...round(`c${n}`, '{}', LISTING.slice(0, 9_000 + n)));
  assert.equal(moved((await thread.prompt()).events), 0, 'in this turn');
  await thread.append(textMessage('assistant', 'Alike.'), textMessage('user', 'Go on.'));
  assert.ok(moved((await thread.prompt()).events) > 0, 'in the next');
});

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

test('C11 an artifact that comes back in part says how to read on only to a model that can', async () => {
  const { thread, id } = await withArtifact();
  const rest = async (offersReadArtifact: boolean): Promise<string | undefined> => {
    await thread.append(textMessage('user', `Show artifact:${id}.`));
    const { prompt } = await thread.prompt({ offersReadArtifact });
    const brought = prompt.messages.find(({ source }) => source.kind === 'rehydrated');
    await thread.append(textMessage('assistant', 'Shown.'));
    await thread.compact();
    await thread.append(textMessage('user', 'Thanks.'), textMessage('assistant', 'Welcome.'));
    const last = brought && textOf(brought.message).split('\n').at(-1);
    return last?.replaceAll(id, 'ID').replaceAll(/\d{3,}/g, 'N');
  };
  assert.equal(await rest(false), '[N of N characters]');
  assert.equal(
    await rest(true),
    '[N of N characters; read on: read_artifact({"id": "ID", "offset": N})]',
  );
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

test('C11 nothing is brought back without a reserve', async () => {
  const { thread, id } = await withArtifact({ budget: { rehydrationTokens: 0 } });
  await thread.append(textMessage('user', `Show ${id}.`));
  assert.ok(!sources((await thread.prompt()).prompt.messages).includes('rehydrated'));
});

test('C18 roles take turns around what is brought back, where a provider asks for it', async () => {
  const { thread, id } = await withArtifact({ rules: ALTERNATING_RULES });
  await thread.append(textMessage('user', `Show ${id}.`));
  const { prompt } = await thread.prompt();
  const at = prompt.messages.findIndex(({ source }) => source.kind === 'rehydrated');
  assert.deepEqual(
    prompt.messages.slice(at - 1).map(({ message, source }) => [message.role, source.kind]),
    [
      ['assistant', 'kept'],
      ['user', 'rehydrated'],
      ['assistant', 'bridge'],
      ['user', 'kept'],
    ],
  );
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
