import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenCount, type Plan, type Summary } from '@bobbin/core';
import {
  actions,
  chars4,
  currentSummary,
  emptyPlan,
  EMPTY_SUMMARY,
  ladder,
  messagesOnly,
  normalize,
  planArtifacts,
  render,
  renderSummary,
  slidingWindow,
  spanOf,
  STRICT_RULES,
  SUMMARY_RENDER_VERSION,
  type ArtifactId,
  type ClearRecord,
  type DropRecord,
  type ExternalizeRecord,
  type Node,
  type PlanRecord,
  type Span,
  type SummarizeRecord,
} from '@bobbin/core/internal';
import {
  assistant,
  expectValid,
  call,
  promptLines,
  result,
  system,
  thread,
  user,
  WatchedThread,
} from '@bobbin/testing';

const [readA, readB] = [call('read', { path: '/a' }, 'c1'), call('read', { path: '/b' }, 'c2')];
const talk = thread(
  system('be brief'),
  user('find the bug'),
  assistant(readA),
  result(readA, 'file a'),
  assistant(readB),
  result(readB, 'file b'),
  assistant('found it'),
  user('fix it'),
  assistant('fixed'),
);

function span(...indices: readonly number[]): Span {
  return spanOf(indices.map((index) => talk.at(index) as Node)) ?? assert.fail();
}

const summary: Summary = {
  ...EMPTY_SUMMARY,
  firstTurn: 1,
  lastTurn: 1,
  prose: 'Looked at a and b.',
};
const summarized = (of: Span): SummarizeRecord => ({
  kind: 'summarize',
  span: of,
  summary,
  text: 'Looked at a and b.',
  summaryTokens: 5,
  at: 2,
  messages: of.ids.length,
});
const externalized = (of: Span): ExternalizeRecord => ({
  kind: 'externalize',
  span: of,
  artifactId: 'a0' as ArtifactId,
  summary: 'two files',
  hint: 'when the files are needed',
  kept: [],
  argsChars: 0,
});
const cleared = (of: Span): ClearRecord => ({ kind: 'clear', span: of, preserved: {} });
const dropped = (of: Span): DropRecord => ({
  kind: 'drop',
  span: of,
  reason: 'last resort',
  index: { keywords: ['file'], description: '2 messages', time: 0 },
});

function planOf(...records: readonly PlanRecord[]): Plan {
  return { ...emptyPlan(talk.id), head: talk.head?.id ?? null, threadVersion: 9, records };
}

/** The prompt of a plan as text, checked against every law. */
function shown(plan: Plan): readonly string[] {
  const context = { rules: STRICT_RULES, counter: chars4() };
  const prompt = render(talk.window(plan), plan, context);
  expectValid(talk, plan, prompt, context);
  return promptLines(prompt);
}

test('C3 each kind of record shows as what it is', () => {
  assert.deepEqual(shown(planOf(dropped(span(2, 3)))), [
    '0 system (kept) "be brief"',
    '1 user (kept) "find the bug"',
    '2 assistant (kept) calls read#c2 "{\\"path\\":\\"/b\\"}"',
    '3 tool (kept) answers #c2 "file b"',
    '4 assistant (kept) "found it"',
    '5 user (kept) "fix it"',
    '6 assistant (kept) "fixed"',
  ]);
  assert.deepEqual(shown(planOf(cleared(span(3)))).slice(2, 5), [
    '2 assistant (kept) calls read#c1 "{\\"path\\":\\"/a\\"}"',
    '3 tool (clear) answers #c1 "[read: done, result cleared]"',
    '4 assistant (kept) calls read#c2 "{\\"path\\":\\"/b\\"}"',
  ]);
  assert.deepEqual(shown(planOf(summarized(span(2, 3, 4, 5, 6)))), [
    '0 system (kept) "be brief"',
    '1 user (kept) "find the bug"',
    '2 assistant (record 0) "[Context Summary - Turns 1-1]\\nLooked at a and b."',
    '3 user (kept) "fix it"',
    '4 assistant (kept) "fixed"',
  ]);
});

test('C3 a span moved to one artifact becomes one pointer with the way back', () => {
  const bare = planOf(externalized(span(2, 3, 4, 5)));
  const plan = { ...bare, style: { ...bare.style, offersReadArtifact: true } };
  assert.equal(shown(plan).length, 6);
  const prompt = render(talk.window(plan), plan, { rules: STRICT_RULES, counter: chars4() });
  const text =
    '[Externalized Content - artifact:a0]\nSummary: two files\nTo retrieve full content, call: read_artifact("a0")';
  assert.deepEqual(prompt.messages[2]?.message, {
    role: 'assistant',
    parts: [{ kind: 'text', text }],
    meta: { synthetic: true },
  });
});

test('C4 drop over externalize over summarize over clear, and overlaps are reported', () => {
  const id = (index: number): string => (talk.at(index) as Node).id;
  const records = [
    cleared(span(3)),
    summarized(span(2, 3, 4, 5)),
    externalized(span(4, 5)),
    dropped(span(5)),
  ];
  const { records: kept, warnings } = normalize(records);
  assert.deepEqual(
    kept.map(({ kind, span: { ids } }) => [kind, ...ids]),
    [
      ['summarize', id(2), id(3)],
      ['externalize', id(4)],
      ['drop', id(5)],
    ],
  );
  assert.deepEqual(warnings, [
    `message ${id(5)} is in externalize and drop; drop counts`,
    `message ${id(4)} is in summarize and externalize; externalize counts`,
    `message ${id(5)} is in summarize and drop; drop counts`,
    `message ${id(3)} is in clear and summarize; summarize counts`,
  ]);
  const acts = actions({ records, hides: [{ id: (talk.at(6) as Node).id, replacement: '…' }] });
  assert.deepEqual(
    [2, 3, 4, 5, 6, 7].map((index) => acts.get((talk.at(index) as Node).id)?.kind),
    ['summarize', 'summarize', 'externalize', 'drop', 'hide', undefined],
  );
});

test('C4 without overlaps the records are the very same', () => {
  const records = [cleared(span(3)), dropped(span(5))];
  const normalized = normalize(records);
  assert.equal(normalized.records, records);
  assert.deepEqual(normalized.warnings, []);
});

test('C5 a plan is pure data with its thread, version, time and tokens', async () => {
  const watched = await WatchedThread.open({
    preset: slidingWindow(2, tokenCount(30)),
    counter: chars4(),
    clock: { now: () => 1_234 },
  });
  await watched.append(...talk.path().map(({ message }) => message));
  const { plan, prompt } = await watched.prompt();
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
  const { thread: id, threadVersion, createdAt, tokensBefore, tokensAfter, head, policy } = plan;
  assert.deepEqual(
    { id, threadVersion, createdAt, policy, head },
    {
      id: 'watched',
      threadVersion: 9,
      createdAt: 1_234,
      policy: 'sliding-window',
      head: watched.thread.head?.id,
    },
  );
  assert.equal(tokensBefore, chars4().request({ messages: talk.path().map((n) => n.message) }));
  assert.equal(tokensAfter, prompt.tokens);
  assert.ok(tokensAfter < tokensBefore);
});

test('C5 a plan knows its summary and every artifact that it points to', () => {
  const withArtifacts: SummarizeRecord = {
    ...summarized(span(2, 3)),
    summary: {
      ...summary,
      artifacts: [{ artifactId: 'b1' as ArtifactId, description: 'a log', hint: 'for the error' }],
    },
  };
  const plan = planOf(withArtifacts, externalized(span(5)));
  assert.equal(currentSummary(plan), withArtifacts);
  assert.deepEqual(planArtifacts(plan), ['b1', 'a0']);
  assert.equal(currentSummary(planOf()), undefined);
});

test('C6 a summary renders to the same bytes each time: versioned, sections in a fixed order', () => {
  const full: Summary = {
    ...EMPTY_SUMMARY,
    round: 3,
    firstTurn: 1,
    lastTurn: 9,
    task: 'Build a flashcard app',
    facts: [{ kind: 'constraint', text: 'Never delete production data', by: 'user', turn: 2 }],
    decisions: [{ text: 'Use SQLite', rationale: 'one file', turn: 4 }],
    items: [
      { text: 'Write the tests', state: 'open', priority: 'high' },
      { text: 'Make the schema', state: 'done', priority: 'medium' },
    ],
    artifacts: [
      { artifactId: 'f00' as ArtifactId, description: 'build log', hint: 'to see the error' },
    ],
    outcomes: [
      {
        tool: 'bash',
        outcome: 'failure',
        call: 'npm test',
        turn: 5,
        error: 'exit 1',
        resolution: 'types fixed',
      },
      { tool: 'read', outcome: 'success', call: '/src/db.ts', turn: 3, keyFields: { lines: 40 } },
    ],
    files: [{ path: '/src/db.ts', read: true, written: true, edited: false, deleted: false }],
    notes: [{ text: 'port 5432', by: 'tool', source: 'bash', turn: 6 }],
    currentTask: 'the review command',
    currentPlan: ['write', 'test'],
  };
  const text = renderSummary(full);
  assert.equal(renderSummary(JSON.parse(JSON.stringify(full)) as Summary), text);
  assert.ok(text.startsWith(`[Summary ${SUMMARY_RENDER_VERSION}, round 3]`));
  const said = [
    'Build a flashcard app',
    'Never delete production data',
    'the review command',
    'Write the tests',
    'Use SQLite',
    'exit 1',
    '/src/db.ts',
    'Make the schema',
    'f00',
    'port 5432',
  ];
  assert.deepEqual(
    said.filter((part) => !text.includes(part)),
    [],
  );
  const reordered: Summary = {
    ...EMPTY_SUMMARY,
    ...Object.fromEntries(Object.entries(full).toReversed()),
  };
  assert.equal(renderSummary(reordered), text, 'the order of fields does not matter');
});

test('C24 a dropped span leaves keywords, a short description and a time', async () => {
  const watched = await WatchedThread.open({
    preset: slidingWindow(1, tokenCount(1)),
    counter: chars4(),
    clock: { now: () => 77 },
  });
  await watched.append(
    user('please migrate the flashcards database'),
    assistant('the flashcards database uses sqlite, flashcards first'),
    user('go on'),
  );
  const { plan } = await watched.prompt();
  const [record] = plan.records;
  assert.ok(record?.kind === 'drop');
  const { keywords, description, time } = record.index;
  assert.equal(keywords[0], 'flashcards');
  assert.ok(keywords.includes('database') && keywords.includes('sqlite'), keywords.join(' '));
  assert.equal(description, '2 messages from: please migrate the flashcards database');
  assert.equal(time, 77);
});

test('a plan made by the default policy at rest shows everything', async () => {
  const watched = await WatchedThread.open({ preset: ladder(), budget: messagesOnly(10_000) });
  await watched.append(...talk.path().map(({ message }) => message));
  const { plan, version, compacted } = await watched.prompt();
  assert.deepEqual([version, compacted, plan.records], [0, false, []]);
});
