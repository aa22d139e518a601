import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BobbinOptions, Message } from '@bobbin/core';
import {
  ANTHROPIC_RULES,
  chars4,
  messagesOnly,
  OPENAI_RULES,
  resultText,
} from '@bobbin/core/internal';
import { assistant, call, reasoning, result, user, WatchedThread } from '@bobbin/testing';

const open = (options: BobbinOptions = {}): Promise<WatchedThread> =>
  WatchedThread.open({ counter: chars4(), window: 200_000, clock: { now: () => 1 }, ...options });

/** A file of so many lines, each with names of its own. */
const file = (step: number, lines: number): string =>
  Array.from(
    { length: lines },
    (_, line) => `export const value_${step}_${line} = compute(${step * line});`,
  ).join('\n');

const textsOf = ({ parts }: Message): string =>
  parts
    .map((part) =>
      part.kind === 'result' ? resultText(part) : part.kind === 'text' ? part.text : '',
    )
    .join('\n');

/** A turn whose every call was thought about. */
function loop(steps: number, lines: number): readonly Message[] {
  return Array.from({ length: steps }, (_, step) => {
    const content = file(step, lines);
    const asked = call('write', { path: `/src/module-${step}.ts`, content }, `l${step}`);
    return [
      assistant(reasoning(`thought ${step}`, `signature ${step}`), asked),
      result(asked, file(step, lines)),
    ];
  }).flat();
}

for (const preset of ['ladder', 'pi', 'token-window'] as const)
  test(`14.H1 ${preset}: shortened calls of a running loop keep their thinking if the model does not bind it`, async () => {
    const watched = await open({ preset, rules: OPENAI_RULES, budget: messagesOnly(9_000) });
    await watched.append(user('Write every module.'));
    let changed = 0;
    for (const message of loop(40, 40)) {
      await watched.append(message);
      if (message.role !== 'tool') continue;
      const { prompt } = await watched.prompt();
      for (const { message: shown, source } of prompt.messages) {
        if (!shown.parts.some(({ kind }) => kind === 'call')) continue;
        assert.equal(shown.parts[0]?.kind, 'reasoning');
        if (source.kind === 'changed') changed += 1;
      }
    }
    assert.ok(changed > 0);
  });

test('14.H1 where the model binds thinking, a loop is never left without it: it is folded, and work goes on from a user', async () => {
  const watched = await open({ rules: ANTHROPIC_RULES, budget: messagesOnly(9_000) });
  await watched.append(user('Read every module.'));
  let folds = 0;
  for (const message of loop(40, 40)) {
    await watched.append(message);
    if (message.role !== 'tool') continue;
    const { prompt, compacted } = await watched.prompt();
    if (compacted) folds += 1;
    const shown = prompt.messages.map((each) => each.message);
    const unthought = shown.filter(
      ({ parts }) => parts.some(({ kind }) => kind === 'call') && parts[0]?.kind !== 'reasoning',
    );
    assert.deepEqual(unthought, []);
    assert.notEqual(shown.at(-1)?.role, 'assistant');
    const [newest] = message.parts;
    assert.ok(newest?.kind === 'result' && newest.content[0]?.kind === 'text');
    const last = shown.at(-1);
    assert.ok(last && textsOf(last).includes(newest.content[0].text), 'unread, so whole');
  }
  assert.ok(folds >= 1);
});

test('14.H1 with bound thinking a batch waits for the next turn', async () => {
  const watched = await open({ rules: ANTHROPIC_RULES });
  await watched.append(user('Read every module.'));
  for (const message of loop(60, 60)) {
    await watched.append(message);
    if (message.role === 'tool') assert.equal((await watched.prompt()).compacted, false);
  }
  await watched.append(assistant('All read.'), user('Go on.'));
  assert.equal((await watched.prompt()).compacted, true);
});
