import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textMessage, type Fitted, type Message } from '@bobbin/core';
import { assistant, call, result, seededRandom, user, WatchedThread } from '@bobbin/testing';
import { softLadder } from './soft-ladder.ts';

const RULE = 'Never touch the public API in src/api.ts.';
const random = seededRandom(7);

function line(i: number): string {
  return `${i}: ${random.pick(['ok', 'error', 'const'])} ${random.int(0, 1e9)}`;
}

function lines(count: number): string {
  return Array.from({ length: count }, (_, i) => line(i)).join('\n');
}

function round(step: number): readonly [Message, Message] {
  const asked = call('read', { path: `/srv/app/src/module-${step % 40}.ts` }, `call-${step}`);
  const size = random.pick([8, 8, 30, 30, 90, 300]);
  return [assistant(`Next I look at module ${step}.`, asked), result(asked, lines(size))];
}

test('C19 C21 C23 by default a long session keeps its rule, its task and its newest result, and is quiet between', async () => {
  const watched = await WatchedThread.open({ window: 16_000 });
  await watched.append(
    user('Port the parser in /srv/app/src/parser.ts.'),
    assistant('I will.'),
    user(RULE),
  );
  let compactions = 0;
  for (let step = 0; step < 160; step++) {
    if (step % 40 === 39) {
      await watched.append(assistant(`Stage ${step} is done.`));
      await watched.append(textMessage('user', `Go on with stage ${step}.`));
    }
    const [asked, answered] = round(step);
    await watched.append(asked, answered);
    const fitted = await watched.prompt();
    const shown = JSON.stringify(fitted.prompt.messages);
    assert.ok(shown.includes(RULE), `step ${step}: the rule is there`);
    assert.ok(shown.includes('/srv/app/src/parser.ts'), `step ${step}: the task is there`);
    assert.ok(!dropped(fitted), `step ${step}: nothing is dropped while a summary can hold it`);
    if (watched.handle.counter.message(answered) < 1_500)
      assert.equal(
        fitted.prompt.messages.at(-1)?.message,
        answered,
        `step ${step}: the newest result is whole`,
      );
    if (fitted.compacted) compactions += 1;
  }
  assert.ok(compactions > 10 && compactions < 60, `${compactions} compactions in 160 steps`);
});

function dropped({ events }: Fitted<Message>): boolean {
  return events.some(({ kind }) => kind === 'dropped');
}

test('C19 in a small window too, results that no model has read stay whole: older ones give way first', async () => {
  const watched = await WatchedThread.open({
    window: 8_000,
    budget: { outputTokens: 500, rehydrationTokens: 500 },
  });
  await watched.append(user('Port every module.'));
  let compactions = 0;
  for (let step = 0; step < 40; step++) {
    const asked = [0, 1].map((n) =>
      call('read', { path: `/src/m-${step}-${n}.ts` }, `c-${step}-${n}`),
    );
    const answered = asked.map((each) => result(each, lines(60)));
    await watched.append(assistant(`Step ${step}.`, ...asked), ...answered);
    const { prompt, compacted } = await watched.prompt();
    assert.deepEqual(
      prompt.messages.slice(-2).map(({ message }) => message),
      answered,
      `step ${step}`,
    );
    compactions += Number(compacted);
  }
  assert.ok(compactions >= 5, `${compactions} compactions`);
});

test('C21 a preset that cannot cut within a turn leaves space after the last resort: it is quiet between', async () => {
  for (const preset of [
    'sliding-window',
    'turn-window',
    'token-window',
    'recursive-summary',
    'pi',
  ] as const) {
    const watched = await WatchedThread.open({ window: 24_000, preset });
    await watched.append(user('Port every module.'));
    let compactions = 0;
    for (let step = 0; step < 60; step++) {
      const asked = call('read', { path: `/src/m-${step}.ts` }, `c-${step}`);
      await watched.append(assistant(`Step ${step}.`, asked), result(asked, lines(30)));
      compactions += Number((await watched.prompt()).compacted);
    }
    assert.ok(compactions < 20, `${preset}: ${compactions} compactions in 60 steps`);
  }
});

test('a task that is a little too long loses little', async () => {
  const watched = await WatchedThread.open({ window: 8_000 });
  await watched.append(user('Read this word by word. '.repeat(1_000)));
  const { prompt, limitTokens } = await watched.prompt();
  assert.ok(prompt.tokens > limitTokens / 2, `${prompt.tokens} of ${limitTokens}`);
});

test('C1 promptAt shows a past prompt as it was first made; a length shows a later one', async () => {
  const watched = await WatchedThread.open({ window: 8_000 });
  await watched.append(user('Port every module.'));
  const made = new Map<number, Fitted<Message>['prompt']>();
  for (let step = 0; step < 60; step++) {
    const asked = call('read', { path: `/src/m-${step}.ts` }, `c-${step}`);
    await watched.append(assistant(`Step ${step}.`, asked), result(asked, lines(30)));
    const { version, prompt } = await watched.prompt();
    if (!made.has(version)) made.set(version, prompt);
  }
  assert.ok(made.size > 3);
  for (const [version, prompt] of [...made].slice(1, -1))
    assert.deepEqual((await watched.handle.promptAt(version)).messages, prompt.messages);
});

function passes(count: number): string {
  return Array.from({ length: count }, (_, i) => `pass ${i}`).join('\n');
}

test('C19 what was cut before the summary turned out short is shown whole again, the newest first', async () => {
  const watched = await WatchedThread.open({ window: 16_000, preset: softLadder });
  await watched.append(user('Port every module.'));
  for (let step = 0; step < 60; step++) {
    const asked = call('read', { path: `/src/m-${step}.ts` }, `c-${step}`);
    await watched.append(
      assistant(`Step ${step}.`, asked),
      result(asked, passes(step % 3 === 0 ? 400 : 60)),
    );
    const { compacted, events, prompt, limitTokens } = await watched.prompt();
    if (!compacted) continue;
    const restored = events.flatMap((event) =>
      event.kind === 'restored' ? [event.span.ids[0]] : [],
    );
    for (const id of restored)
      assert.ok(prompt.messages.some(({ source }) => source.kind === 'kept' && source.id === id));
    assert.ok(prompt.tokens <= limitTokens / 2 + 50, `${prompt.tokens} of ${limitTokens}`);
    if (restored.length > 0) return;
  }
  assert.fail('nothing was restored');
});
