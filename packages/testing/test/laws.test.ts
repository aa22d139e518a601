import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_STYLE, textMessage, type Message, type Plan, type Prompt } from '@bobbin/core';
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
  type ArtifactId,
  type Node,
  type PlanRecord,
  type PromptMessage,
  type Span,
  type Thread,
} from '@bobbin/core/internal';
import {
  assistant,
  breaches,
  call,
  expectValid,
  LawError,
  reasoning,
  result,
  system,
  thread,
  user,
  type LawContext,
} from '@bobbin/testing';

const [a, b] = [call('read', '{}', 'A'), call('bash', '{}', 'B')];
const context: LawContext = { rules: STRICT_RULES, counter: chars4() };
const talk = thread(
  system('be brief'),
  user('first'),
  assistant('looking', a, b),
  result(a, 'one'),
  result(b, 'two'),
  assistant('done'),
  user('second'),
);
const at = (index: number): Node => talk.at(index) ?? assert.fail();
const span = (...indices: readonly number[]): Span => spanOf(indices.map(at)) ?? assert.fail();

function planOf(records: readonly PlanRecord[] = [], more: Partial<Plan> = {}): Plan {
  return {
    ...emptyPlan(talk.id),
    head: talk.head?.id ?? null,
    threadVersion: talk.length,
    records,
    ...more,
  };
}

const summarizing = (of: Span): PlanRecord => ({
  kind: 'summarize',
  span: of,
  summary: { ...EMPTY_SUMMARY, firstTurn: of.firstTurn, lastTurn: of.lastTurn },
  text: 'All of it.',
  summaryTokens: 3,
  at: talk.get(of.ids[0])?.index ?? 0,
  messages: of.ids.length,
});
const squeezing = (of: Span): PlanRecord => ({
  kind: 'externalize',
  span: of,
  artifactId: 'a0' as ArtifactId,
  summary: '',
  hint: '',
  kept: [],
  argsChars: 0,
});

function rendered(plan: Plan = planOf(), given: LawContext = context): Prompt {
  return render(talk.window(plan), plan, given);
}

/** A prompt with other messages, its tokens counted right. */
function tampered(
  change: (messages: PromptMessage[]) => readonly PromptMessage[],
  plan: Plan = planOf(),
): Prompt {
  const messages = change([...rendered(plan).messages]);
  const tokens = messages.reduce((sum, { message }) => sum + context.counter.message(message), 0);
  return { ...rendered(plan), messages, tokens };
}

/** The laws that a prompt breaks, each once. */
function broken(
  prompt: Prompt,
  plan: Plan = planOf(),
  given: LawContext = context,
  of: Thread = talk,
): readonly string[] {
  return [...new Set(breaches(of, plan, prompt, given).map(({ law }) => law))];
}

function breaks(law: string, laws: readonly string[]): void {
  assert.ok(laws.includes(law), `${law} is not among: ${laws.join('; ')}`);
}

test('a valid prompt breaks no law', () => {
  for (const plan of [planOf(), planOf([summarizing(span(1, 2, 3, 4, 5))])]) {
    assert.deepEqual(broken(rendered(plan), plan), []);
    expectValid(talk, plan, rendered(plan), context);
  }
});

test('a call without its result, a result without its call, and one answered twice', () => {
  breaks('pairs together', broken(tampered((m) => m.filter((_, i) => i !== 3))));
  breaks('pairs together', broken(tampered((m) => m.filter((_, i) => i !== 2))));
  breaks('pairs together', broken(tampered((m) => m.toSpliced(4, 0, m[3] as PromptMessage))));
  breaks('pairs together', broken(tampered((m) => m.slice(0, 4))));
  breaks('pairs together', broken(tampered((m) => m.toSpliced(3, 0, m[6] as PromptMessage))));
});

test('a first message that the provider refuses', () => {
  const headless = tampered((m) => m.toSpliced(1, 1));
  breaks('first message acceptable', broken(headless));
  const free = broken(headless, planOf(), { ...context, rules: OPENAI_RULES });
  assert.ok(!free.includes('first message acceptable'));
});

test('two of one side in a row, where they must alternate', () => {
  const doubled = tampered((m) => [
    ...m,
    { message: textMessage('user', 'again'), source: { kind: 'bridge' } },
  ]);
  breaks('roles alternate', broken(doubled, planOf(), { ...context, rules: ALTERNATING_RULES }));
});

test('tokens that were miscounted, and more of them than may be', () => {
  const prompt = rendered();
  breaks('counted right', broken({ ...prompt, tokens: prompt.tokens - 1 }));
  breaks('within budget', broken(prompt, planOf(), { ...context, limitTokens: prompt.tokens - 1 }));
  assert.deepEqual(broken(prompt, planOf(), { ...context, limitTokens: prompt.tokens }), []);
});

test('a prompt that says it does not fit, though it does or could', () => {
  const prompt = rendered();
  const over = { ...context, fits: false };
  breaks('within budget', broken(prompt, planOf(), { ...over, limitTokens: prompt.tokens }));
  breaks(
    'over budget only where the pins alone are',
    broken(prompt, planOf(), { ...over, limitTokens: 5 }),
  );
});

test('a message or a record that is there twice', () => {
  breaks('nothing duplicated', broken(tampered((m) => [...m, m[5] as PromptMessage])));
  const plan = planOf([summarizing(span(1, 2, 3, 4, 5))]);
  breaks(
    'nothing duplicated',
    broken(
      tampered((m) => m.toSpliced(2, 0, m[2] as PromptMessage), plan),
      plan,
    ),
  );
  breaks(
    'nothing duplicated',
    broken(
      tampered((m) => m.filter(({ source }) => source.kind !== 'record'), plan),
      plan,
    ),
  );
});

test('a kept message with other bytes, and one of another thread', () => {
  const instead = (message: Message): Prompt =>
    tampered((m) => m.with(5, { ...(m[5] as PromptMessage), message }));
  const { role, parts } = at(5).message;
  breaks('kept means identical', broken(instead(assistant('done.'))));
  breaks('kept means identical', broken(instead({ parts, role })));
  assert.deepEqual(broken(instead({ role, parts })), []);
  const stranger = thread(user('elsewhere')).head ?? assert.fail();
  const foreign = tampered((m) => [
    ...m,
    { message: stranger.message, source: { kind: 'kept', id: stranger.id } },
  ]);
  breaks('of this thread', broken(foreign));
});

/** What is broken where another message is in the place of the calls. */
function changed(message: Message): readonly string[] {
  const source = { kind: 'changed', id: at(2).id, by: 'externalize' } as const;
  return broken(tampered((m) => m.with(2, { message, source })));
}

test('a changed message with another speaker, other calls or nothing left', () => {
  breaks('a changed message keeps its place', changed(user('looking')));
  breaks('a changed message keeps its place', changed(assistant('looking', a)));
  breaks('a changed message keeps its place', changed(assistant()));
});

test('messages out of order', () => {
  breaks(
    'thread order kept',
    broken(tampered((m) => [...m.slice(0, 5), m[6], m[5]] as PromptMessage[])),
  );
});

test('a message that is neither shown nor accounted for', () => {
  breaks('nothing vanishes', broken(tampered((m) => m.toSpliced(5, 1))));
  const skipped = planOf([], { start: 6 });
  breaks('nothing vanishes', broken(rendered(skipped), skipped));
  const earlier = [planOf([summarizing(span(0, 1, 2, 3, 4, 5))])];
  const laws = broken(rendered(skipped), skipped, { ...context, earlier });
  assert.ok(!laws.includes('nothing vanishes'), 'an earlier plan accounts for it');
});

test('a message that is shown though a record took it away', () => {
  const plan = planOf([summarizing(span(1, 2, 3, 4, 5))]);
  const kept: PromptMessage = { message: at(5).message, source: { kind: 'kept', id: at(5).id } };
  breaks(
    'one action per message',
    broken(
      tampered((m) => m.toSpliced(3, 0, kept), plan),
      plan,
    ),
  );
});

test('pins that were taken away, hidden, or squeezed without need', () => {
  const dropped = planOf([summarizing(span(0, 1, 2, 3, 4, 5))]);
  breaks('pins whole', broken(rendered(dropped), dropped));
  const hidden = planOf([], { hides: [{ id: at(6).id, replacement: '…' }] });
  breaks('pins whole', broken(rendered(hidden), hidden));
  const squeezed = planOf([squeezing(span(6))]);
  breaks('pins whole', broken(rendered(squeezed), squeezed, { ...context, limitTokens: 1_000 }));
  const pinned = planOf([squeezing(span(3))], { pins: [at(3).id] });
  breaks('pins whole', broken(rendered(pinned), pinned, { ...context, limitTokens: 1_000 }));
});

test('a plan that names messages out of order, twice, unknown ones, or wrong turns', () => {
  const shape = 'a plan names its messages one by one';
  const backwards = { ...span(1, 2), ids: [at(2).id, at(1).id] as const };
  const unknown = { ...span(1), ids: ['nobody' as Node['id']] as const };
  for (const wrong of [backwards, unknown, { ...span(1), lastTurn: 9 }]) {
    const plan = planOf([squeezing(wrong)]);
    breaks(shape, broken(rendered(plan), plan));
  }
  const twice = planOf([squeezing(span(5)), { kind: 'clear', span: span(5), preserved: {} }]);
  breaks('one action per message', broken(rendered(twice), twice));
});

test('a plan that begins where it cannot', () => {
  const law = 'a plan knows where it begins';
  for (const wrong of [
    { start: 9 },
    { threadVersion: 3 },
    { start: 1, carried: [{ id: at(3).id, index: 3 }] },
    { start: 3, carried: [{ id: at(0).id, index: 1 }] },
  ]) {
    const plan = planOf([], wrong);
    breaks(law, broken(rendered(plan), plan));
  }
});

test('signed reasoning after another prefix than its own', () => {
  const signed = thread(
    user('1'),
    assistant('2'),
    user('3'),
    assistant(reasoning('hm', 'sig'), '4'),
    user('5'),
  );
  const given = { ...context, rules: ANTHROPIC_RULES };
  const dropped: PlanRecord = {
    kind: 'drop',
    span: spanOf([signed.at(1) as Node]) ?? assert.fail(),
    reason: '',
    index: { keywords: [], description: '', time: 0 },
  };
  const plan = {
    ...emptyPlan(signed.id),
    head: signed.head?.id ?? null,
    threadVersion: 5,
    records: [dropped],
  };
  const law = 'signed reasoning only after its own prefix';
  breaks(law, broken(render(signed.window(plan), plan, given), plan, given, signed));
  const careful = { ...plan, signedFrom: 5 };
  assert.deepEqual(
    broken(render(signed.window(careful), careful, given), careful, given, signed),
    [],
  );
  const careless = render(signed.window(careful), { ...careful, signedFrom: 0 }, given);
  breaks(law, broken(careless, careful, given, signed));
});

test('signed reasoning after another prompt than the one that went out', () => {
  const signed = thread(user('1'), assistant(reasoning('hm', 'sig'), '2'), user('3'));
  const plan = emptyPlan(signed.id);
  const given = { ...context, rules: ANTHROPIC_RULES };
  const prompt = render(signed.window(plan), plan, given);
  const was = (text: string): LawContext => ({
    ...given,
    sent: [{ length: 1, messages: [{ message: user(text), source: { kind: 'bridge' } }] }],
  });
  assert.deepEqual(broken(prompt, plan, was('1'), signed), []);
  breaks('signed reasoning only after its own prefix', broken(prompt, plan, was('0'), signed));
});

test('what was brought back: once, within its reserve, and where it was put', () => {
  const reminder: PromptMessage = {
    message: textMessage('user', '[Recalled] the port is 5432'),
    source: { kind: 'recalled', id: at(1).id },
  };
  const before = tampered((m) => m.toSpliced(6, 0, reminder));
  const reserved = { ...context, reserveTokens: 10 };
  assert.deepEqual(broken(before, planOf(), reserved), []);
  breaks('within budget', broken(before, planOf(), { ...context, reserveTokens: 8 }));
  const twice = tampered((m) => m.toSpliced(6, 0, reminder, reminder));
  breaks('brought back once', broken(twice, planOf(), { ...context, reserveTokens: 20 }));
  const plan = planOf();
  const sent = [{ length: 6, messages: before.messages, plan }];
  const moved = tampered((m) => m.toSpliced(4, 0, reminder));
  breaks('a reminder stays where it was put', broken(moved, plan, { ...reserved, sent }));
  assert.deepEqual(broken(before, plan, { ...reserved, sent }), []);
  assert.deepEqual(broken(rendered(), plan, { ...reserved, sent }), [], 'one that left');
});

test('cache points outside the prompt, out of order, or too many', () => {
  const law = 'cache points in range';
  for (const cachePoints of [[7], [-1], [3, 2], [0, 1, 2, 3]])
    breaks(law, broken({ ...rendered(), cachePoints }));
});

test('a text cut within a character', () => {
  const plan = planOf([
    { ...summarizing(span(1, 2, 3, 4, 5)), text: 'half of \ud83e' } as PlanRecord,
  ]);
  breaks('characters whole', broken(rendered(plan), plan));
});

test('a prompt that renders otherwise, and one that is no prefix of the next', () => {
  const other = tampered((m) =>
    m.with(0, { ...(m[0] as PromptMessage), source: { kind: 'bridge' } }),
  );
  breaks('rendering deterministic', broken(other));
  breaks('with one plan a prompt is a prefix of the next', broken(other));
  const impure = planOf([], {
    style: { ...DEFAULT_STYLE, summaryPrefix: undefined as unknown as string },
  });
  breaks('a plan is pure data', broken(rendered(impure), impure));
});

test('the error names the seed, the law and the message, and shows the prompt', () => {
  assert.throws(
    () =>
      expectValid(
        talk,
        planOf(),
        tampered((m) => m.toSpliced(5, 1)),
        { ...context, seed: 42 },
      ),
    (error) => {
      assert.ok(error instanceof LawError);
      assert.match(
        error.message,
        /^invalid prompt \(seed 42\):\n- nothing vanishes: message 5 \(assistant\): "done"\n/,
      );
      assert.match(error.message, /\nthe prompt:\n {2}0 system \(kept\) "be brief"\n/);
      return true;
    },
  );
});
