import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  externalize,
  memoryArtifacts,
  memoryStore,
  textMessage,
  textOf,
  type Message,
  type Policy,
} from '@bobbin/core';
import {
  ALTERNATING_RULES,
  chars4,
  messageLimit,
  budget,
  planArtifacts,
  type ArtifactId,
  type PromptMessage,
} from '@bobbin/core/internal';
import { cpuMs } from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';
import { names, newestTurnOf, wantedArtifacts, type NewestTurn } from '../src/recall/rehydrate.ts';
import { LISTING, moved, round, sources, withArtifact } from './sample-artifact.ts';

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
const speech = (text: string, turn = 5): NewestTurn => ({
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
  assert.deepEqual(newestTurnOf(nodes), {
    turn: 2,
    openerIndex: 4,
    texts: ['Next.', '', 'Now this.'],
    pending: [{ kind: 'call', callId: 'c3', tool: 'x', args: '{"a":1}' }],
  });
  assert.equal(newestTurnOf([]), undefined);
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
