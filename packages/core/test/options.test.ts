import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allOf,
  clear,
  createBobbin,
  DEFAULT_STYLE,
  drop,
  externalize,
  summarize,
  textMessage,
  tokenCount,
  turnCount,
  when,
  type Message,
  type Policy,
} from '../src/index.ts';
import {
  codex,
  ladder,
  opencode,
  pi,
  recursiveSummary,
  slidingWindow,
  step,
  timeline,
  tokenWindow,
  turnWindow,
} from '../src/internal.ts';

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
  test(`a message of ${what} without a codec is reported with its place and what to pass`, async () => {
    const wanted = {
      name: 'TypeError',
      message: `messages[1] is not one of Bobbin's own, it ${problem}: pass the codec of your format, such as codec: openaiChat of bobbin/openai`,
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

test('an argument that is no list of messages is reported in a line', async () => {
  for (const [given, shown] of [
    [undefined, 'undefined'],
    [{ messages: [] }, 'an object'],
    ['Hi', '"Hi"'],
  ] as const)
    await assert.rejects(createBobbin().fit(given as never), {
      name: 'TypeError',
      message: `messages must be a list, not ${shown}`,
    });
});

test('a preset that was not called is reported in a line', () => {
  assert.throws(() => createBobbin({ preset: step as unknown as Policy }), {
    name: 'TypeError',
    message: 'preset: step is a function that makes a policy: call it, as in preset: step()',
  });
});

const { name: _, ...nameless } = ladder();

/** Policies that would fail, or do something else than they say, only when there is pressure; OPTION is where it is given. */
const SLIPS_OF_POLICIES: readonly (readonly [policy: unknown, problem: string])[] = [
  [null, 'OPTION must be a policy or the name of a preset, not null'],
  [5, 'OPTION must be a policy or the name of a preset, not 5'],
  [nameless, 'OPTION.name must be a string, not undefined'],
  [
    { name: 'mine' },
    'OPTION.trigger must be a trigger, such as turnCount(20) makes, not undefined',
  ],
  [{ ...ladder(), targetShare: 30 }, 'OPTION.targetShare must be a number from 0 to 1, not 30'],
  [
    { ...ladder(), targetshare: 0.3 },
    'there is no option OPTION.targetshare (did you mean OPTION.targetShare?)',
  ],
  [
    { ...ladder(), trigger: turnCount },
    'OPTION.trigger must be a trigger, such as turnCount(20) makes, not a function',
  ],
  [
    { ...ladder(), trigger: { kind: 'turn', over: 5 } },
    'OPTION.trigger.kind must be one of soft-limit, window-share, reserve, tokens, turns, any-of, all-of, custom, not "turn" (did you mean turns?)',
  ],
  [
    { ...ladder(), trigger: { kind: 'any-of', triggers: [{ kind: 'turns', ove: 5 }] } },
    'there is no option OPTION.trigger.triggers[0].ove (did you mean OPTION.trigger.triggers[0].over?)',
  ],
  [
    { ...ladder(), cut: { kind: 'keepshare', share: 1 } },
    'OPTION.cut.kind must be one of keep-messages, keep-tokens, keep-share, beside-summary, sliding-window, turn-window, token-window, everything, not "keepshare" (did you mean keep-share?)',
  ],
  [
    { ...ladder(), cut: { kind: 'keep-share' } },
    'OPTION.cut.share must be a number from 0 to 1, not undefined',
  ],
  [
    { ...ladder(), ladder: [summarize] },
    'OPTION.ladder[0] must be a strategy, such as summarize() makes, not a function',
  ],
  [
    { ...ladder(), stop: 'whenever' },
    'OPTION.stop must be one of at-target, at-end, not "whenever"',
  ],
  [{ ...ladder(), style: null }, 'OPTION.style must be an object, not null'],
  [
    { ...ladder(), style: {} },
    'OPTION.style.summaryRole must be one of assistant, user, pair, not undefined',
  ],
  [
    { ...ladder(), style: { ...DEFAULT_STYLE, summaryRole: 'system' } },
    'OPTION.style.summaryRole must be one of assistant, user, pair, not "system"',
  ],
  [
    { ...ladder(), onSummaryFailure: 'panic' },
    'OPTION.onSummaryFailure must be one of extract, keep, not "panic"',
  ],
  [
    { ...ladder(), firstSightShare: -2 },
    'OPTION.firstSightShare must be a number from 0 to 1, not -2',
  ],
  [{ ...ladder(), economics: {} }, 'OPTION.economics.prices must be an object, not undefined'],
];

for (const [policy, problem] of SLIPS_OF_POLICIES)
  test(`a policy is checked when it is given: ${problem}`, async () => {
    const thread = await createBobbin().thread('t');
    assert.throws(() => createBobbin({ preset: policy as Policy }), {
      name: 'TypeError',
      message: problem.replaceAll('OPTION', 'preset'),
    });
    await assert.rejects(thread.reconfigure({ policy: policy as Policy }), {
      name: 'TypeError',
      message: problem.replaceAll('OPTION', 'policy'),
    });
  });

const bad = (value: unknown): never => value as never;

/** Factories look at what they are given: what they make would do something else than was meant. */
const SLIPS_OF_FACTORIES: readonly (readonly [make: () => unknown, problem: string])[] = [
  [
    () => pi(bad({ keepRecent: 5 })),
    'there is no option pi.keepRecent (did you mean pi.keepRecentTokens?)',
  ],
  [() => pi(bad(null)), 'what pi is given must be an object, not null'],
  [() => pi({ splitTurns: bad('no') }), 'pi.splitTurns must be true or false, not "no"'],
  [
    () => step({ thresholdPercent: 80 }),
    'step.thresholdPercent must be a number from 0 to 1, not 80',
  ],
  [
    () => codex({ keepUserTokens: bad('5') }),
    'codex.keepUserTokens must be a number of at least 0, not "5"',
  ],
  [
    () => opencode({ outputReserveTokens: -1 }),
    'opencode.outputReserveTokens must be a number of at least 0, not -1',
  ],
  [
    () => timeline({ keepRecentTokens: Number.NaN }),
    'timeline.keepRecentTokens must be a number of at least 0, not NaN',
  ],
  [
    () => recursiveSummary({ keepMessages: -1 }),
    'recursiveSummary.keepMessages must be a whole number of at least 1, not -1',
  ],
  [() => slidingWindow(-3), 'sliding-window.messages must be a whole number of at least 1, not -3'],
  [
    () => slidingWindow(bad('x')),
    'sliding-window.messages must be a whole number of at least 1, not "x"',
  ],
  [
    () => slidingWindow(5, bad(turnCount)),
    'sliding-window.trigger must be a trigger, such as turnCount(20) makes, not a function',
  ],
  [() => turnWindow(0), 'turn-window.turns must be a whole number of at least 1, not 0'],
  [() => tokenWindow(-5), 'token-window.tokens must be a number of at least 0, not -5'],
  [() => tokenCount(-1), 'tokenCount.atLeast must be a number of at least 0, not -1'],
  [() => turnCount(bad('x')), 'turnCount.over must be a number of at least 0, not "x"'],
  [
    () => allOf(turnCount(1), bad(turnCount)),
    'allOf.triggers[1] must be a trigger, such as turnCount(20) makes, not a function',
  ],
  [() => when('never', bad(false)), 'when.fires must be a function, not false'],
  [
    () => summarize(bad({ maxToken: 50 })),
    'there is no option summarize.maxToken (did you mean summarize.maxTokens?)',
  ],
  [() => summarize({ ratio: 50 }), 'summarize.ratio must be a number from 0 to 1, not 50'],
  [
    () => clear({ protectTokens: -1 }),
    'clear.protectTokens must be a number of at least 0, not -1',
  ],
  [
    () => externalize(bad({ overToken: 5 })),
    'there is no option externalize.overToken (did you mean externalize.overTokens?)',
  ],
  [
    () => drop({ reach: bad('all') }),
    'drop.reach must be one of cut, target, everything, not "all"',
  ],
];

for (const [make, problem] of SLIPS_OF_FACTORIES)
  test(`a factory reports in a line: ${problem}`, () => {
    assert.throws(make, { name: 'TypeError', message: problem });
  });

test('options of factories that are undefined are absent', () => {
  const absent = { reserveTokens: undefined, keepRecentTokens: undefined } as object;
  assert.equal(JSON.stringify(pi(absent)), JSON.stringify(pi()));
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
  [{ window: '8000' }, 'window must be a number of at least 1, not "8000"'],
  [{ tenant: '' }, 'tenant must be a name that is not empty, not ""'],
  [{ window: -1 }, 'window must be a number of at least 1, not -1'],
  [{ window: Number.NaN }, 'window must be a number of at least 1, not NaN'],
  [{ model: { modelId: 'gpt-5' } }, "model must be a model's id, such as 'gpt-5', not an object"],
  [
    { store: 'x.db' },
    'store must be a store, such as sqliteStore of bobbin/sqlite makes, not "x.db"',
  ],
  [
    { artifacts: null },
    'artifacts must be an artifact store, such as memoryArtifacts makes, not null',
  ],
  [{ codec: 'openai' }, 'codec must be a codec, such as openaiChat of bobbin/openai, not "openai"'],
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
  [
    { models: { 'corp/': { window: 3_000 } } },
    'there is no option models["corp/"].window (did you mean models["corp/"].windowTokens?)',
  ],
  [
    { models: { 'corp/': {} } },
    'models["corp/"].windowTokens must be a number of at least 0, not undefined',
  ],
  [
    { models: { corp: { windowTokens: 3_000, encoding: 'o300k' } } },
    'models.corp.encoding must be one of o200k, cl100k, not "o300k" (did you mean o200k?)',
  ],
  [{ rules: { name: 'mine' } }, 'rules.first must be one of user, any, not undefined'],
  [
    { cacheLimits: { markers: 1 } },
    'cacheLimits.minimumTokens must be a number of at least 0, not undefined',
  ],
  [{ summaryDeadlineMs: '5s' }, 'summaryDeadlineMs must be a number of at least 0, not "5s"'],
];

for (const [options, problem] of SLIPS)
  test(`createBobbin(${JSON.stringify(options)}) is reported in a line`, () => {
    assert.throws(() => createBobbin(options as object), { name: 'TypeError', message: problem });
  });

test('options that are undefined are absent, and a budget is checked whenever a host gives one', async () => {
  const bobbin = createBobbin({ window: undefined, store: undefined } as object);
  const thread = await bobbin.thread('t');
  await thread.append(textMessage('user', 'Hi'));
  const slip = { budget: { systemToken: 9 } as object };
  for (const asked of [
    () => bobbin.fit([textMessage('user', 'Hi')], slip),
    () => thread.prompt(slip),
    () => thread.compact(slip),
    () => thread.refused({}, slip),
    () => thread.reconfigure(slip),
  ])
    await assert.rejects(asked, {
      name: 'TypeError',
      message: 'there is no option budget.systemToken (did you mean budget.systemTokens?)',
    });
  await assert.rejects(thread.reconfigure({ policy: step as unknown as Policy }), {
    name: 'TypeError',
    message: 'policy: step is a function that makes a policy: call it, as in policy: step()',
  });
  await assert.rejects(thread.reconfigure({ sumarizer: {} } as object), {
    name: 'TypeError',
    message: 'there is no option sumarizer',
  });
  const { limitTokens } = await thread.compact();
  const budget = { outputTokens: 0, windowTokens: 1 };
  assert.ok(limitTokens > 0);
  assert.equal((await thread.compact({ budget })).limitTokens, 0);
});
