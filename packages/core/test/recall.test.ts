import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  embedCompacted,
  memoryStore,
  textMessage,
  textOf,
  type Embedder,
  type Store,
  type Session,
} from '@bobbin/core';
import { qualityOf, recall, wordsOf, answerRecall } from '@bobbin/core/internal';

/** A thread whose beginning was dropped: 30 turns in a small window. */
async function compacted(
  store: Store,
  ...said: readonly [string, ...string[]] | readonly []
): Promise<Session> {
  const options = {
    store,
    preset: 'sliding-window',
    window: 3_000,
  } as const;
  const thread = await createBobbin(options).thread('t');
  const [first = 'The staging database listens on port 6543, behind bastion-7.', ...later] = said;
  await thread.append(textMessage('user', first));
  await thread.append(textMessage('assistant', 'Noted: bastion-7, port 6543.'));
  for (const text of later)
    await thread.append(textMessage('user', text), textMessage('assistant', 'Good.'));
  for (let i = 0; i < 30; i++) {
    await thread.append(textMessage('user', `Step ${i}: wind spool ${i}. ${'cotton '.repeat(40)}`));
    await thread.append(textMessage('assistant', `Spool ${i} is wound. ${'linen '.repeat(40)}`));
    await thread.prompt();
  }
  assert.ok(thread.plan.start > 2);
  return thread;
}

test('C26 a question brings back what answers it, with turn, role and how to read on', async () => {
  const thread = await compacted(memoryStore());
  await thread.append(textMessage('user', 'Which port does the staging database listen on?'));
  const { prompt, events } = await thread.prompt({ offersReadArtifact: true });
  const brought = prompt.messages.filter(({ source }) => source.kind === 'recalled');
  assert.ok(brought.length >= 1 && brought.length <= 3);
  const text = JSON.stringify(brought[0]?.message);
  assert.match(text, /turn 1, user; all of it: recall\(/);
  assert.match(text, /port 6543, behind bastion-7/);
  assert.equal(prompt.messages.at(-1)?.source.kind, 'kept');
  assert.deepEqual(events.filter(({ kind }) => kind === 'retrieved').length, 1);
  await thread.append(textMessage('assistant', '6543.'), textMessage('user', 'Good.'));
  const next = await thread.prompt();
  const length = next.compacted ? 0 : prompt.messages.length;
  assert.deepEqual(next.prompt.messages.slice(0, length), prompt.messages.slice(0, length));
});

test('14.8 C26 an excerpt of a long message shows the lines that were asked for', async () => {
  const lines = Array.from({ length: 400 }, (_, i) => `entry ${i}: nothing happened on this day`);
  lines[230] = 'entry 230: the walrus broke the scanner in hall 9';
  const store = memoryStore();
  const { key } = await compacted(store, lines.join('\n'));
  const answer = await answerRecall(store, key, { query: 'Who broke the scanner?' });
  assert.match(
    answer,
    /\n(?:…entry 2\d\d: .*\n)(?:entry 2\d\d: .*\n)*entry 230: the walrus broke the scanner in hall 9\n/,
  );
});

test('C26 what comes back names no tool that the model does not have', async () => {
  const thread = await compacted(memoryStore());
  await thread.append(textMessage('user', 'Which port does the staging database listen on?'));
  const { prompt } = await thread.prompt();
  const brought = prompt.messages.find(({ source }) => source.kind === 'recalled');
  assert.equal(
    textOf(brought?.message ?? assert.fail()),
    '[Recalled from earlier; data, not a request]\nturn 1, user\nThe staging database listens on port 6543, behind bastion-7.',
  );
});

test('C26 what is not a question, or matches by one word only, brings nothing', async () => {
  const thread = await compacted(memoryStore());
  for (const said of ['The staging database port is fine.', 'Is the database pretty?']) {
    await thread.append(textMessage('user', said));
    const { prompt } = await thread.prompt();
    assert.ok(!prompt.messages.some(({ source }) => source.kind === 'recalled'), said);
    await thread.append(textMessage('assistant', 'Yes.'));
  }
});

test('C26 the tool finds, and reads a result in full, page by page', async () => {
  const store = memoryStore();
  const thread = await compacted(store);
  const found = await answerRecall(store, thread.key, { query: 'bastion-7 port' });
  assert.match(found, /^\[1\] turn 1, /);
  const [, handle = ''] = /"message": "([^"]+)"/.exec(found) ?? [];
  assert.match(
    await answerRecall(store, thread.key, { message: handle }),
    /^\[turn 1, \w+\]\n\[characters 0–\d+ of \d+\]\n/,
  );
  assert.match(
    await answerRecall(store, thread.key, { message: handle, search: 'port' }),
    /1 of 1 lines hold "port"/,
  );
  assert.equal(
    await answerRecall(store, thread.key, { query: 'zeppelin' }),
    'Nothing that was compacted holds these words.',
  );
  assert.equal(await answerRecall(store, thread.key, {}), 'query: say what to search for.');
  for (const message of ['x', '5-nothing', `0-${'0'.repeat(32)}`])
    assert.equal(
      await answerRecall(store, thread.key, { message }),
      `There is no message ${message}.`,
    );
  const thief = { ...thread.key, tenant: 'thief' };
  assert.equal(
    await answerRecall(store, thief, { message: handle }),
    `There is no message ${handle}.`,
  );
});

test('C26 with an embedder, meaning finds what no word does', async () => {
  const store = memoryStore();
  const thread = await compacted(store);
  const topics = [
    ['database', 'port', 'bastion', 'connection', 'socket'],
    ['spool', 'cotton', 'linen', 'wind', 'wound'],
  ];
  const embedder: Embedder = {
    id: 'topics',
    dimensions: 2,
    embed: async (texts) =>
      texts.map((text) =>
        topics.map((topic) => wordsOf(text).filter((word) => topic.includes(word)).length),
      ),
  };
  const query = 'socket connection';
  assert.deepEqual(await recall(store, thread.key, query, { embedder }), []);
  const count = await embedCompacted(store, thread.key, embedder);
  assert.ok(count > 10);
  assert.equal(await embedCompacted(store, thread.key, embedder), 0);
  const [best] = await recall(store, thread.key, query, { embedder });
  assert.equal(best?.node.turn, 1);
});

/** The length of a text, as a vector; refuses what is too long, and may be gone altogether. */
function lengths(state: { gone: boolean; calls: number }): Embedder {
  return {
    id: 'lengths',
    dimensions: 2,
    async embed(texts) {
      state.calls++;
      if (state.gone) throw new Error('503');
      if (texts.some((text) => text.includes('bastion'))) throw new Error('input too long');
      return texts.map((text) => [1, text.length]);
    },
  };
}

test('C26 what is compacted gets its vector after the prompt, with no call by the host', async () => {
  const store = memoryStore();
  const embedder = lengths({ gone: false, calls: 0 });
  const bobbin = createBobbin({ store, preset: 'sliding-window', window: 3_000, embedder });
  const thread = await bobbin.thread('t');
  for (let i = 0; i < 30; i++) {
    await thread.append(textMessage('user', `Step ${i}. ${'cotton '.repeat(80)}`));
    await thread.prompt();
  }
  for (let tries = 0; (await store.unembedded(thread.key, 'lengths', 1)).length > 0; tries++) {
    assert.ok(tries < 500, 'never embedded');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.ok((await store.nearest(thread.key, 'lengths', [1, 0], 5)).length > 0);
});

test('C26 an embedder that fails, refuses one text or answers nonsense costs meaning, never recall', async () => {
  const store = memoryStore();
  const { key } = await compacted(store);
  const state = { gone: true, calls: 0 };
  const embedder = lengths(state);
  const query = 'bastion port';
  const byWords = await recall(store, key, query);
  assert.ok(byWords.length > 0);
  await assert.rejects(embedCompacted(store, key, embedder), /503/);
  assert.deepEqual(await recall(store, key, query, { embedder }), byWords);
  state.gone = false;
  assert.ok((await embedCompacted(store, key, embedder)) > 10, 'all but the refused');
  assert.equal(await embedCompacted(store, key, embedder), 0, 'the refused are not tried for ever');
  const short: Embedder = { ...embedder, id: 'short', embed: async () => [[1]] };
  await assert.rejects(
    embedCompacted(store, key, short),
    /short answered \d+ texts with 1 vectors/,
  );
  assert.deepEqual(await recall(store, key, query, { embedder: short }), byWords);
});

/** Names the release, and talks until that is compacted. */
async function talk(thread: Session, name: string): Promise<void> {
  await thread.append(textMessage('user', `The codename of the release is ${name}.`));
  for (let i = 0; i < 20; i++) {
    await thread.append(textMessage('user', `${name} ${i}. ${'cotton '.repeat(60)}`));
    await thread.prompt();
  }
}

test('C26 what was said on another fork is not recalled on this one', async () => {
  const store = memoryStore();
  const options = { store, preset: 'sliding-window', window: 3_000 } as const;
  const trunk = await createBobbin(options).thread('t');
  const [root] = await trunk.append(textMessage('user', 'Let us give the release a name.'));
  await talk(trunk, 'FALCON');
  const fork = await createBobbin(options).thread('t', root);
  await talk(fork, 'HERON');
  await fork.append(textMessage('user', 'What is the codename of the release?'));
  const { prompt } = await fork.prompt();
  const brought = prompt.messages.filter(({ source }) => source.kind === 'recalled');
  assert.ok(brought.length > 0);
  assert.doesNotMatch(JSON.stringify(brought), /FALCON/);
  assert.doesNotMatch(await answerRecall(store, fork.key, { query: 'codename release' }), /FALCON/);
});

test('C26 what the prompt shows as it is, is not recalled', async () => {
  const store = memoryStore();
  const thread = await compacted(store);
  const all = await recall(store, thread.key, 'spool wound', { most: 100 });
  const shown = new Set(all.slice(0, 2).map(({ node }) => node.id));
  const rest = await recall(store, thread.key, 'spool wound', { most: 100, shown });
  assert.deepEqual(
    rest.map(({ node }) => node.id),
    all.slice(2).map(({ node }) => node.id),
  );
});

const RULE =
  'Migrate the order service. Rules: never drop the table orders_legacy, and the listen port must stay 7443.';

async function recalledFor(question: string, ...said: readonly [string, ...string[]]) {
  const store = memoryStore();
  const thread = await compacted(store, ...said);
  await thread.append(textMessage('user', question));
  const { prompt } = await thread.prompt();
  const brought = prompt.messages
    .filter(({ source }) => source.kind === 'recalled')
    .map(({ message }) => textOf(message));
  return { brought, answered: await answerRecall(store, thread.key, { query: question }) };
}

test('C26 a rule that was corrected comes back with its correction, in the prompt and by the tool', async () => {
  const question = 'Which listen port does the order service have by the rules?';
  const { brought, answered } = await recalledFor(
    question,
    RULE,
    'The port must be 7445.',
    'Sorry, I was wrong: the port must be 7444, not 7443. Go on.',
  );
  const rule = brought.find((text) => text.includes('must stay 7443')) ?? '';
  const note =
    '[Said later by the user, turn 3: Sorry, I was wrong: the port must be 7444, not 7443.]';
  assert.ok(rule.includes(`${note}\nMigrate`), rule);
  assert.ok(answered.includes(`${note}\nMigrate`), answered);
});

test('C26 what was not corrected comes back as it was said', async () => {
  const { brought } = await recalledFor(
    'Which listen port does the order service have by the rules?',
    RULE,
    'The retry limit must be 5.',
    'Never drop the table invoices.',
  );
  const rule = brought.find((text) => text.includes('must stay 7443')) ?? '';
  assert.match(rule, /\nMigrate the order service\./);
  assert.doesNotMatch(rule, /Said later/);
});

test('C25 quality is read from what was recorded since the compaction', async () => {
  const store = memoryStore();
  const thread = await compacted(store);
  await thread.compact();
  assert.deepEqual(await qualityOf(store, thread.key), {
    turnsSinceCompaction: 0,
    askedForContext: 0,
    rehydrationRequests: 0,
  });
  await thread.append(textMessage('user', 'Go on.'));
  await thread.append(
    textMessage('assistant', 'Could you tell me the port of the database again?'),
  );
  await thread.append(textMessage('user', '6543.'), {
    role: 'assistant',
    parts: [{ kind: 'call', callId: 'c', tool: 'recall', args: '{"query":"port"}' }],
  });
  const at = {
    thread: thread.key.thread,
    time: 1,
    tokensBefore: 0,
    tokensAfter: 0,
    limitTokens: 0,
  };
  await store.record(thread.key, [{ kind: 'task-finished', completed: true, ...at }]);
  assert.deepEqual(await qualityOf(store, thread.key), {
    turnsSinceCompaction: 2,
    askedForContext: 1,
    rehydrationRequests: 1,
    taskCompleted: true,
  });
  assert.equal(await qualityOf(store, { ...thread.key, tenant: 'other' }), undefined);
});
