import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { chars4, cleanExtract, renderSummary, type Node } from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

/** So many tokens are a long summary, and much less than the conversation. */
const [LONG, SHORT] = [3_000, 1_500];

/** A search whose result names much more than a summary can quote. */
function search(i: number): readonly Message[] {
  const find = call('search_code', { search_pattern: `handler_${i}`, maxResults: 90 });
  const names = Array.from({ length: 60 }, (_, k) => `src/area_${i}/part_${k}.ts: use_${i}_${k}()`);
  return [assistant(`I look for handler_${i}.`, find), result(find, names.join('\n'))];
}

function conversation(): readonly Node[] {
  const searches = Array.from({ length: 40 }, (_, i) => search(i)).flat();
  return thread(user('Find out who calls the handlers.'), ...searches).path();
}

function summaryWithin(maxTokens: number): ReturnType<typeof cleanExtract> {
  return cleanExtract({
    nodes: conversation(),
    previous: null,
    task: null,
    round: 1,
    maxTokens,
    counter: chars4(),
  });
}

test('a long summary ends with names that nothing else in it shows, and none of them is a name of a tool', () => {
  const summary = summaryWithin(LONG);
  const text = renderSummary(summary);
  const { names = [] } = summary;
  assert.ok(names.length >= 10, `${names.length} names`);
  assert.ok(text.endsWith(`## Also Named\n${names.join(', ')}`), text.slice(-300));
  const rest = new Set(text.slice(0, text.lastIndexOf('## Also Named')));
  assert.deepEqual(
    names.filter((name) => rest.has(name)),
    [],
  );
  for (const name of ['search_code', 'search_pattern', 'maxResults'])
    assert.ok(!names.includes(name), name);
});

test('a short summary has no list of names, and neither has one that shows nearly all', () => {
  const few = thread(user('Find out who calls the handlers.'), ...search(1)).path();
  const whole = cleanExtract({
    nodes: few,
    previous: null,
    task: null,
    round: 1,
    maxTokens: LONG,
    counter: chars4(),
  });
  assert.deepEqual([summaryWithin(SHORT).names, whole.names], [[], []]);
});

test('the next round names what the round before named, if little was added', () => {
  const previous = summaryWithin(LONG);
  const next = cleanExtract({
    nodes: thread(user('Go on.'), assistant('I go on with the handlers.')).path(),
    previous,
    task: null,
    round: 2,
    maxTokens: LONG,
    counter: chars4(),
  });
  const text = renderSummary(next);
  const kept = (previous.names ?? []).filter((name) => text.includes(name));
  assert.deepEqual(kept, previous.names);
});
