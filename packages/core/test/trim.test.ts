import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  memoryArtifacts,
  presets,
  type BobbinOptions,
  type Message,
} from '@bobbin/core';
import { chars4, resultText, type PromptMessage } from '@bobbin/core/internal';
import { assistant, call, result, round, user, WatchedThread } from '@bobbin/testing';

const counter = chars4();

/** All that a reader sees of some messages. */
function textOfPrompt(messages: readonly PromptMessage[]): string {
  return messages
    .flatMap(({ message }) => message.parts)
    .map((part) =>
      part.kind === 'result'
        ? resultText(part)
        : part.kind === 'text'
          ? part.text
          : part.kind === 'call'
            ? part.args
            : '',
    )
    .join('\n');
}

/** A file of so many lines, each with names of its own. */
function file(step: number, lines: number = 60): string {
  return Array.from(
    { length: lines },
    (_, line) => `export const value_${step}_${line} = compute(${step * line});`,
  ).join('\n');
}

const read = (step: number, lines?: number): readonly Message[] =>
  round('read', { path: `/src/module-${step}.ts` }, file(step, lines));

const open = (options: BobbinOptions = {}): Promise<WatchedThread> =>
  WatchedThread.open({ counter, window: 200_000, clock: { now: () => 1 }, ...options });

test('older results are trimmed in place as soon as that pays, though the window is nearly empty', async () => {
  const watched = await open();
  await watched.append(user('Read every module.'));
  let trimmed = 0;
  for (let step = 0; step < 60; step++) {
    await watched.append(...read(step));
    const { prompt, compacted } = await watched.prompt();
    if (compacted) trimmed += 1;
    assert.ok(prompt.tokens < 200_000 * 0.2, `${prompt.tokens}`);
  }
  assert.ok(trimmed >= 2, `${trimmed} batches`);
  const { records } = watched.handle.plan;
  assert.ok(records.length > 30 && records.every(({ kind }) => kind === 'externalize'));
});

test('a batch changes no byte before the end of the batch before it', async () => {
  const watched = await open({ thrift: 'frugal' });
  await watched.append(user('Read every module.'));
  let last: readonly string[] = [];
  let ended = 0;
  let batches = 0;
  for (let step = 0; step < 80; step++) {
    await watched.append(assistant(`Step ${step}.`), ...read(step));
    const { prompt, plan, compacted } = await watched.prompt();
    const shown = prompt.messages.map(({ message }) => JSON.stringify(message.parts));
    const same = compacted ? ended : last.length;
    assert.deepEqual(shown.slice(0, same), last.slice(0, same));
    if (compacted) batches += 1;
    ended = plan.trimmedTo ?? 0;
    last = shown;
  }
  assert.ok(batches >= 4, `${batches}`);
});

test('a stand-in shows the first line, errors and what later messages do not show, and says how long the whole is', async () => {
  const watched = await open({ thrift: 'frugal' });
  const output = [
    '> test run',
    ...Array.from({ length: 80 }, (_, i) => `ok ${i} passed`),
    'src/parser.ts:42: error TS2345: wrong argument',
    '1 failed, 80 passed',
  ];
  await watched.append(
    user('Test it.'),
    ...round('bash', { command: 'npm test' }, output.join('\n')),
  );
  for (let step = 0; step < 40; step++) {
    await watched.append(...read(step));
    await watched.prompt();
  }
  const shown = textOfPrompt((await watched.prompt()).prompt.messages.slice(2, 3));
  assert.match(shown, /^\[1\d{3} characters, cut\]\n> test run/);
  assert.match(shown, /src\/parser\.ts:42: error TS2345/);
  assert.match(shown, /1 failed, 80 passed$/);
});

test('long texts in arguments are cut with every key and list in place', async () => {
  const watched = await open({ thrift: 'frugal' });
  const edits = [
    {
      oldText: 'const a = 1;\n'.repeat(60),
      newText: `say "hi"\\n\t${'const b = 2;\n'.repeat(60)}`,
    },
    { oldText: 'x', newText: 'y' },
  ];
  const edit = call('edit', { path: '/src/a.ts', edits, dryRun: false, count: 7 });
  await watched.append(user('Edit it.'), assistant(edit), result(edit, 'ok'));
  for (let step = 0; step < 40; step++) {
    await watched.append(...read(step));
    await watched.prompt();
  }
  const part = (await watched.prompt()).prompt.messages[1]?.message.parts[0];
  assert.ok(part?.kind === 'call');
  assert.ok(part.args.length < edit.args.length / 2, part.args);
  const args = JSON.parse(part.args) as { edits: Record<string, string>[] } & Record<
    string,
    unknown
  >;
  assert.deepEqual(Object.keys(args), ['count', 'dryRun', 'edits', 'path']);
  assert.deepEqual([args['path'], args['dryRun'], args['count']], ['/src/a.ts', false, 7]);
  assert.deepEqual(
    args.edits.map((each) => Object.keys(each).toSorted()),
    [
      ['newText', 'oldText'],
      ['newText', 'oldText'],
    ],
  );
  assert.match(
    args.edits[0]?.['newText'] ?? '',
    /^say "hi"\\n\tconst b = 2;\n[\s\S]*characters cut\]$/,
  );
});

test('read_artifact is named only where the model has it, and gives the bytes back', async () => {
  for (const offersReadArtifact of [true, false]) {
    const artifacts = memoryArtifacts();
    const watched = await open({ thrift: 'frugal', offersReadArtifact, artifacts });
    await watched.append(user('Read every module.'));
    for (let step = 0; step < 30; step++) {
      await watched.append(...read(step));
      await watched.prompt();
    }
    const text = textOfPrompt((await watched.prompt()).prompt.messages);
    assert.equal(text.includes('read_artifact'), offersReadArtifact);
    const id = /read_artifact\("([0-9a-f]{32})"\)/.exec(text)?.[1];
    if (offersReadArtifact)
      assert.equal(await artifacts.get(id as never, { tenant: 'default' }), file(0));
  }
});

test('undo gives the bytes back, and nothing is trimmed again until there is no other way', async () => {
  const watched = await open();
  const said = [
    user('Read every module.'),
    ...Array.from({ length: 40 }, (_, i) => read(i)).flat(),
  ];
  for (const message of said) await watched.append(message);
  for (let step = 0; step < 6 && watched.handle.version === 0; step++) {
    await watched.append(assistant(`Step ${step}.`), user('Go on.'));
    await watched.prompt();
  }
  assert.ok(watched.handle.plan.records.length > 0);
  assert.equal(await watched.handle.undo(), true);
  const { prompt, plan } = await watched.prompt();
  assert.deepEqual(plan.records, []);
  assert.deepEqual(
    prompt.messages.map(({ message }) => message),
    watched.thread.messages,
  );
});

test('fields that a tool asks to preserve stay in its stand-in', async () => {
  const tools = { order: { preserveFields: ['orderId'] } };
  const watched = await open({ thrift: 'frugal', tools });
  const text = JSON.stringify({ note: 'n'.repeat(2_000), orderId: 'A-7731' });
  await watched.append(user('Order.'), ...round('order', {}, text));
  for (let step = 0; step < 30; step++) {
    await watched.append(...read(step));
    await watched.prompt();
  }
  const shown = textOfPrompt((await watched.prompt()).prompt.messages.slice(2, 3));
  assert.match(shown, /\nKey data: \{"orderId":"A-7731"\}$/);
});

/** At which step the first batch is trimmed where a cached token costs so much. */
async function firstBatch(readPrice: number): Promise<number> {
  const prices = { read: readPrice, write: 1.25, ttlMs: 300_000 };
  const economics = { prices, requestsToCome: 20 };
  const watched = await open({ preset: { ...presets.ladder(), economics } });
  await watched.append(user('Read every module.'));
  for (let step = 1; step <= 100; step++) {
    await watched.append(...read(step));
    if ((await watched.prompt()).compacted) return step;
  }
  return Number.POSITIVE_INFINITY;
}

test('prices decide when a batch pays: dearer reads sooner, cheaper reads later', async () => {
  const [dear, usual, cheap] = await Promise.all([0.5, 0.1, 0.025].map(firstBatch));
  assert.ok(
    (dear as number) < (usual as number) && (usual as number) < (cheap as number),
    `${dear} ${usual} ${cheap}`,
  );
});

test('in a huge window the oldest turns are summarised once reading them costs more than that', async () => {
  const expected = { careful: 128_000, balanced: 96_000, frugal: 64_000 };
  for (const [thrift, most] of Object.entries(expected)) {
    const preset = presets.ladder({ thrift: thrift as keyof typeof expected });
    const watched = await open({ window: 1_000_000, preset });
    let fitted = await watched.prompt();
    let largest = 0;
    while (!fitted.plan.records.some(({ kind }) => kind === 'summarize') && largest < 200_000) {
      largest = fitted.prompt.tokens;
      await watched.append(
        user(`why ${largest}? `.repeat(200)),
        assistant('because. '.repeat(900)),
      );
      fitted = await watched.prompt();
    }
    assert.ok(largest < most && largest > most - 4_000, `${thrift}: ${largest}`);
    const after = fitted.prompt.tokens;
    assert.ok(after <= most / 2 && after > most / 5, `${thrift}: ${after}`);
  }
});

test('on a cold cache a batch is trimmed at once', async () => {
  let now = 1;
  const watched = await open({ clock: { now: () => now } });
  await watched.append(user('Read every module.'));
  for (let step = 0; step < 9; step++) {
    await watched.append(...read(step));
    assert.equal((await watched.prompt()).compacted, false);
  }
  await watched.append(assistant('Done.'), user('Go on.'));
  now += 300_001;
  assert.equal((await watched.prompt()).compacted, true);
});

test('thrift is for the preset that trims', () => {
  assert.throws(
    () => createBobbin({ preset: 'pi', thrift: 'frugal' }),
    /^TypeError: thrift: only the preset 'ladder' trims/,
  );
  assert.throws(() => presets.ladder({ thrift: 'stingy' as never }), /thrift must be/);
});
