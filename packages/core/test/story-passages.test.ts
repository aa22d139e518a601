import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { chars4, extract, renderSummary } from '@bobbin/core/internal';
import { assistant, thread, user } from '@bobbin/testing';
import { passagesOf } from '../src/extract/story/passages.ts';
import { text as shownText } from './extracted.ts';

function extracted(messages: readonly Message[]): Summary {
  const nodes = thread(...messages).path();
  return extract({ nodes, previous: null, task: null, round: 1, counter: chars4() });
}

test('an entry with a long text below it is shown once, and no table heads the text after it', () => {
  const below = Array.from(
    { length: 12 },
    (_, i) => `  the queue_${i} keeps its lock_${i} too long,`,
  );
  const said = [
    '1. The workers hang after a restart of the broker.',
    ...below,
    '',
    '| worker | jobs |',
    '|---|---|',
    '| a | 14 |',
    '',
    'Only the second worker is affected by this.',
  ].join('\n');
  const shown = renderSummary(
    extracted([user('Look.'), assistant('On it.'), user(said), assistant('Yes.')]),
  );
  assert.equal(shown.split('\n[m3] User: 1. The workers hang').length, 2, shown);
  assert.match(shown, /\| worker \| jobs \|\n\s*\| a \| 14 \|\n\s*Only the second worker/);
  const short = extracted([user(said), assistant('Yes.')]).notes.map((note) => note.text);
  assert.ok(!short.some((one) => /jobs \|\nOnly/.test(one)), short.join('\n---\n'));
});

test('a mark says where passages of a message are left out', () => {
  const long = Array.from(
    { length: 30 },
    (_, i) => `Part ${i} of the cache keeps queue_${i} because the broker_${i} is slow.`,
  ).join('\n\n');
  const messages = [user('Look.'), assistant(long), user('Go on.'), assistant('Yes.')];
  const nodes = thread(...messages).path();
  const { notes } = extract({ nodes, previous: null, task: null, round: 1, maxTokens: 400 });
  const parts = notes.filter(({ at }) => at === 1).map(({ text }) => text);
  assert.ok(parts.length > 0 && parts.length < 30, parts.join('\n'));
  const numbers = parts.map((text) => Number(/Part (\d+)/.exec(text)?.[1]));
  numbers.forEach((number, i) =>
    assert.equal(parts[i]?.startsWith('…\n'), number !== (numbers[i - 1] ?? -1) + 1, parts[i]),
  );
});

test('what an agent says to say nothing is not shown', () => {
  const said = ['Got it.', 'Good point!', 'You’re right.', 'Makes sense.', 'The cache is full.'];
  const messages = said.flatMap((text, i) => [user(`Request ${i}.`), assistant(text)]);
  const shown = extracted(messages).notes.filter(({ by }) => by === 'assistant');
  assert.deepEqual(
    shown.map(({ text }) => text),
    ['The cache is full.'],
  );
});

test('no heading of a list heads the text after it', () => {
  const said =
    '## Positives\n\n- The cache is small.\n- The queue is fast.\n\nThe review is in review.md.';
  const notes = extracted([user('Review.'), assistant(said)]).notes.map((note) => note.text);
  assert.deepEqual(notes.slice(1), [
    'Positives\n- The cache is small.\n- The queue is fast.',
    'The review is in review.md.',
  ]);
});

test('marks around what a model thinks aloud are not shown', () => {
  const said =
    '<thinking>\nThe queue blocks because of the lock.\n</thinking>\nNow let me widen the lock.';
  const summary = extracted([user('Look.'), assistant(said)]);
  assert.deepEqual(summary.currentPlan, [
    'The queue blocks because of the lock. Now let me widen the lock.',
  ]);
  assert.doesNotMatch(renderSummary(summary), /thinking>/);
});

test('a short introduction is shown with the heading above it', () => {
  const said = [
    '## Option 1: a queue',
    '**Pros:**',
    '- It is simple to write and to read.',
    '',
    '## Option 2: a table',
    '**Pros:**',
    '- It is exact where the queue only guesses.',
    '',
    'What the table needs in the end:',
    '- A column for the width.',
  ].join('\n');
  assert.deepEqual(
    passagesOf(said).map(({ lead }) => lead),
    ['Option 1: a queue — Pros:', 'Option 2: a table — Pros:', 'What the table needs in the end:'],
  );
});

const report = (name: string, i: number): Message =>
  assistant(
    `The ${name} comes as number ${i} of the plan, because the others need it. ${'It is long. '.repeat(20)}`,
  );

test('the report on the first request is quoted with the newest, before those between', () => {
  const messages = ['queue', 'table', 'page', 'header', 'footer', 'margin'].flatMap((name, i) => [
    user(`What about the ${name} of it?`),
    report(name, i),
  ]);
  const shown = shownText(messages, 600);
  assert.match(shown, /The margin comes as number 5 of the plan/);
  assert.match(shown, /The queue comes as number 0 of the plan/);
  assert.doesNotMatch(shown, /The table comes as number 1 of the plan/);
});
