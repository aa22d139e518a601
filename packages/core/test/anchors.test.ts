import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { assistant, call, result, thread, user } from '@bobbin/testing';
import { AnchorReader, KIND } from '../src/extract/anchors/anchor.ts';
import { needs } from '../src/extract/anchors/rank.ts';
import { AnchorStatistics } from '../src/extract/anchors/statistics.ts';

const NAMES = Object.keys(KIND);

function anchorsOf(text: string): readonly string[] {
  const found: string[] = [];
  new AnchorReader().read(text, 0, text.length, (anchors) => {
    for (const { full, kind } of anchors) found.push(`${NAMES[kind]} ${full}`);
  });
  return found;
}

test('A13 names with one hash, and amounts that begin alike, are read exactly', () => {
  assert.deepEqual(anchorsOf('AaAa_1 BBBB_1 AaBB_1 AaAa_1, $1,234 $1,500 $1,234'), [
    'snake AaAa_1',
    'snake BBBB_1',
    'snake AaBB_1',
    'snake AaAa_1',
    'number $1,234',
    'number $1,500',
    'number $1,234',
  ]);
});

test('A13 anchors are the strings that cannot be guessed: paths, names, hashes, codes, numbers', () => {
  const cases: readonly (readonly [string, ...string[]])[] = [
    ['See src/core/thread-handle.ts.', 'path src/core/thread-handle.ts', 'dotted thread-handle.ts'],
    ['in ../up/x or ~/foo/bar,', 'path ../up/x', 'path ~/foo/bar'],
    ['import @bobbin/core now', 'path @bobbin/core'],
    ['https://example.org/a', 'path example.org/a', 'dotted example.org'],
    ['this.#handle.appendDecoded()', 'dotted this.#handle.appendDecoded', 'camel appendDecoded'],
    [
      'fooBar HTTPServer __init__ MAX_SIZE',
      'camel fooBar',
      'camel HTTPServer',
      'snake __init__',
      'snake MAX_SIZE',
    ],
    ['commit 9fceb02d0ae5', 'hash 9fceb02d0ae5'],
    ['3f2b8c1e-7d4a-4e6f-9b0c-1a2b3c4d5e6f', 'hash 3f2b8c1e-7d4a-4e6f-9b0c-1a2b3c4d5e6f'],
    ['error TS2304 of gpt-5-mini', 'code TS2304', 'code gpt-5-mini'],
    [
      'port 54321, v. 1.2.3, #417, $1,234',
      'number 54321',
      'number 1.2.3',
      'number #417',
      'number $1,234',
    ],
  ];
  for (const [text, ...expected] of cases) assert.deepEqual(anchorsOf(text), expected, text);
});

test('A13 words, years, small numbers and data are no anchors', () => {
  for (const text of [
    'A well-known read-only facade and/or decade, e.g. in 2024: 100 URLs. -rw-r--r-- --flag',
    'x'.repeat(1_000),
    '0123456789abcdef'.repeat(5),
  ])
    assert.deepEqual(anchorsOf(text), [], text.slice(0, 40));
});

test('what the agent itself names ranks before what a listing once showed', () => {
  const listed = Array.from({ length: 400 }, (_, i) => `old_${i}_thing holds words of its own`);
  const ls = call('bash', { command: 'cat names.txt' });
  const named = Array.from({ length: 24 }, (_, i) => `new_${i}_thing`);
  const messages: Message[] = [
    user('Repair the importer.'),
    assistant(ls),
    result(ls, listed.join('\n')),
    ...named.flatMap((name) => {
      const read = call('read_file', { path: `src/${name}.ts` });
      return [
        assistant(`Now ${name} must be repaired too.`),
        assistant(read),
        result(read, 'fine'),
      ];
    }),
  ];
  const survey = new AnchorStatistics();
  for (const { message, index, turn } of thread(...messages).path())
    survey.add({ message, index, turn });
  const need = needs(survey);
  const needOf = (name: string): number => need[survey.idOf(name) ?? -1] ?? Number.NaN;
  const most = Math.max(...listed.map((_, i) => needOf(`old_${i}_thing`)));
  for (const name of named)
    assert.ok(needOf(name) > 2 * most, `${name}: ${needOf(name)} ≤ 2 × ${most}`);
});

const longPath = (chars: number): string => `${'/ab'.repeat(200)}/name_of_file.ts`.slice(-chars);

test('A13 names in a run without a space are read up to 400 characters: a longer run is data', () => {
  assert.deepEqual(anchorsOf(longPath(400)), ['dotted name_of_file.ts', 'snake name_of_file']);
  assert.deepEqual(anchorsOf(longPath(401)), []);
});
