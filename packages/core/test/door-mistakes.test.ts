import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, step, textMessage, type Message, type Policy } from '../src/index.ts';

const TAKEN: readonly (readonly [what: string, message: unknown, problem: string])[] = [
  ['OpenAI Chat', { role: 'user', content: 'Hello' }, 'has no parts'],
  [
    'the AI SDK',
    { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    'has parts[0] which is no part: {"type":"text","text":"Hello"}',
  ],
  [
    'a call of another shape',
    { role: 'assistant', parts: [{ kind: 'call', id: 'c', name: 'bash', input: {} }] },
    'has parts[0] which is no part: {"kind":"call","id":"c","name":"bash","input":{}}',
  ],
  ['a text', 'Hello', 'has no parts'],
  ['nothing', undefined, 'has no parts'],
  [
    'another role',
    { role: 'developer', parts: [] },
    'has the role "developer", not system, user, assistant or tool',
  ],
];

for (const [what, message, problem] of TAKEN) {
  test(`a message of ${what} without a codec is told with its place and what to pass`, async () => {
    const wanted = {
      name: 'TypeError',
      message: `messages[1] is not one of Bobbin's own, it ${problem}: pass the codec of your format, such as codec: openaiChat of @bobbin/codecs`,
    };
    const messages = [textMessage('user', 'Hi'), message as Message];
    const bobbin = createBobbin();
    await assert.rejects(bobbin.fit(messages), wanted);
    await bobbin.fit(messages.slice(0, 1));
    await assert.rejects(bobbin.fit(messages), wanted, 'what is new is looked at');
    const thread = await bobbin.thread('t');
    await thread.append(textMessage('user', 'Hi'));
    await assert.rejects(thread.append(message as Message), wanted);
    assert.equal(thread.length, 1);
  });
}

test('a preset that was not called, or is no policy, is told in a line', () => {
  assert.throws(() => createBobbin({ preset: step as unknown as Policy }), {
    name: 'TypeError',
    message: 'preset: step is a function that makes a policy: call it, as in preset: step()',
  });
  assert.throws(() => createBobbin({ preset: { name: 'mine' } as Policy }), {
    name: 'TypeError',
    message: 'preset must be a policy with trigger, cut, ladder and style, or the name of a preset',
  });
});

/** What a host without types may pass by mistake, and the line that it gets. */
const SLIPS: readonly (readonly [options: unknown, problem: string])[] = [
  ['gpt-5', 'the options must be an object, not "gpt-5"'],
  [{ windowTokens: 5 }, 'there is no option windowTokens (did you mean window?)'],
  [{ systemTokens: 5 }, 'there is no option systemTokens (did you mean budget.systemTokens?)'],
  [{ sumarizer: {} }, 'there is no option sumarizer (did you mean summarizer?)'],
  [{ temperature: 0 }, 'there is no option temperature'],
  [{ toString: 0 }, 'there is no option toString'],
  [
    { budget: { rehydrationToken: 0 } },
    'there is no option budget.rehydrationToken (did you mean budget.rehydrationTokens?)',
  ],
  [
    { budget: { outputTokens: '1' } },
    'budget.outputTokens must be a number of at least 0, not "1"',
  ],
  [{ budget: 8_000 }, 'budget must be an object, not 8000'],
  [{ window: '8000' }, 'window must be a number of at least 0, not "8000"'],
  [{ tenant: '' }, 'tenant must be a name that is not empty, not ""'],
  [{ window: -1 }, 'window must be a number of at least 0, not -1'],
  [{ window: Number.NaN }, 'window must be a number of at least 0, not NaN'],
  [{ model: { modelId: 'gpt-5' } }, "model must be a model's id, such as 'gpt-5', not an object"],
  [
    { store: 'x.db' },
    'store must be a store, such as sqliteStore of @bobbin/stores makes, not "x.db"',
  ],
  [
    { artifacts: null },
    'artifacts must be an artifact store, such as memoryArtifacts makes, not null',
  ],
  [
    { codec: 'openai' },
    'codec must be a codec, such as openaiChat of @bobbin/codecs, not "openai"',
  ],
  [
    { tools: [{ name: 'bash' }] },
    'tools must be an object of policies by the names of their tools, not a list',
  ],
  [{ tools: { bash: 'ephemeral' } }, 'tools.bash must be an object, not "ephemeral"'],
  [
    { tools: { bash: { durability: 'ephemral' } } },
    'tools.bash.durability must be one of ephemeral, anchoring, replayable, non-replayable, not "ephemral" (did you mean ephemeral?)',
  ],
  [
    { tools: { bash: { durabilty: 'ephemeral' } } },
    'there is no option tools.bash.durabilty (did you mean tools.bash.durability?)',
  ],
  [
    { rehydration: { mostArtifact: 0 } },
    'there is no option rehydration.mostArtifact (did you mean rehydration.mostArtifacts?)',
  ],
  [
    { access: { clearance: 'secret' } },
    'access.clearance must be one of public, internal, confidential, restricted, not "secret"',
  ],
  [{ onEvent: 'log' }, 'onEvent must be a function, not "log"'],
];

for (const [options, problem] of SLIPS)
  test(`createBobbin(${JSON.stringify(options)}) is told in a line`, () => {
    assert.throws(() => createBobbin(options as object), { name: 'TypeError', message: problem });
  });

test('options that are undefined are absent, and a budget is looked at whenever a host gives one', async () => {
  const bobbin = createBobbin({ window: undefined, store: undefined } as object);
  const thread = await bobbin.thread('t');
  await thread.append(textMessage('user', 'Hi'));
  const slip = { budget: { systemToken: 9 } as object };
  for (const asked of [
    () => bobbin.fit([textMessage('user', 'Hi')], slip),
    () => thread.prompt(slip),
    () => thread.compact(slip),
    () => thread.refused({}, slip),
    () => thread.retune(slip),
  ])
    await assert.rejects(asked, {
      name: 'TypeError',
      message: 'there is no option budget.systemToken (did you mean budget.systemTokens?)',
    });
  await assert.rejects(thread.retune({ policy: step as unknown as Policy }), {
    name: 'TypeError',
    message: 'policy: step is a function that makes a policy: call it, as in policy: step()',
  });
  await assert.rejects(thread.retune({ sumarizer: {} } as object), {
    name: 'TypeError',
    message: 'there is no option sumarizer',
  });
  const { limitTokens } = await thread.compact();
  const budget = { outputTokens: 0, windowTokens: 0 };
  assert.ok(limitTokens > 0);
  assert.equal((await thread.compact({ budget })).limitTokens, 0);
});

test('a thread without a name is told at once: under no name strangers would meet', async () => {
  const bobbin = createBobbin();
  for (const [name, shown] of [
    ['', '""'],
    [undefined, 'undefined'],
    [7, '7'],
  ] as const)
    await assert.rejects(bobbin.thread(name as string), {
      name: 'RangeError',
      message: `the name of a thread must be a string that is not empty, not ${shown}`,
    });
});

test('what is retuned twice in a row is retuned twice: the second call keeps what the first one changed', async () => {
  const thread = await createBobbin().thread('t');
  for (let i = 0; i < 30; i++)
    await thread.append(
      textMessage('user', `Question ${i}`),
      textMessage('assistant', `Answer ${i}: ${'word '.repeat(200)}`),
    );
  await Promise.all([
    thread.retune({ policy: step() }),
    thread.retune({ budget: { windowTokens: 9_000 } }),
  ]);
  assert.equal((await thread.compact()).plan.policy, step().name);
});
