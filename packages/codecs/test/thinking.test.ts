import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, type ProviderRules } from '@bobbin/core';
import { ANTHROPIC_RULES } from '@bobbin/core/internal';
import { anthropic, anthropicProblems, signThinking, type AnthropicMessage } from '@bobbin/codecs';

const SYSTEM = 'You work in steps.';
const STEPS = 80;

interface Run {
  readonly problems: readonly string[];
  readonly compactions: number;
  /** How many requests held thinking, and how many thoughts they held at most. */
  readonly thoughtful: number;
  /** How many held what was recalled for their turn alone. */
  readonly recalled: number;
}

/** An agent whose provider binds each thought to the conversation that it was made in, over many compactions. */
async function run(rules: ProviderRules, thinking?: object): Promise<Run> {
  const bobbin = createBobbin({ codec: anthropic, rules, window: 6_000 });
  const history: AnthropicMessage[] = [{ role: 'user', content: 'Do all the steps.' }];
  const problems: string[] = [];
  let compactions = 0;
  let thoughtful = 0;
  let recalled = 0;
  for (let step = 1; step <= STEPS; step++) {
    const fitted = await bobbin.fit(history);
    const request = { system: SYSTEM, thinking, messages: fitted.messages };
    problems.push(...anthropicProblems(request));
    compactions += fitted.compacted ? 1 : 0;
    recalled += fitted.prompt.messages.some(({ source }) => source.kind === 'recalled') ? 1 : 0;
    thoughtful += JSON.stringify(request).includes('"thinking"') ? 1 : 0;
    history.push(answer(step, request), results(step));
    // A turn ends now and then, so that words follow results.
    if (step % 15 === 0)
      history.push({
        role: 'user',
        content: `Why was src/a${step - 12}.ts looked at in step ${step - 12}? Then go on.`,
      });
  }
  return { problems, compactions, thoughtful, recalled };
}

function answer(step: number, request: Parameters<typeof signThinking>[0]): AnthropicMessage {
  const thought = {
    type: 'thinking',
    thinking: `Step ${step} needs two looks.`,
    signature: signThinking(request),
  };
  const text = { type: 'text', text: `Now step ${step}.` };
  const again = { type: 'redacted_thinking', data: signThinking(request, [thought, text]) };
  const calls = ['a', 'b'].map((name) => ({
    type: 'tool_use',
    id: `toolu_${step}_${name}`,
    name: 'look',
    input: { path: `src/${name}${step}.ts` },
  }));
  return { role: 'assistant', content: [thought, text, again, ...calls] };
}

function results(step: number): AnthropicMessage {
  const content = ['a', 'b'].map((name) => ({
    type: 'tool_result',
    tool_use_id: `toolu_${step}_${name}`,
    content: `file ${name}${step}: ${'words of it '.repeat(20)}`,
  }));
  return { role: 'user', content };
}

test('C18 no request holds a thought whose conversation was rewritten before it', async () => {
  const { problems, compactions, thoughtful, recalled } = await run(ANTHROPIC_RULES);
  assert.ok(recalled > 0, 'something is recalled');
  assert.deepEqual(problems, []);
  assert.ok(compactions >= 5, `${compactions} compactions`);
  assert.ok(thoughtful > STEPS / 2, `thoughts were sent in ${thoughtful} requests`);
});

test('H1 no request of a running loop lacks the thinking of its last answer', async () => {
  const { problems, compactions, recalled } = await run(ANTHROPIC_RULES, { type: 'enabled' });
  assert.ok(compactions >= 5, `${compactions} compactions`);
  assert.ok(recalled > 0, 'something is recalled');
  assert.deepEqual(problems, []);
});

test('C18 the scripted provider refuses what a rewrite leaves', async () => {
  const { problems } = await run({ ...ANTHROPIC_RULES, bindsReasoning: false });
  assert.match(
    problems[0] ?? '',
    /^messages\[\d+\]\.content\[0\]: the conversation before it has changed$/,
  );
});

test('C18 a thought may be left out from the beginning on, but not from the middle', () => {
  const messages: AnthropicMessage[] = [{ role: 'user', content: 'Go' }];
  for (let step = 1; step <= 3; step++) {
    messages.push(answer(step, { system: SYSTEM, messages }), results(step));
  }
  const without = (step: number): AnthropicMessage[] =>
    messages.map((message, i) =>
      i === step * 2 - 1
        ? {
            ...message,
            content: (message.content as { type: string }[]).filter(
              ({ type }) => !type.includes('thinking'),
            ),
          }
        : message,
    );
  const problems = [1, 2, 3].map((step) =>
    anthropicProblems({ system: SYSTEM, messages: without(step) }),
  );
  assert.deepEqual(problems, [
    [],
    ['messages[5].content[0]: the thinking before it is missing'],
    [],
  ]);
  assert.deepEqual(anthropicProblems({ system: SYSTEM, messages }), []);
  assert.deepEqual(
    anthropicProblems({ system: 'Other rules.', messages }).filter(
      (problem) => !problem.endsWith('changed'),
    ),
    [],
  );
});
