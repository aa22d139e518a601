import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DEFAULT_STYLE,
  type Message,
  type Plan,
  type ProviderRules,
  type RenderStyle,
} from '@bobbin/core';
import {
  ALTERNATING_RULES,
  ANTHROPIC_RULES,
  chars4,
  emptyPlan,
  EMPTY_SUMMARY,
  OPENAI_RULES,
  render,
  spanOf,
  STRICT_RULES,
  type Node,
  type SummarizeRecord,
  type Thread,
} from '@bobbin/core/internal';
import {
  assistant,
  call,
  expectValid,
  image,
  promptLines,
  reasoning,
  result,
  resultPart,
  system,
  thread,
  user,
} from '@bobbin/testing';

/** The valid prompt of a thread as text. */
function shown(
  of: Thread,
  rules: ProviderRules = STRICT_RULES,
  plan: Plan = emptyPlan(of.id),
): readonly string[] {
  const context = { rules, counter: chars4(), cacheLimits: { markers: 0, minimumTokens: 0 } };
  const prompt = render(of.window(plan), plan, context);
  expectValid(of, plan, prompt, context);
  return promptLines(prompt);
}

const [a, b] = [call('read', '{}', 'A'), call('bash', '{}', 'B')];

function summarizing(of: Thread, indices: readonly number[], style: RenderStyle): Plan {
  const span = spanOf(indices.map((index) => of.at(index) as Node)) ?? assert.fail();
  const record: SummarizeRecord = {
    kind: 'summarize',
    span,
    summary: { ...EMPTY_SUMMARY, firstTurn: span.firstTurn, lastTurn: span.lastTurn, round: 2 },
    text: 'All went well.',
    summaryTokens: 4,
    at: indices[0] ?? 0,
    messages: indices.length,
  };
  return {
    ...emptyPlan(of.id, style),
    head: of.head?.id ?? null,
    threadVersion: of.length,
    records: [record],
  };
}

const talk = thread(
  system('s'),
  user('u1'),
  assistant('a1'),
  user('u2'),
  assistant('a2'),
  user('u3'),
);

test('C18 one synthetic assistant message per span, at its first message, with the versioned prefix', () => {
  assert.deepEqual(shown(talk, STRICT_RULES, summarizing(talk, [2, 3, 4], DEFAULT_STYLE)), [
    '0 system (kept) "s"',
    '1 user (kept) "u1"',
    '2 assistant (record 0) "[Context Summary - Turns 1-2]\\nAll went well."',
    '3 user (kept) "u3"',
  ]);
});

test('C18 the summary speaks as a user, or as a pair, where the style says so', () => {
  const asUser = {
    ...DEFAULT_STYLE,
    summaryRole: 'user',
    summaryPrefix: 'Round {round}:',
  } as const;
  assert.equal(
    shown(talk, STRICT_RULES, summarizing(talk, [1, 2, 3, 4], asUser))[1],
    '1 user (record 0) "Round 2:\\nAll went well."',
  );
  const asPair = { ...DEFAULT_STYLE, summaryRole: 'pair' } as const;
  const lines = shown(talk, ALTERNATING_RULES, summarizing(talk, [1, 2, 3, 4], asPair));
  assert.deepEqual(
    lines.map((line) => line.split(' ').slice(0, 4).join(' ')),
    ['0 system (kept) "s"', '1 user (record 0)', '2 assistant (record 0)', '3 user (kept) "u3"'],
  );
});

test('C18 a summary at the beginning is opened by a user message where the provider wants one', () => {
  const plan = summarizing(talk, [1, 2, 3, 4], DEFAULT_STYLE);
  assert.deepEqual(
    shown(talk, ANTHROPIC_RULES, plan)
      .slice(1, 3)
      .map((line) => line.slice(0, 20)),
    ['1 user (bridge) "[Th', '2 assistant (record '],
  );
  assert.equal(shown(talk, OPENAI_RULES, plan)[1]?.slice(0, 20), '1 assistant (record ');
});

test('C18 summaries come after what is carried if the style says last', () => {
  const last = { ...DEFAULT_STYLE, summaryAt: 'last', summaryRole: 'user' } as const;
  const plan = {
    ...summarizing(talk, [2, 4], last),
    start: 5,
    carried: [0, 1, 3].map((index) => ({ id: (talk.at(index) as Node).id, index })),
  };
  assert.deepEqual(
    shown(talk, STRICT_RULES, plan).map((line) => line.replace(/ "\[.*/, '')),
    [
      '0 system (kept) "s"',
      '1 user (kept) "u1"',
      '2 user (kept) "u2"',
      '3 user (record 0)',
      '4 user (kept) "u3"',
    ],
  );
});

test('C18 kept messages are the very objects that came in', () => {
  const odd: Message = { ...user('odd'), extra: { name: 'x' }, original: { kept: 'bytes' } };
  const of = thread(odd, assistant('ok'));
  const prompt = render(of.window(emptyPlan(of.id)), emptyPlan(of.id), {
    rules: STRICT_RULES,
    counter: chars4(),
  });
  assert.equal(prompt.messages[0]?.message, odd);
});

test('C18 a call that never got its result gets a note in its place once something else is said', () => {
  assert.deepEqual(shown(thread(user('u'), assistant(a, b), result(b, '2'), user('stop'))), [
    '0 user (kept) "u"',
    '1 assistant (kept) calls read#A "{}" + calls bash#B "{}"',
    '2 tool (kept) answers #B "2"',
    '3 tool (no result of A) answers #A "[No result: the call was interrupted.]"',
    '4 user (kept) "stop"',
  ]);
});

test('C18 a round that waits for results is held back until they come', () => {
  const waiting = thread(user('u'), assistant(a, b), result(b, '2'));
  assert.deepEqual(shown(waiting), ['0 user (kept) "u"']);
  waiting.append(result(a, '1'));
  assert.deepEqual(shown(waiting), [
    '0 user (kept) "u"',
    '1 assistant (kept) calls read#A "{}" + calls bash#B "{}"',
    '2 tool (kept) answers #B "2"',
    '3 tool (kept) answers #A "1"',
  ]);
});

test('C18 late, orphaned and doubled results are shown as text', () => {
  const late = thread(
    user('u'),
    assistant(a),
    user('never mind'),
    result(a, 'late'),
    result(b, [{ kind: 'text', text: 'orphan' }, image('a.png')]),
  );
  assert.deepEqual(shown(late).slice(2), [
    '2 tool (no result of A) answers #A "[No result: the call was interrupted.]"',
    '3 user (kept) "never mind"',
    '4 user (stray) "[Late result of read (call A)]" + "late"',
    '5 user (stray) "[Late result of bash (call B)]" + "orphan" + image "a.png"',
  ]);
  const twice = thread(user('u'), assistant(a), result(a, 'first'), result(a, 'second'));
  assert.deepEqual(shown(twice).slice(2), [
    '2 tool (kept) answers #A "first"',
    '3 user (stray) "[Late result of read (call A)]" + "second"',
  ]);
});

test('C18 a message with some late results keeps the others in their places', () => {
  const mixed: Message = {
    role: 'tool',
    parts: [resultPart(a, 'in time'), resultPart(b, 'orphan')],
  };
  assert.deepEqual(shown(thread(user('u'), assistant(a), mixed)).slice(2), [
    '2 tool (stray) answers #A "in time"',
    '3 user (stray) "[Late result of bash (call B)]" + "orphan"',
  ]);
});

test('C18 an id used again in a later round belongs to that round', () => {
  const reused = thread(user('u'), assistant(a), result(a, '1'), assistant(a), result(a, '2'));
  assert.deepEqual(
    shown(reused).map((line) => line.split(' ')[2]),
    ['(kept)', '(kept)', '(kept)', '(kept)', '(kept)'],
  );
});

test('C18 user and assistant take turns where the provider insists', () => {
  const rows = thread(user('1'), user('2'), assistant('3'), assistant('4'), system('s'), user('5'));
  assert.deepEqual(
    shown(rows, ALTERNATING_RULES).map((line) => line.replace(/ "\[.*/, '')),
    [
      '0 user (kept) "1"',
      '1 assistant (bridge)',
      '2 user (kept) "2"',
      '3 assistant (kept) "3"',
      '4 user (bridge)',
      '5 assistant (kept) "4"',
      '6 system (kept) "s"',
      '7 user (kept) "5"',
    ],
  );
  assert.equal(shown(rows, STRICT_RULES).length, 6);
});

test('C18 signed reasoning whose prefix has changed is left out where it is bound to it', () => {
  const signed = thread(
    user('u1'),
    assistant(reasoning('hm', 'sig'), 'a1'),
    assistant(reasoning('plain'), 'a2'),
    user('u2'),
  );
  const plan = {
    ...emptyPlan(signed.id),
    head: signed.head?.id ?? null,
    threadVersion: 4,
    signedFrom: 4,
  };
  assert.deepEqual(shown(signed, ANTHROPIC_RULES, plan).slice(1, 3), [
    '1 assistant (unsigned) "a1"',
    '2 assistant (kept) thinks "plain" + "a2"',
  ]);
  assert.equal(
    shown(signed, OPENAI_RULES, plan)[1],
    '1 assistant (kept) thinks "hm" signed + "a1"',
  );
});

test('a hidden message keeps its place and shows its replacement', () => {
  const of = thread(user('u'), assistant(a), result(a, 'a long listing'), user('next'));
  const plan = {
    ...emptyPlan(of.id),
    hides: [{ id: (of.at(2) as Node).id, replacement: '[old listing]' }],
  };
  assert.equal(shown(of, STRICT_RULES, plan)[2], '2 tool (hide) answers #A "[old listing]"');
});

test('what a user says next to a result that no call waits for comes after the round', () => {
  const late: Message = {
    role: 'user',
    parts: [{ kind: 'text', text: 'and this' }, resultPart(call('read', '{}', 'X'), 'too late')],
  };
  const of = thread(user('u'), assistant(a, b), result(a, 'one'), late, user('next'));
  const roles = shown(of, STRICT_RULES).map((line) => line.replace(/ \(.*$/, ''));
  assert.deepEqual(roles, ['0 user', '1 assistant', '2 tool', '3 tool', '4 user', '5 user']);
});
