import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, memoryArtifacts, type Message } from '@bobbin/core';
import { chars4, messagesOnly, PRESETS, type Json, type PresetName } from '@bobbin/core/internal';
import { assistant, call, opaque, result, user, WatchedThread } from '@bobbin/testing';
import { isSoak, volume } from '@bobbin/testing/volume';
import { isCopyOf } from '../src/session/recognise/host-list.ts';

/** JSON text that recursive code cannot read: `{"a":{"a":…}}`. */
function nestedText(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

function conversation(levels: number): readonly Message[] {
  const text = nestedText(levels);
  const nested = JSON.parse(text) as Json;
  const turns = Array.from({ length: 8 }, (_, i): readonly Message[] => {
    const made = call('write', `{"path":"src/${i}.ts","rows":${text},"n":${i}}`, `call-${i}`);
    const envelope = i === 0 ? { keyFields: { total: i, rows: nested } } : {};
    return [
      {
        ...user(`Write file ${i}. Keep the rule ${i}.`),
        extra: { at: i, ...(i === 1 ? { nested } : {}) },
      },
      assistant(made),
      result(made, `${text} ${i}`, envelope),
      assistant(`File ${i} is written. ${'It has many rows. '.repeat(200)}`),
    ];
  });
  return [...turns.flat(), user('And this?', opaque('dream', nested)), user('Go on.')];
}

const SOME = isSoak() ? (Object.keys(PRESETS) as PresetName[]) : (['step', 'timeline'] as const);

for (const [levels, some] of [
  [5_000, SOME],
  [volume(12_000, 50_000), ['ladder']],
] as const)
  for (const preset of some)
    test(`18 ${preset}: values nested ${levels} deep are compacted, shown and undone`, async () => {
      const limitTokens = levels * 10;
      const options = { preset, counter: chars4(), budget: messagesOnly(limitTokens) };
      const history = conversation(levels);
      const bobbin = createBobbin({ ...options, artifacts: memoryArtifacts() });
      const first = await bobbin.fit(history);
      const second = await bobbin.fit([...history, assistant('Done.'), user('More.')]);
      assert.deepEqual([first.fits, second.fits], [true, true]);
      assert.ok(first.plan.records.length > 0);
      const watched = await WatchedThread.open({ ...options, artifacts: memoryArtifacts() });
      await watched.append(...history);
      await watched.prompt();
      await watched.compact();
      await watched.handle.undo();
    });

const copyOf = (levels: number, end: string): unknown =>
  JSON.parse(nestedText(levels).replace('1', end));

test('18 a deep value that a host changed is noticed, wherever the change is', () => {
  const rows: readonly (readonly [end: string, isSame: boolean])[] = [
    ['[1,{"b":2}]', true],
    ['[1,{"b":3}]', false],
    ['[1,{"b":2,"c":1}]', false],
    ['[1,{}]', false],
    ['[1]', false],
    ['{"0":1,"1":{"b":2}}', false],
    ['null', false],
  ];
  for (const levels of [3, 700, 9_000])
    for (const [end, isSame] of rows)
      assert.equal(
        isCopyOf(copyOf(levels, '[1,{"b":2}]'), copyOf(levels, end)),
        isSame,
        `${end} in ${levels} levels`,
      );
});
