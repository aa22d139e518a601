import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_STYLE, type Message, type Plan } from '@bobbin/core';
import {
  emptyPlan,
  EMPTY_SUMMARY,
  render,
  spanOf,
  STRICT_RULES,
  unitStarts,
  type Node,
  type PlanRecord,
  type Thread,
} from '@bobbin/core/internal';
import { expectValid, thread } from '@bobbin/testing';
import { counter, nameOf, talk } from './notation.ts';

/** What is left out of a thread, by index, and whether a summary takes its place. */
type Condensation = readonly [kind: 'drop' | 'summarize', indices: readonly number[]];

function recordOf(of: Thread, [kind, indices]: Condensation, round: number): PlanRecord {
  const span = spanOf(indices.map((index) => of.at(index) as Node)) ?? assert.fail();
  if (kind === 'drop')
    return { kind, span, reason: 'condensed', index: { keywords: [], description: '', time: 0 } };
  return {
    kind,
    span,
    summary: { ...EMPTY_SUMMARY, firstTurn: span.firstTurn, lastTurn: span.lastTurn, round },
    text: `Summary ${round}.`,
    summaryTokens: 4,
    at: indices[0] ?? 0,
    messages: indices.length,
  };
}

function planOf(of: Thread, condensations: readonly Condensation[]): Plan {
  return {
    ...emptyPlan(of.id, DEFAULT_STYLE),
    head: of.head?.id ?? null,
    threadVersion: of.length,
    records: condensations.map((one, i) => recordOf(of, one, i + 1)),
  };
}

function view(messages: readonly Message[], ...condensations: readonly Condensation[]): string {
  const of = thread(...messages);
  const plan = planOf(of, condensations);
  const context = { rules: STRICT_RULES, counter, cacheLimits: { markers: 0, minimumTokens: 0 } };
  const prompt = render(of.window(plan), plan, context);
  expectValid(of, plan, prompt, context);
  return prompt.messages.map(nameOf).join(' ');
}

/** What is seen of a thread of which parts were condensed. Messages are named by position; `Sa` is a summary. */
const VIEWS: readonly (readonly [
  name: string,
  thread: string,
  condensed: readonly Condensation[],
  view: string,
])[] = [
  ['nothing was condensed', 'u0 a1 u2 a3 u4', [], 'u0 a1 u2 a3 u4'],
  ['an empty thread', '', [], ''],
  ['what was left out is not seen', 'u0 a1 u2 a3 u4', [['drop', [1, 2]]], 'u0 a3 u4'],
  ['nor is all but the last', 'u0 a1 u2 a3 u4', [['drop', [0, 1, 2, 3]]], 'u4'],
  ['a summary takes its place', 'u0 a1 u2 a3 u4', [['summarize', [1, 2, 3]]], 'u0 Sa u4'],
  ['at the beginning', 'u0 a1 u2', [['summarize', [0, 1]]], '· Sa u2'],
  ['in the middle', 'u0 a1 u2 a3 u4 a5', [['summarize', [2, 3]]], 'u0 a1 Sa u4 a5'],
  ['at the end', 'u0 a1 u2 a3', [['summarize', [3]]], 'u0 a1 u2 Sa'],
  [
    'two parts left out',
    'u0 a1 u2 a3 u4 a5 u6',
    [
      ['drop', [1, 2]],
      ['drop', [3, 4]],
    ],
    'u0 a5 u6',
  ],
  [
    'left out and summarised',
    'u0 a1 u2 a3 u4 a5 u6',
    [
      ['drop', [1]],
      ['summarize', [3, 4, 5]],
    ],
    'u0 u2 Sa u6',
  ],
  [
    'two summaries are both seen',
    'u0 a1 u2 a3 u4',
    [
      ['summarize', [1]],
      ['summarize', [3]],
    ],
    'u0 Sa u2 Sa u4',
  ],
  ['a call goes with its result', 'u0 c1 t2 a3', [['drop', [1, 2]]], 'u0 a3'],
  ['a batch goes with its results', 'u0 p1 t2 t3 a4', [['drop', [1, 2, 3]]], 'u0 a4'],
  ['a thinking loop goes as one', 'u0 h1 t2 h3 t4 a5', [['drop', [1, 2, 3, 4]]], 'u0 a5'],
];

test('C18 cases of the view: what is seen after condensations', () => {
  assert.deepEqual(
    VIEWS.map(([name, said, condensed]) => [name, view(talk(said), ...condensed)]),
    VIEWS.map(([name, , , seen]) => [name, seen]),
  );
});

/** Where a thread may be cut: the index at which each smallest group starts. */
const STARTS: readonly (readonly [name: string, thread: string, starts: readonly number[]])[] = [
  ['messages without calls', 'u0 a1 u2', [0, 1, 2]],
  ['not between a call and its result', 'u0 c1 t2 a3', [0, 1, 3]],
  ['not inside a batch', 'u0 p1 t2 t3 a4', [0, 1, 4]],
  ['not inside a batch that is answered at once', 'u0 p1 r2 a3', [0, 1, 3]],
  ['between rounds without thinking', 'u0 c1 t2 c3 t4', [0, 1, 3]],
  ['thinking stays with its call', 'u0 h1 t2 h3 t4 a5', [0, 1, 3, 5]],
  ['a call that waits starts a group', 'u0 a1 c2', [0, 1, 2]],
  ['nothing', '', []],
];

test('C18 cases of the places at which a view may be cut', () => {
  assert.deepEqual(
    STARTS.map(([name, said]) => [name, unitStarts(talk(said))]),
    STARTS.map(([name, , starts]) => [name, starts]),
  );
});

test('C18 a result that comes twice is seen once as a result', () => {
  const [question, called, answered] = talk('u0 c1 t2');
  const messages = [question, called, answered, answered] as readonly Message[];
  const of = thread(...messages);
  const plan = planOf(of, []);
  const context = { rules: STRICT_RULES, counter, cacheLimits: { markers: 0, minimumTokens: 0 } };
  const { messages: seen } = render(of.window(plan), plan, context);
  expectValid(of, plan, { ...render(of.window(plan), plan, context) }, context);
  assert.equal(
    seen.filter(({ message }) => message.parts.some(({ kind }) => kind === 'result')).length,
    1,
  );
});

test('C1 a condensation changes nothing in the thread, and views are the same every time', () => {
  const messages = talk('u0 a1 u2 a3 u4');
  const condensed: Condensation = ['summarize', [1, 2, 3]];
  assert.equal(view(messages, condensed), view(messages, condensed));
  assert.equal(view(messages), 'u0 a1 u2 a3 u4');
});
