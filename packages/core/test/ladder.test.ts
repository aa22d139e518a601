import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  drop,
  externalize,
  memoryArtifacts,
  presets,
  type BobbinOptions,
  type CompactionEvent,
  type Message,
  type Policy,
} from '@bobbin/core';
import {
  budget,
  chars4,
  currentSummary,
  messagesOnly,
  opencode,
  PRESETS,
  type ExternalizeRecord,
  type PresetName,
} from '@bobbin/core/internal';
import {
  assistant,
  call,
  image,
  opaque,
  result,
  round,
  system,
  user,
  WatchedThread,
  withMeta,
} from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';

const counter = chars4();
const atOnce: Policy = { ...withoutEconomics(softLadder), trigger: { kind: 'tokens', atLeast: 1 } };

function withoutEconomics(policy: Policy): Policy {
  const { economics: _economics, firstSightShare: _firstSight, ...rest } = policy;
  return rest;
}

/** Rounds whose results cost about a number of tokens each. */
function rounds(count: number, tokens: number, from: number = 0): readonly Message[] {
  return Array.from({ length: count }, (_, i) =>
    round('read', { i: i + from }, `${i + from}:`.padEnd(tokens * 4, 'x')),
  ).flat();
}

const kinds = (events: readonly CompactionEvent[]): readonly string[] => [
  ...new Set(events.map(({ kind }) => kind)),
];

async function opened(
  given: BobbinOptions,
  ...messages: readonly Message[]
): Promise<WatchedThread> {
  const watched = await WatchedThread.open({ counter, ...given });
  await watched.append(...messages);
  return watched;
}

test('C19 the default ladder runs its rungs from the gentlest to the most aggressive', () => {
  const order = presets.ladder().ladder.map(({ name }) => name);
  assert.deepEqual(order, ['squeeze-pins', 'trim', 'summarize', 'clear', 'drop']);
});

test('C19 with gentle, fewer of the newest results stay whole before anything is summarised', async () => {
  const talk = [user('go'), ...rounds(18, 5_400), user('and?')];
  const watched = await opened({ thrift: 'gentle', window: 100_000 }, ...talk);
  const { plan } = await watched.prompt();
  const trimmed = plan.records.map(({ kind, span }) => [kind, span.ids.length]);
  assert.deepEqual(
    trimmed,
    Array.from({ length: 13 }, () => ['externalize', 1]),
  );
});

test('C19 with gentle, what the model wrote into arguments stays until the window is full', async () => {
  const written = round('write', { text: 'w'.repeat(40_000) }, 'ok');
  const talk = [user('go'), ...written, ...rounds(40, 1_000), user('and?')];
  const trimmed = async (given: BobbinOptions): Promise<readonly (number | undefined)[]> => {
    const watched = await opened(given, ...talk);
    const { plan } = await watched.prompt();
    return plan.records.map(({ span }) => watched.thread.get(span.ids[0])?.index);
  };
  const results = Array.from({ length: 10 }, (_, i) => 4 + 2 * i);
  assert.deepEqual(await trimmed({ thrift: 'gentle', window: 100_000 }), results);
  const full = await trimmed({ thrift: 'gentle', window: 12_000 });
  assert.ok(full.includes(1), 'before anything is summarised');
});

test('C19 each rung stops as soon as the target holds', async () => {
  const talk = [user('go'), ...rounds(6, 1_500), user('and?')];
  const total = counter.request({ messages: talk });
  const run = async (targetShare: number): Promise<readonly CompactionEvent[]> => {
    const watched = await opened(
      {
        preset: { ...atOnce, targetShare, cut: { kind: 'everything' } },
        budget: messagesOnly(total),
      },
      ...talk,
    );
    const { prompt, events } = await watched.prompt();
    assert.ok(prompt.tokens <= total * targetShare, `${prompt.tokens} for ${targetShare}`);
    return events;
  };
  const gentle = await run(0.9);
  assert.equal(gentle.filter(({ kind }) => kind === 'externalized').length, 1, 'one is enough');
  const more = await run(0.5);
  assert.equal(more.filter(({ kind }) => kind === 'externalized').length, 4);
  assert.ok(!kinds(more).includes('summarized'), 'the next rung is not needed');
  assert.ok(kinds(await run(0.08)).includes('summarized'), 'now it is');
});

test('C19 proposals name their span, savings and reason before they are carried out', async () => {
  const watched = await opened(
    {
      preset: { ...atOnce, ladder: [externalize()], cut: { kind: 'everything' } },
      budget: messagesOnly(5_000),
    },
    user('go'),
    ...rounds(4, 1_500),
    user('and?'),
  );
  const { events } = await watched.prompt();
  const proposal = events.find((event) => event.kind === 'proposal-generated');
  assert.equal(proposal?.strategy, 'externalize');
  assert.deepEqual(proposal?.span, {
    ids: [watched.thread.at(2)?.id],
    firstTurn: 1,
    lastTurn: 1,
  });
  assert.equal(proposal?.reason, '1502 tokens in one result');
  const done = events.find((event) => event.kind === 'externalized');
  assert.ok(done?.kind === 'externalized');
  assert.equal(done.freed, proposal?.freed);
});

test('C21 trigger and target are apart: quiet for long after a compaction', async () => {
  const watched = await WatchedThread.open({
    preset: withoutEconomics(softLadder),
    counter,
    budget: budget({ windowTokens: 10_000, safetyTokens: 0, rehydrationTokens: 0 }),
  });
  await watched.append(user('go'));
  const compactedAt: number[] = [];
  for (let i = 0; i < 120; i++) {
    await watched.append(...rounds(1, 300, i));
    if ((await watched.prompt()).compacted) compactedAt.push(i);
  }
  const gaps = compactedAt.slice(1).map((at, i) => at - (compactedAt[i] ?? 0));
  assert.ok(compactedAt.length >= 2, compactedAt.join(' '));
  assert.ok(Math.min(...gaps) >= 8, `rounds between compactions: ${gaps.join(' ')}`);
});

test('C21 every preset keeps its name, and an unknown one is refused with the list', async () => {
  for (const [name, policy] of Object.entries(PRESETS)) assert.equal(policy.name, name);
  await assert.rejects(
    WatchedThread.open({ preset: 'gone' as PresetName }),
    /no preset "gone"; choose one of ladder, step, pi, codex, claude-code, opencode, sliding-window/,
  );
});

test('C19 dropping goes from the oldest on, until the target holds, and spares the newest unit', async () => {
  const dropping: Policy = { ...atOnce, ladder: [drop()], targetShare: 0.5 };
  const watched = await opened(
    { preset: dropping, budget: messagesOnly(3_000) },
    user('go'),
    ...rounds(8, 298),
  );
  const { plan, prompt } = await watched.prompt();
  const dropped = plan.records.flatMap(({ span }) =>
    span.ids.map((id) => watched.thread.get(id)?.index),
  );
  assert.deepEqual(dropped, [1, 2, 3, 4, 5, 6, 7, 8], 'whole rounds, the question stays');
  assert.ok(prompt.tokens <= 1_500);
  const tight = await opened(
    { preset: { ...dropping, targetShare: 0.01 }, budget: messagesOnly(3_000) },
    user('go'),
    ...rounds(8, 298),
  );
  const kept = (await tight.prompt()).prompt.messages.map(({ message }) => message.role);
  assert.deepEqual(kept, ['user', 'assistant', 'tool'], 'never the round that is going on');
});

test('B19 the newest 40 000 tokens of tool output stay, and less than 20 000 is not worth it', async () => {
  const preset = {
    ...opencode(),
    trigger: { kind: 'tokens', atLeast: 1 },
    targetShare: 0.01,
  } as const;
  const clearedOf = async (outputs: number): Promise<readonly number[]> => {
    const watched = await opened(
      {
        preset: { ...preset, ladder: preset.ladder.slice(0, 1), stop: 'at-end' },
        window: 1_000_000,
      },
      user('go'),
      ...rounds(outputs, 4_998),
      user('and?'),
    );
    const { plan } = await watched.prompt();
    return plan.records.map(({ span: { ids } }) => watched.thread.get(ids[0])?.index ?? -1);
  };
  // Each output costs 5 000 tokens: the newest eight are protected.
  assert.deepEqual(await clearedOf(8), []);
  assert.deepEqual(await clearedOf(11), [], '15 000 prunable tokens are too few');
  assert.deepEqual(await clearedOf(13), [2, 4, 6, 8, 10]);
});

test('pins are never compacted: system, pinned and opaque messages stay whole', async () => {
  const rule = withMeta(user('Never touch the vendor folder.'), { pinned: true });
  const strange = assistant(opaque('compaction', { encrypted: 'c2VjcmV0' }));
  const watched = await opened(
    { preset: { ...atOnce, targetShare: 0.05 }, budget: messagesOnly(2_000) },
    system('You are terse.'),
    user('go'),
    rule,
    ...rounds(10, 400),
    strange,
    ...rounds(10, 400, 10),
    user('and?'),
  );
  const { prompt, fits } = await watched.prompt();
  const kept = prompt.messages.flatMap(({ message, source }) =>
    source.kind === 'kept' ? [message] : [],
  );
  assert.equal(fits, true);
  for (const pin of [rule, strange, user('and?'), system('You are terse.')])
    assert.ok(
      kept.some((message) => JSON.stringify(message) === JSON.stringify(pin)),
      JSON.stringify(pin),
    );
});

test('system messages that fill most of a prompt stay whole as long as they fit, also where it is made to measure', async () => {
  const rules = system('Never deploy on a Friday. '.repeat(850));
  assert.ok(counter.message(rules) > 5_500);
  const made: Policy = { ...withoutEconomics(softLadder), targetShare: 1 };
  const watched = await opened({ preset: made, budget: messagesOnly(8_000) }, rules);
  await watched.append(user('go'), ...rounds(40, 500));
  const { prompt, events, fits } = await watched.prompt();
  assert.ok(fits);
  assert.deepEqual(prompt.messages[0]?.message, rules);
  assert.ok(!kinds(events).includes('warning'));
});

test('the newest user message stays whole unless it alone exceeds the budget', async () => {
  const large = user('x'.repeat(6_000));
  const fitting = await opened(
    { preset: atOnce, budget: messagesOnly(2_000) },
    ...rounds(8, 400),
    large,
  );
  const last = (await fitting.prompt()).prompt.messages.at(-1);
  assert.equal(last?.message, large, '1 502 of 2 000 tokens');
  const huge = await opened(
    { preset: atOnce, budget: messagesOnly(1_000) },
    user('go'),
    assistant('ok'),
    large,
  );
  const { prompt, fits, plan } = await huge.prompt();
  assert.ok(fits && prompt.tokens <= 1_000);
  const record = plan.records.find(({ kind }) => kind === 'externalize');
  assert.equal(record?.span.ids[0], huge.thread.head?.id, 'the plan says that it was shortened');
});

test('one tool result larger than the whole budget: head, tail and an artifact to read back', async () => {
  const text = `BEGIN ${'middle '.repeat(20_000)} END`;
  const artifacts = memoryArtifacts();
  const watched = await opened(
    { budget: messagesOnly(4_000), artifacts, offersReadArtifact: true },
    user('read'),
    ...round('read', { path: '/huge' }, text),
  );
  const { prompt, plan, fits } = await watched.prompt();
  assert.ok(fits && prompt.tokens <= 4_000);
  const record = plan.records[0] as ExternalizeRecord;
  assert.equal(record.kind, 'externalize');
  const shown = prompt.messages.at(-1)?.message.parts[0];
  assert.ok(shown?.kind === 'result' && shown.content[0]?.kind === 'text');
  assert.match(shown.content[0].text, /artifact:[0-9a-f]{32}\]/);
  assert.match(shown.content[0].text, /BEGIN middle/);
  assert.match(shown.content[0].text, /middle {2}END$/);
  assert.match(shown.content[0].text, /read_artifact has all \d+ characters/);
  assert.equal(await artifacts.get(record.artifactId, { tenant: 'default' }), text);
});

test('arguments larger than the whole budget stay a JSON object with every field, only long values cut', async () => {
  const write = call('write', {
    path: '/src/long.ts',
    content: 'line of code\n'.repeat(2_000),
    mode: 7,
  });
  const watched = await opened(
    { budget: messagesOnly(1_500) },
    user('write it'),
    assistant(write),
    result(write, 'ok'),
  );
  const { prompt, fits } = await watched.prompt();
  assert.ok(fits && prompt.tokens <= 1_500);
  const shown = prompt.messages
    .flatMap(({ message }) => message.parts)
    .find(({ kind }) => kind === 'call');
  assert.ok(shown?.kind === 'call');
  const args = JSON.parse(shown.args) as Record<string, unknown>;
  assert.deepEqual([args['path'], args['mode']], ['/src/long.ts', 7]);
  assert.match(String(args['content']), /^line of code\n/);
  assert.ok(String(args['content']).length < 6_000);
});

test('one turn larger than the whole budget is split, and the whole turn is accounted for', async () => {
  const watched = await opened(
    { budget: messagesOnly(1_500) },
    user('one long task'),
    ...rounds(40, 400),
  );
  const { prompt, fits, plan } = await watched.prompt();
  assert.ok(fits && prompt.tokens <= 1_500);
  assert.notEqual(currentSummary(plan), undefined);
  assert.equal(
    prompt.messages.some(({ message }) => message === watched.thread.at(0)?.message),
    true,
  );
});

test('with no summarizer the ladder still reaches any budget, in every preset', async () => {
  const talk = [
    system('terse'),
    user('go', image('a.png')),
    ...rounds(20, 300),
    assistant('x'.repeat(3_000)),
    user('and?'),
    assistant(call('write', { content: 'y'.repeat(9_000) })),
    result(call('write', { content: 'y'.repeat(9_000) }), 'z'.repeat(9_000)),
  ];
  for (const preset of Object.keys(PRESETS) as PresetName[]) {
    for (const tokens of [600, 1_500, 4_000]) {
      const watched = await opened({ preset, budget: messagesOnly(tokens) }, ...talk);
      const { prompt, fits } = await watched.prompt();
      assert.ok(fits && prompt.tokens <= tokens, `${preset} ${tokens}: ${prompt.tokens}`);
    }
  }
});

test('what does not fit even as pointers is reported, and the prompt is as small as it can be', async () => {
  const watched = await opened(
    { budget: messagesOnly(60) },
    system('x'.repeat(4_000)),
    user('y'.repeat(4_000)),
  );
  const { fits, events, prompt } = await watched.prompt();
  assert.equal(fits, false);
  assert.ok(prompt.tokens < 250, `${prompt.tokens}`);
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'warning' ? [event.message] : [])),
    [
      'system messages and the newest user message had to be shortened: what is never compacted exceeds the budget',
      `what is never compacted exceeds the budget by ${prompt.tokens - 60} tokens: a window of 60 leaves 60 for messages`,
    ],
  );
});

async function warningsOf(...messages: readonly Message[]): Promise<readonly string[]> {
  const watched = await opened({ budget: messagesOnly(600) }, ...messages);
  return (await watched.prompt()).plan.warnings;
}

test('the report says what had to be shortened: without pins it names none', async () => {
  const why = 'had to be shortened: what is never compacted exceeds the budget';
  const long = user('y'.repeat(6_000));
  assert.deepEqual(await warningsOf(system('terse'), long), [`the newest user message ${why}`]);
  const rule = withMeta(long, { pinned: true });
  assert.deepEqual(await warningsOf(rule, user('go')), [`pinned messages ${why}`]);
  const pinnedCall = withMeta(assistant(call('read', { path: 'a' })), { pinned: true });
  const itsResult = result(call('read', { path: 'a' }), 'z'.repeat(9_000));
  assert.deepEqual(await warningsOf(user('go'), pinnedCall, itsResult, user('on')), [
    `pinned messages ${why}`,
  ]);
  const unread = assistant(opaque('mystery', { of: 'x'.repeat(9_000) }));
  assert.deepEqual(await warningsOf(user('go'), unread, user('on')), [
    `messages that could not be read ${why}`,
  ]);
  assert.deepEqual(await warningsOf(user('go'), assistant('x'.repeat(6_000))), []);
});
